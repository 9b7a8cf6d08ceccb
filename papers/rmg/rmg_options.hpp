// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Parts of RMG sort that can be changed, to measure what each is worth.
namespace sortie::papers {

/// The defaults are those of the thesis (Ilic: RMG Sort, 2022, table 2 and section 4.4).
struct RmgOptions {
  /// From host memory: buckets are copied out beside the sorts of the next ones.
  bool overlap = true;
  /// A pass that finds one bucket only moves its keys nevertheless (section 5.4.1 skips it).
  bool move_all = false;
  /// Each device launches the copies of its exchange by one call (CUDA 13), not by one for each bucket.
  bool batch_copies = false;
  /// From host memory: mirrored keys are exchanged (section 5.4.1 proposes to skip it).
  bool exchange_mirrored = false;
  /// SBT, in percent of a device's share: neighbouring buckets of fewer keys are sorted together. 0:
  /// none are.
  double fused_percent = 1;
  /// MAX_BRS: a device with more buckets sorts all its keys at once.
  std::uint64_t most_buckets = 128;
  /// MIN_SCO: a device with at most this many buckets sorts all of them before it copies them to the host.
  std::uint64_t most_without_overlap = 4;
};

/// Of texts "no-overlap", "move-all", "batch-copies", "exchange-mirrored", "fuse=PERCENT", "max-brs=N" and "min-sco=N".
/// \throws Error (usage)
[[nodiscard]] RmgOptions parse_rmg_options(const std::vector<std::string>& texts);

/// The options of all sorts by rmg and rmg_repair of this process that begin later. For benchmarks and
/// tests; not to be called while such a sort runs.
void set_rmg_options(const RmgOptions& options);
[[nodiscard]] const RmgOptions& rmg_options();

}  // namespace sortie::papers
