// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/files/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/chunked_text.hpp"
#include "matrices/matrix_market_text.hpp"
#include "matrices/row_assembly.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::matrices {

namespace {

using namespace detail;

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
  throw_first_fault(name, parsed, chunks, {.lines = lines.lines()});

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
