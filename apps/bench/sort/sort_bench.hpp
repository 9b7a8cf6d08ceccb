// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "sortie/context.hpp"
#include "sortie/sort.hpp"

/// Array sort on several GPUs, compared with CUB on one GPU.
namespace sortie::bench {

/// Distribution of the keys of a case. Numbers are drawn as for `gen:` inputs of `sortie sort` and
/// mapped to the order of the key type.
struct SortCase {
  enum class Kind {
    uniform,
    normal,  ///< deviation `parameter`, as a fraction of the range
    zipf,    ///< exponent `parameter`
    sorted,
    reverse,
    nearly,     ///< distances of keys from their sorted positions: deviation `parameter`
    entropy,    ///< `parameter` low bits are uniform
    high_bits,  ///< `parameter` high bits are uniform
    few,        ///< `parameter` distinct keys that differ in all their bits
    equal,
    shared_digit,  ///< 0x00AA.... and 0x01AA....: two buckets with the same second digit
  };
  std::string name;  ///< "uniform", "zipf:1", ...
  Kind kind = Kind::uniform;
  double parameter = 0;
};

/// \throws Error (usage)
[[nodiscard]] SortCase parse_sort_case(const std::string& text);
/// The cases of the thesis (Ilic, figures 15 to 28) and those for which its code fails.
[[nodiscard]] std::vector<std::string> usual_sort_cases();

struct SortBenchOptions {
  std::uint64_t items = std::uint64_t{1} << 28;  ///< total
  KeyType key = KeyType::u32;
  int value_bytes = 0;                    ///< 0 (keys only), 4 or 8
  std::vector<int> devices;               ///< numbers of logical devices; empty: one per GPU
  std::vector<SortAlgorithm> algorithms;  ///< empty: all in this build
  std::vector<std::string>
      peers;  ///< on the host: only these, and no algorithms but the named ones
  Transport transport = Transport::automatic;
  /// The array starts and ends in page-locked host memory; otherwise it is in device memory.
  bool host_to_host = false;
  /// What is changed of rmg and rmg-repair (papers/rmg/rmg_options.hpp); in the names of their rows.
  std::vector<std::string> rmg;
  bool with_cub = true;  ///< measure the baseline, which requires one GPU to hold the array twice
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> cases;  ///< empty: usual_sort_cases()
};

/// Measures every case on CUDA: one row per algorithm and number of devices. Times are host wall
/// times from the call to its return; the GPUs are idle before and after. The phases of a row come
/// from one additional sort, which waits for the GPUs after each phase and therefore takes slightly
/// longer.
///
/// CUB sorts in device memory on one GPU. With `host_to_host`, the baseline is CUB's time plus the
/// time of the copies alone, since the end-to-end times include the copies.
///
/// Every result is checked on the GPUs: the keys are in order, the values of equal keys are in
/// order if the algorithm is stable, and an order-independent checksum of the pairs is unchanged.
/// \throws Error (usage) unknown case or part of rmg; (unavailable) the host backend, no CUDA
std::vector<Row> sort_over_gpus(const Context& context, const SortBenchOptions& options,
                                const RowSink& sink);

/// The CUDA part of sort_over_gpus(). \param cases  parsed cases
std::vector<Row> sort_on_cuda(const Context& context, const std::vector<SortCase>& cases,
                              const SortBenchOptions& options, const RowSink& sink);

}  // namespace sortie::bench
