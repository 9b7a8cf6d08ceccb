// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/bench/sort/sort_bench.hpp"
#include "sortie/context.hpp"

/// Array sort on the host, compared with the sorts of libraries that Debian packages.
namespace sortie::bench {

/// Default number of items on the host.
constexpr std::uint64_t default_sort_items_on_host = std::uint64_t{1} << 26;

/// Measures every case on the host, in alternation: a copy of the same bytes (`limit`), one row for
/// each algorithm of Sortie, and one for each of sort_peers() (`baseline`). Every run starts with a
/// fresh copy of the input, which is not timed. The conversion to and from pairs for the peers is
/// not timed either. Rows of Sortie contain the phases of additional runs.
///
/// Every method is checked: the keys are in order, the values of equal keys are in order if the
/// method is stable, and an order-independent checksum of the pairs is unchanged.
///
/// \param context  threads of Sortie and of the parallel peers
/// \param options  items, key, value_bytes, algorithms, peers, repetitions, seed, cases; the others
///                 apply to GPUs and must have their default values
/// \throws Error (usage)        unknown case, keys of 8 or 16 bits, an option for GPUs, more items
///                              than the values can represent
/// \throws Error (unavailable)  an algorithm that the host does not have
///
/// Memory: input, array and the array of the peers, that is 2 n (key + value) + n (key + value as a
/// struct), and the workspace of a method.
std::vector<Row> sort_on_host(const Context& context, const SortBenchOptions& options,
                              const RowSink& sink);

/// Whether one of sort_peers() in this build has this name.
[[nodiscard]] bool is_sort_peer(const std::string& name);

}  // namespace sortie::bench
