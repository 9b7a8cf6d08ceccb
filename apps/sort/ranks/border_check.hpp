// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/sort/order_check.hpp"
#include "sortie/cluster.hpp"

namespace sortie::sorting {

/// Checks that the ranks' sorted parts ascend from each to the next, and that all records together
/// are those that all ranks have read. Collective, phase "check records".
/// \param check  of the part of this rank, in order in itself
/// \param read   of the records that this rank has read
/// \throws Error (check)
template <class Key, class Value>
void check_over_ranks(cluster::Ranks& ranks, const OrderCheck<Key, Value>& check,
                      const Fingerprint& read, std::uint64_t records_read) {
  struct Part {
    std::uint64_t least;
    std::uint64_t last;
    std::uint64_t records;
  };
  const std::vector<Part> parts =
      ranks.gather(Part{check.records() > 0 ? check.least() : std::uint64_t{0},
                        check.records() > 0 ? check.last() : std::uint64_t{0}, check.records()});
  std::uint64_t sums[4] = {check.fingerprint().sum(), check.records(), read.sum(), records_read};
  ranks.reduce_all(sums, cluster::Reduction::sum);
  ranks.together("check records", [&] {
    const auto own = static_cast<std::size_t>(ranks.rank());
    for (std::size_t before = own; before > 0 && parts[own].records > 0; --before) {
      if (parts[before - 1].records == 0) continue;
      if (parts[own].least < parts[before - 1].last) throw check.out_of_order(check.first());
      break;
    }
    if (sums[0] == sums[2] && sums[1] == sums[3]) return;
    throw Error(ErrorKind::check,
                fmt::format("sort: found {} records that differ from the {} that were read",
                            sums[1], sums[3]));
  });
}

}  // namespace sortie::sorting
