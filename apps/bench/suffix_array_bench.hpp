#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/context.hpp"

namespace sortie::bench {

struct SuffixArrayOptions {
  /// Files, or gen:dna:N, gen:repeats:N, gen:fibonacci:N, gen:letter:N
  std::vector<std::string> sources;
  int repetitions = 5;
  std::uint64_t seed = 1;
  /// Empty: all that the backend has but the reference, which takes time quadratic in repeats.
  std::vector<suffix_array::Algorithm> algorithms;
};

/// The suffix array of every source on the context's backend, from host memory to host memory, one
/// row an algorithm; MB/s counts symbols. Every result passes suffix_array::check().
/// \throws Error (usage) unknown generator; (input) as the reader
std::vector<Row> suffix_array(const Context& context, const SuffixArrayOptions& options,
                              const RowSink& sink);

}  // namespace sortie::bench
