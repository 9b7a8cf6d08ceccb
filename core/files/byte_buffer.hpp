// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace sortie {

/// Bytes in memory, not zeroed on allocation.
struct ByteBuffer {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;

  [[nodiscard]] std::span<const char> span() const { return {data.get(), size}; }
};

}  // namespace sortie
