// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "sortie/context.hpp"
#include "sortie/query.hpp"

namespace sortie::bench {

struct QueryOptions {
  std::vector<std::string> sources;  ///< as of SuffixArrayOptions
  std::uint64_t patterns = 1'000'000;
  std::uint64_t length = 32;      ///< letters of a pattern
  std::uint64_t most_hits = 100;  ///< maximum number of positions to locate for each pattern
  int repetitions = 5;
  std::uint64_t seed = 1;
  bool transfers = false;  ///< on CUDA: also measure from host memory to host memory
};

/// Queries over the suffix array of every source on the context's backend. Two cases: patterns
/// drawn uniformly from positions of the text, and patterns of as many random letters, chosen from
/// those that make up at least a hundredth of the text. Two methods: "count" finds ranges of
/// entries, "locate" also gathers positions. Patterns count as items, in Mpatterns/s. On the host,
/// data moves from host memory to host memory; on CUDA, text, suffix array, patterns and results
/// are in device memory ("... on the device"). The suffix array is built before the measurement,
/// and every result is checked against a search of the text without the suffix array.
/// \throws Error (usage) unknown generator, no patterns, patterns without letters, or longer than
///         every record; (input) as the reader
std::vector<Row> query(const Context& context, const QueryOptions& options,
                       const RowSink& sink = {});

/// A text, its suffix array and patterns for one case, and the counts that a search of the text
/// gives.
template <class Pos>
struct QueryCase {
  suffix_array::TextView text;
  std::span<const Pos> suffixes;
  suffix_array::PatternView patterns;
  std::uint64_t most_hits = suffix_array::all_hits;
};

/// "count" and "locate" from device memory to device memory. Only in builds with CUDA.
/// \param row  all fields except method, seconds and agrees
template <class Pos>
[[nodiscard]] std::vector<Method> query_methods_on_device(const Context& context,
                                                          const QueryCase<Pos>& query, Row row);

}  // namespace sortie::bench
