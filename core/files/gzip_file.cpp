// SPDX-License-Identifier: Apache-2.0
#include "core/files/gzip_file.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "core/files/block_pipeline.hpp"
#include "core/host_memory.hpp"

namespace sortie {
namespace {

// Layout of a member (RFC 1952): 10 bytes, the last but six of which are flags; optional fields;
// deflate data; checksum; size of the content modulo 2^32.
constexpr std::size_t flags_at = 3;
constexpr std::size_t fixed_header = 10;
constexpr std::size_t fields_at = fixed_header + 2;  // of an extra field, behind its length
constexpr std::size_t trailer = 8;
constexpr unsigned header_checksum_flag = 2;
constexpr unsigned extra_field_flag = 4;
constexpr std::array<unsigned char, 3> magic = {0x1f, 0x8b, 8};  // the last is deflate

/// Content of bgzf blocks that a thread decompresses at a time.
constexpr std::size_t content_per_run = std::size_t{1} << 20;

unsigned byte_at(std::span<const char> bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

unsigned two_bytes_at(std::span<const char> bytes, std::size_t at) {
  return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8;
}

bool starts_as_member(std::span<const char> bytes) {
  if (bytes.size() < fixed_header) return false;
  for (std::size_t i = 0; i < magic.size(); ++i) {
    if (byte_at(bytes, i) != magic[i]) return false;
  }
  return true;
}

/// Whether a member has the extra field "BC" in the first place. A stream that begins like this ends
/// with an empty member, even if its blocks cannot be told apart.
bool needs_end_marker(std::span<const char> member) {
  return starts_as_member(member) && member.size() >= fields_at + 2 &&
         (byte_at(member, flags_at) & extra_field_flag) != 0 && member[fields_at] == 'B' &&
         member[fields_at + 1] == 'C';
}

/// The compressed size that the header of a bgzf block declares; 0 if it is none.
std::size_t declared_block_size(std::span<const char> bytes) {
  constexpr std::size_t field_header = 4;
  if (!starts_as_member(bytes) || bytes.size() < fields_at) return 0;
  if (byte_at(bytes, flags_at) != extra_field_flag) return 0;
  const std::size_t fields_end = fields_at + two_bytes_at(bytes, fixed_header);
  if (bytes.size() < fields_end) return 0;
  for (std::size_t field = fields_at; field + field_header <= fields_end;
       field += field_header + two_bytes_at(bytes, field + 2)) {
    if (bytes[field] != 'B' || bytes[field + 1] != 'C') continue;
    if (two_bytes_at(bytes, field + 2) != 2 || field + field_header + 2 > fields_end) return 0;
    const std::size_t size = std::size_t{two_bytes_at(bytes, field + field_header)} + 1;
    return size >= fields_end + trailer ? size : 0;
  }
  return 0;
}

std::optional<ByteBuffer> allocate(std::uint64_t size) {
  try {
    ByteBuffer buffer{std::make_unique_for_overwrite<char[]>(size), size};
    advise_large_pages(buffer.data.get(), size);
    return buffer;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

/// Consecutive blocks of a bgzf file, and where their content belongs.
struct BlockRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t content_begin = 0;
};

/// Nothing unless the file consists of blocks, the last one, and only that, being the end marker.
std::optional<std::vector<BlockRange>> ranges_of_blocks(std::span<const char> packed,
                                                        std::uint64_t& content) {
  std::vector<BlockRange> ranges;
  bool ended = false;
  content = 0;
  for (std::size_t at = 0; at < packed.size();) {
    const std::optional<BgzfBlock> block = bgzf_block(packed.subspan(at));
    if (!block) return std::nullopt;
    if (ranges.empty() || content - ranges.back().content_begin >= content_per_run)
      ranges.push_back({at, at, content});
    at += block->bytes;
    content += block->content;
    ranges.back().end = at;
    ended = block->content == 0;
  }
  if (!ended) return std::nullopt;
  return ranges;
}

std::optional<ByteBuffer> inflate_blocks(std::span<const char> packed, std::uint64_t memory,
                                         int threads) {
  std::uint64_t content = 0;
  const auto ranges = ranges_of_blocks(packed, content);
  if (!ranges || packed.size() + content > memory) return std::nullopt;
  std::optional<ByteBuffer> result = allocate(content);
  if (!result) return std::nullopt;
  const auto workers = std::min<std::size_t>(static_cast<std::size_t>(threads), ranges->size());
  std::vector<MemberInflater> inflaters(workers);
  std::vector<char> good(ranges->size(), 0);
  BlockSteps steps;
  steps.take = [&](int, std::uint64_t index) { return index < ranges->size(); };
  steps.work = [&](int worker, std::uint64_t index) {
    const BlockRange& range = (*ranges)[index];
    char* into = result->data.get() + range.content_begin;
    for (std::size_t at = range.begin; at < range.end;) {
      const BgzfBlock block = bgzf_block(packed.subspan(at)).value();
      if (!inflaters[static_cast<std::size_t>(worker)].inflate_block(
              packed.subspan(at, block.bytes), {into, block.content}))
        return;
      at += block.bytes;
      into += block.content;
    }
    good[index] = 1;
  };
  run_blocks(static_cast<int>(workers), steps);
  if (std::find(good.begin(), good.end(), 0) != good.end()) return std::nullopt;
  return result;
}

/// Members one after the other, to the end of the file or to zero bytes that fill it up.
std::optional<ByteBuffer> inflate_members(std::span<const char> packed, std::uint64_t guess,
                                          std::uint64_t memory) {
  std::optional<ByteBuffer> buffer = allocate(guess);
  MemberInflater inflater;
  std::size_t filled = 0;
  for (std::size_t at = 0; at < packed.size();) {
    if (packed[at] == 0) {
      const auto rest = packed.subspan(at);
      if (std::any_of(rest.begin(), rest.end(), [](char byte) { return byte != 0; }))
        return std::nullopt;
      break;
    }
    if (!buffer) return std::nullopt;
    const auto result =
        inflater.inflate(packed.subspan(at), {buffer->data.get() + filled, buffer->size - filled});
    if (result.status == MemberInflater::Status::unusual) return std::nullopt;
    if (result.status == MemberInflater::Status::done) {
      at += result.taken;
      filled += result.filled;
      continue;
    }
    // The guess was of the last member, or modulo 2^32.
    const std::uint64_t larger = std::max<std::uint64_t>(2 * buffer->size, packed.size());
    if (packed.size() + buffer->size + larger > memory) return std::nullopt;
    std::optional<ByteBuffer> next = allocate(larger);
    if (!next) return std::nullopt;
    std::memcpy(next->data.get(), buffer->data.get(), filled);
    buffer = std::move(next);
  }
  if (buffer) buffer->size = filled;
  return buffer;
}

}  // namespace

std::optional<BgzfBlock> bgzf_block(std::span<const char> bytes) {
  const std::size_t size = declared_block_size(bytes);
  if (size == 0 || size > bytes.size()) return std::nullopt;
  const std::size_t content =
      two_bytes_at(bytes, size - 4) | std::size_t{two_bytes_at(bytes, size - 2)} << 16;
  if (content > most_bgzf_content) return std::nullopt;
  return BgzfBlock{size, content};
}

bool starts_as_bgzf(std::span<const char> bytes) {
  return declared_block_size(bytes) != 0;
}

MemberInflater::MemberInflater() : decoder_(libdeflate_alloc_decompressor()) {
  if (decoder_ == nullptr) throw std::bad_alloc();
}
MemberInflater::~MemberInflater() {
  libdeflate_free_decompressor(decoder_);
}

MemberInflater::Result MemberInflater::inflate(std::span<const char> packed, std::span<char> into) {
  // libdeflate does not check the checksum of a header.
  if (!starts_as_member(packed) || (byte_at(packed, flags_at) & header_checksum_flag) != 0)
    return {};
  Result result;
  switch (libdeflate_gzip_decompress_ex(decoder_, packed.data(), packed.size(), into.data(),
                                        into.size(), &result.taken, &result.filled)) {
    case LIBDEFLATE_SUCCESS:
      result.status = Status::done;
      break;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      result.status = Status::small_buffer;
      break;
    default:
      break;
  }
  return result;
}

bool MemberInflater::inflate_block(std::span<const char> packed, std::span<char> into) {
  const Result result = inflate(packed, into);
  return result.status == Status::done && result.taken == packed.size() &&
         result.filled == into.size();
}

std::optional<ByteBuffer> inflate_gzip_file(const InputFile& file, std::uint64_t guess,
                                            std::uint64_t memory, int threads) {
  const std::uint64_t size = file.size();
  // Of a damaged file, the last bytes may be any number. A content is hardly smaller than its file.
  guess = std::max(guess, size);
  if (size + guess > memory) return std::nullopt;
  const std::optional<ByteBuffer> packed = allocate(size);
  if (!packed || file.read_at(0, {packed->data.get(), packed->size}, threads) != size)
    return std::nullopt;
  if (starts_as_bgzf(packed->span())) return inflate_blocks(packed->span(), memory, threads);
  if (needs_end_marker(packed->span())) return std::nullopt;
  return inflate_members(packed->span(), guess, memory);
}

}  // namespace sortie
