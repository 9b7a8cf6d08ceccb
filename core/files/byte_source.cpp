// SPDX-License-Identifier: Apache-2.0
#include "core/files/byte_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "core/files/gzip_file.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie {

namespace {

/// First allocation for input of unknown size.
constexpr std::size_t unknown_size_start = std::size_t{1} << 20;

/// Largest expansion factor of deflate: an upper bound for the size field of a gzip file.
constexpr std::uint64_t max_deflate_ratio = 1032;

}  // namespace

struct ByteSource::State {
  State(const std::string& path, Content content, int threads, int decoders) : file(path, threads) {
    if (content == Content::raw) return;
    head_size = file.read(head);
    const std::string_view start(head.data(), head_size);
    encoding = encoding_of(start);
    if (encoding == Encoding::gzip) decoder = make_gzip_decoder(file, start);
    if (encoding == Encoding::zstd) decoder = make_zstd_decoder(file, start, decoders);
  }

  std::size_t read_plain(std::span<char> into) {
    const std::size_t from_head = std::min(head_size - head_taken, into.size());
    std::copy_n(head.data() + head_taken, from_head, into.begin());
    head_taken += from_head;
    return from_head + file.read(into.subspan(from_head));
  }

  InputFile file;
  Encoding encoding = Encoding::plain;
  std::unique_ptr<StreamDecoder> decoder;           ///< null for plain content
  std::array<char, encoding_head_bytes> head = {};  ///< bytes read to recognise the encoding
  std::size_t head_size = 0;
  std::size_t head_taken = 0;  ///< those that read_plain() has returned
};

ByteSource::ByteSource(const std::string& path, Content content, int threads, int decoders)
    : state_(std::make_unique<State>(path, content, threads, decoders)) {}
ByteSource::~ByteSource() = default;

std::size_t ByteSource::read(std::span<char> into) {
  return state_->decoder ? state_->decoder->read(into) : state_->read_plain(into);
}

const std::string& ByteSource::name() const {
  return state_->file.name();
}
std::uint64_t ByteSource::size_hint() const {
  return state_->file.size();
}
bool ByteSource::compressed() const {
  return state_->encoding != Encoding::plain;
}
Encoding ByteSource::encoding() const {
  return state_->encoding;
}
const InputFile& ByteSource::file() const {
  return state_->file;
}

std::uint64_t ByteSource::content_size_hint() const {
  if (!compressed()) return size_hint();
  if (!file().is_regular()) return 0;
  const std::uint64_t most = size_hint() * max_deflate_ratio;
  if (encoding() == Encoding::zstd) return std::min(zstd_content_size(file()), most);
  // The last four bytes of a gzip file hold the size of its last member modulo 2^32. This is exact
  // for the common case of one member below 4 GiB and a lower bound otherwise.
  std::array<char, 4> field = {};
  if (size_hint() < field.size() ||
      file().read_at(size_hint() - field.size(), field) != field.size())
    return 0;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < field.size(); ++i)
    size |= std::uint64_t{static_cast<unsigned char>(field[i])} << (8 * i);
  return std::min(size, most);
}

Encoding encoding_of(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("\x1f\x8b"sv)) return Encoding::gzip;
  if (head.size() < encoding_head_bytes) return Encoding::plain;
  if (head.starts_with("\x28\xb5\x2f\xfd"sv)) return Encoding::zstd;
  // Skippable frames of zstd have 16 magic numbers, which are little-endian.
  const bool skippable = (static_cast<unsigned char>(head[0]) & 0xf0) == 0x50 &&
                         head.substr(1).starts_with("\x2a\x4d\x18"sv);
  return skippable ? Encoding::zstd : Encoding::plain;
}

namespace {

/// \throws Error (out_of_memory) `size` and the `held` bytes exceed the budget, or the memory
ByteBuffer allocate(std::size_t size, std::size_t held, std::uint64_t budget,
                    const std::string& name) {
  const auto refusal = [&](std::uint64_t wanted, std::uint64_t free) {
    const Error error = out_of_memory_error("reading the file", wanted, free);
    return Error(error.kind(), fmt::format("{}: {}", name, error.what()));
  };
  if (budget != 0 && held + size > budget) throw refusal(held + size, budget);
  try {
    ByteBuffer buffer{std::make_unique_for_overwrite<char[]>(size), size};
    advise_large_pages(buffer.data.get(), size);
    return buffer;
  } catch (const std::bad_alloc&) {
    throw refusal(size, host_memory_available());
  }
}

}  // namespace

ByteBuffer read_all(const std::string& path, std::uint64_t memory_budget, int threads) {
  ByteSource source(path, ByteSource::Content::any, threads);
  const std::uint64_t hint = source.content_size_hint();
  if (source.encoding() == Encoding::gzip && source.file().in_any_order()) {
    const std::uint64_t memory = memory_budget != 0 ? memory_budget : host_memory_available();
    if (auto content = inflate_gzip_file(source.file(), hint, memory, threads))
      return std::move(*content);
  }
  // With one byte more than expected, the first read reaches the end of the file.
  ByteBuffer buffer =
      allocate(hint > 0 ? hint + 1 : unknown_size_start, 0, memory_budget, source.name());
  std::size_t filled = 0;
  while (true) {
    filled += source.read({buffer.data.get() + filled, buffer.size - filled});
    if (filled < buffer.size) break;
    ByteBuffer larger = allocate(2 * buffer.size, buffer.size, memory_budget, source.name());
    std::memcpy(larger.data.get(), buffer.data.get(), filled);
    buffer = std::move(larger);
  }
  buffer.size = filled;
  return buffer;
}

}  // namespace sortie
