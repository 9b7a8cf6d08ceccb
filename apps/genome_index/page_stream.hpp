// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "apps/genome_index/index_outputs.hpp"

namespace sortie::genomes {

/// Consecutive bytes of an index file, which are written in whole pages: what does not fill a page
/// is kept for the next batch.
///
///     batch 0   | head | page | page | kept |
///     batch 1                        | kept + new | page | kept |
///
/// Not for several threads at a time.
class PageStream {
 public:
  static constexpr std::uint64_t page = WholeFile::page_bytes;

  /// What belongs to whole pages of the file, and where it is in memory.
  struct Pages {
    IndexFile* file = nullptr;
    std::uint64_t offset = 0;
    std::span<const char> bytes;

    /// Writes them. \param direct  past the page cache, if the system can
    void write(bool direct) const {
      if (bytes.empty()) return;
      const bool is_aligned = offset % page == 0;
      if (direct && is_aligned && file->write_pages(offset, bytes)) return;
      file->write_at(offset, bytes);
    }
  };

  PageStream() = default;
  /// \param offset  reserved
  PageStream(IndexFile& file, std::uint64_t offset) : file_(&file), offset_(offset) {}

  /// Bytes of memory that a batch of `bytes` takes.
  [[nodiscard]] static constexpr std::uint64_t memory(std::uint64_t bytes) {
    return (bytes + page - 1) / page * page + page;
  }
  /// Puts what was kept into the memory of a batch. \param memory  begins at a page
  /// \return where the new bytes of the batch belong
  [[nodiscard]] char* start(char* memory) const {
    const std::uint64_t at = offset_ % page;
    std::copy_n(kept_.data() + (at - kept_size_), kept_size_, memory + (at - kept_size_));
    return memory + at;
  }
  /// Ends a batch. \param memory  as start() \param bytes  of the batch
  /// \return what is to be written: at most a head that begins within a page, and whole pages
  [[nodiscard]] std::array<Pages, 2> end(const char* memory, std::uint64_t bytes) {
    const std::uint64_t first = offset_ % page - kept_size_;  // not of other parts of the file
    const std::uint64_t last = offset_ % page + bytes;
    const std::uint64_t page_begin = first == 0 ? 0 : page;
    const std::uint64_t in_file = offset_ - offset_ % page;
    offset_ += bytes;
    if (last < page) {  // still within a page
      keep(memory, first, last);
      return {};
    }
    const std::uint64_t pages_end = last / page * page;
    keep(memory, pages_end, last);
    const auto part = [&](std::uint64_t begin, std::uint64_t end) {
      return Pages{file_, in_file + begin, std::span(memory + begin, end - begin)};
    };
    return {part(first, page_begin == 0 ? first : page), part(page_begin, pages_end)};
  }
  /// Writes what is kept.
  void finish() {
    if (kept_size_ == 0) return;
    const std::uint64_t at = offset_ % page - kept_size_;
    file_->write_at(offset_ - kept_size_, std::span(kept_).subspan(at, kept_size_));
    kept_size_ = 0;
  }

 private:
  /// Keeps bytes [begin, end) of the memory of a batch, at their place in a page.
  void keep(const char* memory, std::uint64_t begin, std::uint64_t end) {
    kept_size_ = end - begin;
    std::copy_n(memory + begin, kept_size_, kept_.data() + begin % page);
  }

  IndexFile* file_ = nullptr;
  std::uint64_t offset_ = 0;     ///< of the next byte
  std::uint64_t kept_size_ = 0;  ///< bytes before it that are not yet written
  std::array<char, page> kept_;  ///< these, at their place in a page
};

}  // namespace sortie::genomes
