// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/suffix_array/construction.hpp"
#include "sortie/context.hpp"
#include "sortie/text.hpp"

namespace sortie::bench {

struct SuffixArrayOptions {
  /// FASTA or FASTQ files, text:FILE with all bytes of a file, or gen:dna:N, gen:repeats:N,
  /// gen:fibonacci:N, gen:letter:N, gen:period:P:N[:DISTANCE] (sequences::periodic_text), and
  /// gen:mutated:FILE:N:RATE, copies of a file (sequences::mutated_copies)
  std::vector<std::string> sources;
  int repetitions = 5;
  std::uint64_t seed = 1;
  /// Empty: all algorithms of the backend except the reference, which is quadratic in repeats.
  std::vector<suffix_array::ConstructionAlgorithm> algorithms;
  bool transfers = false;  ///< on CUDA: also measure from host memory to host memory
  /// Letters of the first sort from which Row::rounds of each source's first row is computed;
  /// 0: not computed.
  std::uint64_t rounds_from = 0;
};

/// The suffix array of every source on the context's backend, one row an algorithm; MB/s counts
/// symbols. On the host, data moves from host memory to host memory, and every result passes
/// suffix_array::check(). On CUDA, from device memory to device memory ("... on the device"),
/// checked there.
/// \throws Error (usage) unknown generator; (input) as the reader
std::vector<Row> suffix_array(const Context& context, const SuffixArrayOptions& options,
                              const RowSink& sink);

/// The text that a source of this benchmark names.
/// \param seed  of generators
/// \throws Error (usage) unknown generator; (input) as sequences::read_fasta
[[nodiscard]] sequences::Text text_of_source(const Context& context, const std::string& source,
                                             std::uint64_t seed);

/// A row of a method that works in device memory: all fields except seconds and agrees.
struct DeviceRow {
  suffix_array::ConstructionAlgorithm algorithm;
  Row row;
};

/// The suffix array of a text that is on the context's CUDA device and stays there, by each
/// algorithm of the rows. Only in builds with CUDA.
template <class Pos>
[[nodiscard]] std::vector<Row> suffix_array_on_device(const Context& context,
                                                      const suffix_array::TextView& text,
                                                      std::vector<DeviceRow> rows, int repetitions);

}  // namespace sortie::bench
