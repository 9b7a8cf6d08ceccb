// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/bench/segsort/segment_cases.hpp"
#include "sortie/context.hpp"

namespace sortie::bench {

/// Default number of items of a case on CUDA.
constexpr std::uint64_t default_items_on_cuda = std::uint64_t{1} << 27;

/// Policy of Sortie's sort on CUDA: segsort::Policy, whose header requires the CUDA toolkit.
enum class SegsortPolicy { tuned, ics17 };

/// The method name of rows with this policy: "sortie", "sortie ics17".
[[nodiscard]] std::string method_name(SegsortPolicy policy);

/// Checks the policies: the host has only one. \throws Error (unavailable) another one is requested
void require_policies(Backend backend, const std::vector<SegsortPolicy>& policies);

/// A method that can be timed on the host.
enum class SegsortAlgorithm { sortie, std_sort };

/// The method name of rows: "sortie", "std::sort".
[[nodiscard]] std::string_view name(SegsortAlgorithm algorithm);
/// \throws Error (usage) unknown name
[[nodiscard]] SegsortAlgorithm parse_segsort_algorithm(std::string_view text);

/// Checks the algorithms: on CUDA, all methods are timed. \throws Error (usage) some are requested
void require_algorithms(Backend backend, const std::vector<SegsortAlgorithm>& algorithms);

struct SegsortOptions {
  std::uint64_t items = 0;  ///< 0: 2^27 on CUDA, 2^22 on the host
  KeyType key = KeyType::u32;
  int value_bytes = 4;  ///< 0 (keys only), 4 or 8
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> cases;  ///< names of cases; empty: segment_case_names()
  std::vector<SegsortPolicy> policies = {SegsortPolicy::tuned};  ///< on CUDA, one row each
  /// On the host, one row each in addition to the copy; empty: all.
  std::vector<SegsortAlgorithm> algorithms = {};
  /// On CUDA: distributions of the keys, as parse_sort_case(); in order: in each segment.
  std::vector<std::string> keys = {"uniform"};
  bool has_peers = true;  ///< on CUDA
  /// On CUDA: instead of sorting, select so many of each segment; see measure_top_k().
  std::vector<std::int64_t> top_k = {};
};

/// Measures segmented sort for every case on the context's backend, one row per method. The sink
/// receives the rows of each case when they are available.
/// \throws Error (usage) unknown case or distribution, another one than uniform of keys that are not
///         unsigned or on the host, or as require_algorithms(); (unavailable) as
///         require_policies()
std::vector<Row> segsort(const Context& context, const SegsortOptions& options,
                         const RowSink& sink);

/// One case on the host: a copy of the same bytes (`limit`) and the requested algorithms: Sortie,
/// and std::sort on each segment.
[[nodiscard]] std::vector<Row> segsort_on_host(const Context& context, const SegmentCase& segments,
                                               const SegsortOptions& options);

/// Cases on a CUDA device with data in device memory: a copy of the same bytes (`limit`), Sortie
/// with every requested policy, and the baselines in the CUDA toolkit (for u32 and u64 keys and
/// less than 2^31 items). Input and results stay on the device; see SegsortWorkload and
/// time_sort(). Every result of Sortie and the first result of each peer are checked. A method that
/// fails keeps its message in Row::failure. Only in builds with CUDA.
/// \param options  `items` must be set; `cases` is ignored
std::vector<Row> segsort_on_cuda(const Context& context, const std::vector<std::string>& cases,
                                 const SegsortOptions& options, const RowSink& sink);

}  // namespace sortie::bench
