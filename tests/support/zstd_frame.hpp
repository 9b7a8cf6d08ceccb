// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zstd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace sortie::test {

/// One zstd frame with a checksum.
inline std::string zstd(std::string_view text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size) != 0) throw std::runtime_error("ZSTD_compress2 failed");
  return packed.substr(0, size);
}

}  // namespace sortie::test
