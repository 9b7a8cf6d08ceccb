// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sortie::test {

/// What a gzip header may hold.
struct GzipHeader {
  std::string extra;      ///< extra field; none if empty
  std::string name;       ///< file name; none if empty
  bool checksum = false;  ///< of the header
};

/// One gzip member.
inline std::string gzip(std::string_view text, GzipHeader fields = {}) {
  z_stream stream = {};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2 failed");
  gz_header header = {};
  if (!fields.extra.empty()) {
    header.extra = reinterpret_cast<Bytef*>(fields.extra.data());
    header.extra_len = static_cast<uInt>(fields.extra.size());
  }
  if (!fields.name.empty()) header.name = reinterpret_cast<Bytef*>(fields.name.data());
  header.hcrc = fields.checksum ? 1 : 0;
  if (!fields.extra.empty() || !fields.name.empty() || fields.checksum)
    deflateSetHeader(&stream, &header);
  std::string packed(deflateBound(&stream, text.size()) + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return packed.substr(0, stream.total_out);
}

/// A bgzf block: gzip with the extra field "BC" that holds the block's size less one.
/// \param before  other subfields, before it
inline std::string bgzf_block(std::string_view text, const std::string& before = {}) {
  std::string block = gzip(text, {before + std::string("BC\2\0\0\0", 6), "", false});
  const std::size_t size = block.size() - 1;
  block[before.size() + 16] = static_cast<char>(size & 0xff);
  block[before.size() + 17] = static_cast<char>(size >> 8);
  return block;
}

/// A bgzf file, with its end marker.
inline std::string bgzf(std::string_view text, std::size_t block_bytes = 65280) {
  std::string file;
  for (std::size_t begin = 0; begin < text.size(); begin += block_bytes)
    file += bgzf_block(text.substr(begin, block_bytes));
  return file + bgzf_block("");
}

}  // namespace sortie::test
