#pragma once

#include <cstdint>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/apps/bench/sort_bench.hpp"
#include "sortie/core/context.hpp"

/// The sort of one array on the host, beside the sorts that Debian packages.
namespace sortie::bench {

/// Items on the host, where no other number is asked for.
constexpr std::uint64_t default_sort_items_on_host = std::uint64_t{1} << 26;

/// Every case on the host: a copy of the same bytes (`limit`), a row for each algorithm of Sortie,
/// and one for each of sort_peers() (`baseline`), by turns. Every run starts from a fresh copy of
/// the input, which is not timed; nor is, for peers, bringing keys and values side by side. Rows of
/// Sortie have the phases of further runs.
///
/// Every method is checked: keys in order, values of equal keys too where the method is stable, and
/// a checksum of the pairs that does not depend on their order.
///
/// \param context  threads: of Sortie, and of those peers that have more than one
/// \param options  items, key, value_bytes, algorithms, repetitions, seed, cases; the others are
///                 for GPUs, and have to be as they are at the start
/// \throws Error (usage)        unknown case, keys of 8 or 16 bits, an option for GPUs, more items
///                              than the values can count
/// \throws Error (unavailable)  an algorithm that the host does not have
///
/// Memory: input, array and peers' array, that is 2 n (key + value) + n (key + value as a struct),
/// and what a method takes.
std::vector<Row> sort_on_host(const Context& context, const SortBenchOptions& options,
                              const RowSink& sink);

}  // namespace sortie::bench
