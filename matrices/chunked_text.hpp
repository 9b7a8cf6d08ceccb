// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/phase_timer.hpp"
#include "matrices/entry_parser.hpp"
#include "matrices/matrix_market_text.hpp"
#include "matrices/row_assembly.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

/// Internal to matrices: the lines of a Matrix Market file, or of a part of one, parsed in chunks.
namespace sortie::matrices::detail {

/// Chunks per thread between two calls of the progress callback: about 8 MiB of text.
inline constexpr std::int64_t chunks_per_report = 16;

/// Lines after the size line, divided into chunks of whole lines.
class ChunkedText {
 public:
  /// \pre the host runtime is running, for more than one thread
  ChunkedText(std::string_view text, std::int64_t first_line, std::size_t chunk_bytes) {
    const std::string_view whole_lines = text.substr(0, text.rfind('\n') + 1);
    const char* const end = whole_lines.data() + whole_lines.size();
    for (const char* at = whole_lines.data(); at != end; at = chunks_.back().end) {
      const auto length = std::min<std::size_t>(chunk_bytes, end - at);
      chunks_.emplace_back(at, find_newline(at + length - 1, end) + 1);
    }
    if (whole_lines.size() < text.size()) {
      // A copy of the last line gets a '\n', so the parser does not need to check for the end of
      // the text.
      last_line_ = fmt::format("{}\n", text.substr(whole_lines.size()));
      chunks_.emplace_back(last_line_.data(), last_line_.data() + last_line_.size());
    }
    number_lines(first_line);
  }

  std::vector<Chunk>& chunks() { return chunks_; }
  [[nodiscard]] std::int64_t lines() const { return lines_; }

 private:
  void number_lines(std::int64_t first_line) {
    for_each_range(std::int64_t{std::ssize(chunks_)}, 1, [&](std::int64_t i, std::int64_t) {
      Chunk& chunk = chunks_[i];
      chunk.first_slot = count_newlines(chunk.begin, chunk.end);
    });
    for (Chunk& chunk : chunks_) {
      chunk.first_line = first_line + lines_;
      lines_ += std::exchange(chunk.first_slot, lines_);
    }
  }

  std::vector<Chunk> chunks_;
  std::string last_line_;
  std::int64_t lines_ = 0;
};

/// The n-th line of the chunk, 0-based, that is neither blank nor a comment.
inline const char* data_line(const Chunk& chunk, std::int64_t n) {
  for (const char* at = chunk.begin; at != chunk.end;) {
    const char* const end = find_newline(at, chunk.end);
    if (!is_skipped({at, end}) && n-- == 0) return at;
    at = end + 1;
  }
  return chunk.end;
}

/// Where a part of the lines after the size line is among all of them.
struct TextPart {
  std::int64_t lines_before = 0;
  std::int64_t entries_before = 0;
  std::int64_t lines = 0;  ///< of the part
  bool ends_file = true;   ///< no lines follow
};

/// Throws the first error in a part of the text, if there is one. \pre the parts before have none
/// \param chunks  of the part, their lines numbered as if it were all
inline void throw_first_fault(std::string_view name, const ParsedHeader& parsed,
                              const std::vector<Chunk>& chunks, const TextPart& part) {
  const std::int64_t expected = parsed.header.entries;
  const auto fail = [&](const Chunk& chunk, const char* at, const LineFault& fault) {
    const std::int64_t line =
        part.lines_before + chunk.first_line + count_newlines(chunk.begin, at);
    throw input_error(name, static_cast<std::uint64_t>(line), fault.found, fault.expected);
  };
  std::int64_t before = part.entries_before;
  for (const Chunk& chunk : chunks) {
    // After the announced number of entries, every further line with data is an error.
    if (before + chunk.entries + (chunk.fault ? 1 : 0) > expected) {
      fail(chunk, data_line(chunk, expected - before),
           {fmt::format("more than the {} entries that the size line announces", expected),
            "the end of the file"});
    }
    if (chunk.fault) fail(chunk, chunk.fault_at, *chunk.fault);
    before += chunk.entries;
  }
  if (part.ends_file && before < expected) {
    throw input_error(name,
                      static_cast<std::uint64_t>(parsed.size_line + part.lines_before + part.lines),
                      fmt::format("the end of the file after {} of {} entries", before, expected),
                      fmt::format("{} more", expected - before));
  }
}

/// \throws Error (input) the types cannot hold the values or the sizes of the file
template <Scalar Value, Index Idx>
void check_types(std::string_view name, const ParsedHeader& parsed) {
  const MatrixMarketHeader& header = parsed.header;
  if (header.field == Field::complex && !std::is_same_v<Value, std::complex<double>>) {
    throw input_error(name, 1, "\"complex\"", "\"real\", \"integer\" or \"pattern\"");
  }
  const auto check = [&](std::int64_t size, std::string_view what) {
    if (size <= std::numeric_limits<Idx>::max()) return;
    throw input_error(name, parsed.size_line, fmt::format("{} {}", size, what),
                      fmt::format("at most {} ({}-bit indices)", std::numeric_limits<Idx>::max(),
                                  8 * sizeof(Idx)));
  };
  check(header.rows, "rows");
  check(header.cols, "columns");
}

/// parse_chunk() of a field.
template <Scalar Value, Index Idx>
using ChunkParser = void (*)(const LineFormat&, const EntryStore<Value, Idx>&, Chunk&);

template <Scalar Value, Index Idx>
ChunkParser<Value, Idx> chunk_parser(Field field) {
  if (field == Field::pattern) return parse_chunk<Field::pattern, Value, Idx>;
  if (field == Field::integer) return parse_chunk<Field::integer, Value, Idx>;
  // check_types has rejected complex numbers for other values.
  if constexpr (std::is_same_v<Value, std::complex<double>>) {
    if (field == Field::complex) return parse_chunk<Field::complex, Value, Idx>;
  }
  return parse_chunk<Field::real, Value, Idx>;
}

/// Parses chunks into the store, on all threads, up to the batch that has the first error.
template <Scalar Value, Index Idx>
void parse_chunks(const HostContext& context, const MatrixMarketHeader& header,
                  std::vector<Chunk>& chunks, const EntryStore<Value, Idx>& store) {
  const LineFormat format(header);
  const auto parse = chunk_parser<Value, Idx>(header.field);
  const std::int64_t count = std::ssize(chunks);
  const std::int64_t batch = chunks_per_report * static_cast<std::int64_t>(worker_threads());
  for (std::int64_t first = 0; first < count; first += batch) {
    const std::int64_t last = std::min(count, first + batch);
    for_each_range(last - first, 1,
                   [&](std::int64_t i, std::int64_t) { parse(format, store, chunks[first + i]); });
    report_progress(context, "parse matrix", last, count);
    const bool fault = std::any_of(chunks.begin() + first, chunks.begin() + last,
                                   [](const Chunk& chunk) { return chunk.fault.has_value(); });
    if (fault) return;  // the caller reports the first one; later chunks cannot contain it
  }
}

/// The slots of the chunks' entries.
[[nodiscard]] inline std::vector<EntryRange> entry_ranges(const std::vector<Chunk>& chunks) {
  std::vector<EntryRange> ranges;
  for (const Chunk& chunk : chunks) {
    ranges.push_back({chunk.first_slot, chunk.first_slot + chunk.entries});
  }
  return ranges;
}

}  // namespace sortie::matrices::detail
