#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/apps/bench/segment_cases.hpp"
#include "sortie/core/context.hpp"

namespace sortie::bench {

/// Items of a case on CUDA, where no other number is asked for.
constexpr std::uint64_t default_items_on_cuda = std::uint64_t{1} << 27;

/// How Sortie sorts on CUDA: segsort::Policy, whose own header cannot be had without CUDA's.
enum class SegsortPolicy { tuned, ics17 };

/// What rows of that policy are called: "sortie", "sortie ics17".
[[nodiscard]] std::string method_name(SegsortPolicy policy);

/// On the host there is one policy only. \throws Error (unavailable) another one is asked for
void require_policies(Backend backend, const std::vector<SegsortPolicy>& policies);

/// A method that can be timed on the host.
enum class SegsortAlgorithm { sortie, std_sort };

/// Its name, as rows have it: "sortie", "std::sort".
[[nodiscard]] std::string_view name(SegsortAlgorithm algorithm);
/// \throws Error (usage) unknown name
[[nodiscard]] SegsortAlgorithm parse_segsort_algorithm(std::string_view text);

/// On CUDA, all methods are timed. \throws Error (usage) some are asked for
void require_algorithms(Backend backend, const std::vector<SegsortAlgorithm>& algorithms);

struct SegsortOptions {
  std::uint64_t items = 0;  ///< 0: 2^27 on CUDA, 2^22 on the host
  KeyType key = KeyType::u32;
  int value_bytes = 4;  ///< 0 (keys only), 4 or 8
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> cases;  ///< names of cases; empty: all that are published
  std::vector<SegsortPolicy> policies = {SegsortPolicy::tuned};  ///< on CUDA, one row each
  /// On the host, one row each, beside that of a copy; empty: all there are.
  std::vector<SegsortAlgorithm> algorithms = {};
};

/// Segmented sort of every case on the context's backend, one row a method. The sink gets the rows
/// of a case when it is done, so that hours of work show what they have.
/// \throws Error (usage) unknown case, or as require_algorithms(); (unavailable) as
/// require_policies()
std::vector<Row> segsort(const Context& context, const SegsortOptions& options,
                         const RowSink& sink);

/// One case on the host: a copy of the same bytes (`limit`), and by the algorithms asked for:
/// Sortie, and std::sort of each segment.
[[nodiscard]] std::vector<Row> segsort_on_host(const Context& context, const SegmentCase& segments,
                                               const SegsortOptions& options);

/// Cases on a CUDA device, data resident there: a copy of the same bytes (`limit`), Sortie by every
/// policy, and the baselines that come with CUDA (for u32 and u64 keys and less than 2^31 items).
/// Input and results never leave the device: see SegsortWorkload, which also says what is checked
/// (every result of Sortie, the first of each peer), and time_sort(). A method that fails keeps its
/// message in Row::failure. Only in builds with CUDA.
/// \param options  with its number of items; cases are given by `cases`
std::vector<Row> segsort_on_cuda(const Context& context, const std::vector<std::string>& cases,
                                 const SegsortOptions& options, const RowSink& sink);

}  // namespace sortie::bench
