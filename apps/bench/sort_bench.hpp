#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/core/context.hpp"
#include "sortie/multisort/multisort.hpp"

/// The sort of one array over GPUs, beside CUB on one of them.
namespace sortie::bench {

/// How the keys of a case are spread. Numbers are drawn as `gen:` inputs of `sortie sort` draw
/// them, and put in the order of the key type.
struct SortCase {
  enum class Kind {
    uniform,
    normal,  ///< deviation `parameter`, as a part of the range
    zipf,    ///< exponent `parameter`
    sorted,
    reverse,
    nearly,   ///< places that keys are away from theirs: deviation `parameter`
    entropy,  ///< `parameter` low bits are uniform
    equal,
    shared_digit,  ///< 0x00AA.... and 0x01AA....: two buckets of the same second digit
  };
  std::string name;  ///< "uniform", "zipf:1", ...
  Kind kind = Kind::uniform;
  double parameter = 0;
};

/// \throws Error (usage)
[[nodiscard]] SortCase parse_sort_case(const std::string& text);
/// Those of the thesis (Ilic, figures 15 to 28) and the ones that broke its code.
[[nodiscard]] std::vector<std::string> usual_sort_cases();

struct SortBenchOptions {
  std::uint64_t items = std::uint64_t{1} << 28;  ///< in all
  multisort::KeyType key = multisort::KeyType::u32;
  int value_bytes = 0;                    ///< 0 (keys only), 4 or 8
  std::vector<int> devices;               ///< numbers of logical devices; empty: one for each GPU
  std::vector<SortAlgorithm> algorithms;  ///< empty: all that this build has
  Transport transport = Transport::automatic;
  /// The array starts and ends in page-locked host memory; else it is on the devices.
  bool host_to_host = false;
  bool with_cub = true;  ///< the baseline, where one GPU holds the array twice
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> cases;  ///< empty: usual_sort_cases()
};

/// Every case on CUDA; for each number of devices a row an algorithm. Times are wall times of the
/// host, from the call to its return, the GPUs idle before and after. Rows have the phases of one
/// more sort, which waits for the GPUs after each phase and so takes a little longer.
///
/// Every result is checked on the GPUs: keys in order, values of equal keys too where the algorithm
/// is stable, and a checksum of the pairs that does not depend on their order.
/// \throws Error (usage) unknown case; (unavailable) the host backend, no CUDA
std::vector<Row> sort_over_gpus(const Context& context, const SortBenchOptions& options,
                                const RowSink& sink);

/// The same, in builds with CUDA. \param cases  parsed
std::vector<Row> sort_on_cuda(const Context& context, const std::vector<SortCase>& cases,
                              const SortBenchOptions& options, const RowSink& sink);

}  // namespace sortie::bench
