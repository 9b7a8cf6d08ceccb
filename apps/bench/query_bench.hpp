#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/apps/suffix_array/query.hpp"
#include "sortie/core/context.hpp"

namespace sortie::bench {

struct QueryOptions {
  std::vector<std::string> sources;  ///< as of SuffixArrayOptions
  std::uint64_t patterns = 1'000'000;
  std::uint64_t length = 32;      ///< letters of a pattern
  std::uint64_t most_hits = 100;  ///< positions of a pattern to locate at most
  int repetitions = 5;
  std::uint64_t seed = 1;
  bool transfers = false;  ///< on CUDA: from host memory to host memory as well
};

/// Queries over the suffix array of every source on the context's backend. Two cases: patterns
/// drawn from places of the text, uniformly, and patterns of as many random letters, of those that
/// make up a hundredth of the text at least. Two methods: "count" finds ranges of entries, "locate"
/// gathers positions too. Patterns count as items, in Mpatterns/s. On the host from host memory to
/// host memory; on CUDA text, suffix array, patterns and results are in device memory ("... on the
/// device"). The suffix array is built before, and every result is checked against a search of the
/// text itself, which knows no suffix array.
/// \throws Error (usage) unknown generator, no patterns, patterns without letters, or longer than
///         every record; (input) as the reader
std::vector<Row> query(const Context& context, const QueryOptions& options,
                       const RowSink& sink = {});

/// A text, its suffix array and patterns for one case, and what counting by a search of the text
/// gives.
template <class Pos>
struct QueryCase {
  suffix_array::TextView text;
  std::span<const Pos> suffixes;
  suffix_array::PatternView patterns;
  std::uint64_t most_hits = suffix_array::all_hits;
};

/// "count" and "locate" from device memory to device memory. Only in builds with CUDA.
/// \param row  all but method, seconds and agrees
template <class Pos>
[[nodiscard]] std::vector<Method> query_methods_on_device(const Context& context,
                                                          const QueryCase<Pos>& query, Row row);

}  // namespace sortie::bench
