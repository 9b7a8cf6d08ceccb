// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/files/input_file.hpp"

namespace sortie {

/// Decompresses a file from front to back.
class StreamDecoder {
 public:
  StreamDecoder() = default;
  virtual ~StreamDecoder() = default;
  StreamDecoder(const StreamDecoder&) = delete;
  StreamDecoder& operator=(const StreamDecoder&) = delete;

  /// Returns the number of bytes decompressed, which is less than `into.size()` only at the end.
  /// \throws Error (input) naming the file and the compressed byte at which the stream is damaged
  [[nodiscard]] virtual std::size_t read(std::span<char> into) = 0;
};

/// First bytes of a file that tell its encoding.
inline constexpr std::size_t encoding_head_bytes = 4;

/// How the bytes of a file are encoded.
enum class Encoding { plain, gzip, zstd };

/// Recognises the encoding by the first encoding_head_bytes bytes, or less in a shorter file.
[[nodiscard]] Encoding encoding_of(std::string_view head);

/// A decoder of gzip, also of several members, by zlib. A bgzf file has to end with an empty block.
/// \param file  from which `head` was read; has to outlive the decoder
[[nodiscard]] std::unique_ptr<StreamDecoder> make_gzip_decoder(InputFile& file,
                                                               std::string_view head);

/// A decoder of zstd, also of several frames, by libzstd.
/// \param file  from which `head` was read; has to outlive the decoder
/// \param threads  that decompress frames of a file at the same time. What is read does not depend on
///                 it
/// \throws Error (unavailable) this build has no libzstd
[[nodiscard]] std::unique_ptr<StreamDecoder> make_zstd_decoder(InputFile& file,
                                                               std::string_view head, int threads);

/// Version of libzstd; "none" if this build has none.
[[nodiscard]] std::string zstd_version();

/// Content size that the first zstd frame of the file declares; 0 if it does not.
[[nodiscard]] std::uint64_t zstd_content_size(const InputFile& file);

}  // namespace sortie
