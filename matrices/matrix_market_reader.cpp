// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/files/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/entry_parser.hpp"
#include "matrices/matrix_market_text.hpp"
#include "matrices/row_assembly.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::matrices {

namespace {

using namespace detail;

// Chunks per thread between two calls of the progress callback: about 8 MiB of text.
constexpr std::int64_t chunks_per_report = 16;

// The lines after the size line, divided into chunks of whole lines.
class ChunkedText {
 public:
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

// The n-th line of the chunk, 0-based, that is neither blank nor a comment.
const char* data_line(const Chunk& chunk, std::int64_t n) {
  for (const char* at = chunk.begin; at != chunk.end;) {
    const char* const end = find_newline(at, chunk.end);
    if (!is_skipped({at, end}) && n-- == 0) return at;
    at = end + 1;
  }
  return chunk.end;
}

// Throws the first error in the file, if there is one.
void report_first_fault(std::string_view name, const ParsedHeader& parsed,
                        const std::vector<Chunk>& chunks, std::int64_t lines) {
  const std::int64_t expected = parsed.header.entries;
  const auto fail = [&](const Chunk& chunk, const char* at, const LineFault& fault) {
    const std::int64_t line = chunk.first_line + count_newlines(chunk.begin, at);
    throw input_error(name, line, fault.found, fault.expected);
  };
  std::int64_t before = 0;
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
  if (before < expected) {
    throw input_error(name, parsed.size_line + lines,
                      fmt::format("the end of the file after {} of {} entries", before, expected),
                      fmt::format("{} more", expected - before));
  }
}

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

std::vector<EntryRange> entry_ranges(const std::vector<Chunk>& chunks) {
  std::vector<EntryRange> ranges;
  for (const Chunk& chunk : chunks) {
    ranges.push_back({chunk.first_slot, chunk.first_slot + chunk.entries});
  }
  return ranges;
}

// The nonzero entries of an array file. Their indices follow from their positions: column by
// column; in symmetric files each column starts at the diagonal, in skew-symmetric files below it.
template <Scalar Value, Index Idx>
Coo<Value, Idx> array_entries(const MatrixMarketHeader& header, const std::vector<Chunk>& chunks,
                              const EntryStore<Value, Idx>& store, HostMemoryBudget& budget) {
  std::int64_t nonzeros = 0;
  for (const EntryRange range : entry_ranges(chunks)) {
    nonzeros += std::count_if(store.values.get() + range.begin, store.values.get() + range.end,
                              [](Value value) { return value != Value{0}; });
  }
  const std::uint64_t bytes = nonzeros * (2 * sizeof(Idx) + sizeof(Value));
  budget.require("the entries of a dense matrix", bytes);
  budget.hold(bytes);
  Coo<Value, Idx> coo{
      .rows = header.rows, .cols = header.cols, .row_idx = {}, .col_idx = {}, .values = {}};
  coo.row_idx.reserve(nonzeros);
  coo.col_idx.reserve(nonzeros);
  coo.values.reserve(nonzeros);
  const auto first_row = [&](std::int64_t col) {
    if (header.symmetry == Symmetry::general) return std::int64_t{0};
    return header.symmetry == Symmetry::skew_symmetric ? col + 1 : col;
  };
  std::int64_t col = 0;
  std::int64_t row = first_row(col);
  for (const EntryRange range : entry_ranges(chunks)) {
    for (std::int64_t slot = range.begin; slot < range.end; ++slot, ++row) {
      if (row == header.rows) row = first_row(++col);
      const Value value = store.values[slot];
      if (value == Value{0}) continue;
      coo.row_idx.push_back(static_cast<Idx>(row));
      coo.col_idx.push_back(static_cast<Idx>(col));
      coo.values.push_back(value);
    }
  }
  return coo;
}

/// \param budget  what is left of the context's budget
template <Scalar Value, Index Idx>
Csr<Value, Idx> parse_text(const HostContext& context, std::string_view name,
                           std::span<const char> text, MatrixMarketHeader* header,
                           const TextPartition& partition, HostMemoryBudget budget) try {
  start_host_runtime(context.threads);
  const PhaseTimer timer(context, "parse matrix", text.size());
  const std::string_view whole(text.data(), text.size());
  const ParsedHeader parsed = parse_header(name, whole, true).value();
  if (header != nullptr) *header = parsed.header;
  check_types<Value, Idx>(name, parsed);

  ChunkedText lines(whole.substr(parsed.data_begin), parsed.size_line + 1, partition.chunk_bytes);
  std::vector<Chunk>& chunks = lines.chunks();
  const bool coordinate = parsed.header.coordinate;
  const bool numbers = parsed.header.field != Field::pattern;
  const std::size_t entry_bytes =
      (coordinate ? 2 * sizeof(Idx) : 0) + (numbers ? sizeof(Value) : 0);
  budget.require("reading the entries", bytes_of({{lines.lines(), entry_bytes}}));
  budget.hold(lines.lines() * entry_bytes);
  EntryStore<Value, Idx> store(lines.lines(), coordinate, numbers);
  parse_chunks(context, parsed.header, chunks, store);
  report_first_fault(name, parsed, chunks, lines.lines());

  const int parts = partition.parts > 0 ? partition.parts : static_cast<int>(worker_threads());
  EntryList<Value, Idx> list;
  Coo<Value, Idx> coo;
  std::vector<EntryRange> ranges;
  if (coordinate) {
    ranges = entry_ranges(chunks);
    list = {store.rows.get(), store.cols.get(), store.values.get(), ranges};
  } else {
    coo = array_entries(parsed.header, chunks, store, budget);
    ranges = even_ranges(coo.nnz(), parts);
    list = {coo.row_idx.data(), coo.col_idx.data(), coo.values.data(), ranges};
  }
  return assemble_rows(parsed.header.rows, parsed.header.cols, list, parsed.header.symmetry, parts,
                       budget);
} catch (const Error& error) {
  if (error.kind() != ErrorKind::out_of_memory) throw;
  // Input errors already begin with the name of the file; memory errors do not.
  throw Error(error.kind(), fmt::format("{}: {}", name == "-" ? "<stdin>" : name, error.what()));
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> parse_matrix_market(const HostContext& context, std::string_view name,
                                    std::span<const char> text, MatrixMarketHeader* header,
                                    const TextPartition& partition) {
  return parse_text<Value, Idx>(context, name, text, header, partition, HostMemoryBudget(context));
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> read_matrix_market(const HostContext& context, const std::string& path,
                                   MatrixMarketHeader* header) {
  report_progress(context, "read", 0, 0);
  PhaseTimer timer(context, "read");
  const ByteBuffer text = read_all(path, context.memory_budget, threads_of(context));
  timer.set_bytes(text.size);
  timer.stop();
  report_progress(context, "read", text.size, text.size);
  HostMemoryBudget budget(context);
  budget.hold(text.size);
  return parse_text<Value, Idx>(context, path, text.span(), header, {}, budget);
}

MatrixMarketHeader parse_matrix_market_header(std::string_view name, std::span<const char> text) {
  return parse_header(name, {text.data(), text.size()}, true).value().header;
}

#define SORTIE_INSTANTIATE(Value, Idx)                                                     \
  template Csr<Value, Idx> parse_matrix_market(const HostContext&, std::string_view,       \
                                               std::span<const char>, MatrixMarketHeader*, \
                                               const TextPartition&);                      \
  template Csr<Value, Idx> read_matrix_market(const HostContext&, const std::string&,      \
                                              MatrixMarketHeader*);
SORTIE_MATRICES_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::matrices
