// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sortie::cluster {

/// What `sortie bench ranks` measures of a machine and its network.
struct RankModel {
  int ranks_on_machine = 1;    ///< ranks that share a machine
  double latency_seconds = 0;  ///< one step of a small collective call
  double machine_rate = 0;     ///< bytes a second from a rank to one of the same machine
  double network_rate = 0;     ///< bytes a second from a rank to one of another machine
  /// Items a second that a rank does by itself, by the name of the work: "sort", "merge",
  /// "products", "symbols".
  std::map<std::string, double> work_rates;

  /// \throws Error (input) "PATH: found ..., expected ..."
  [[nodiscard]] static RankModel read(const std::string& path);
  [[nodiscard]] std::string to_json() const;

  /// Where no file is given: docs/cluster.md tells on which machine it was measured.
  [[nodiscard]] static RankModel usual();
  /// The same for ranks with a GPU each: "gpu bytes" are copied between host and GPU, "gpu
  /// suffixes" sorted, "gpu symbols" tested, and "gpu ranks" written.
  [[nodiscard]] static RankModel usual_of_gpus();
};

/// A step of a job, as the rank that takes longest sees it.
struct RankStep {
  std::string name;
  std::uint64_t collectives = 0;    ///< small collective calls
  std::uint64_t machine_bytes = 0;  ///< sent to ranks of the same machine
  std::uint64_t network_bytes = 0;  ///< sent to ranks of other machines
  std::uint64_t messages = 0;       ///< messages of exchanges
  std::string work;                 ///< key of RankModel::work_rates; empty: no work
  double items = 0;                 ///< of that work
};

/// A job on ranks before it runs: its steps, and the memory that each rank takes.
struct RankPlan {
  int ranks = 1;
  std::vector<RankStep> steps;
  std::uint64_t rank_memory = 0;  ///< bytes, of the rank that takes most

  [[nodiscard]] std::uint64_t sent_bytes() const;
};

/// Seconds of a step: latency * (collectives * ceil(log2 ranks) + messages), and the greater of the
/// bytes within the machine and across over their rates, and the work over its rate.
/// \throws Error (input) the model has no rate for the step's work
[[nodiscard]] double seconds_of(const RankModel& model, int ranks, const RankStep& step);

/// The sum over the steps: each begins when the one before it has ended on every rank.
[[nodiscard]] double seconds_of(const RankModel& model, const RankPlan& plan);

/// Divides the bytes that a rank sends evenly to all others into those within its machine and those
/// across. \param bytes  all that it sends, without what it keeps
/// \param on_machine  ranks that share a machine
void divide_bytes(std::uint64_t bytes, int ranks, int on_machine, RankStep& step);

/// A table of the steps: bytes, seconds; and the memory.
[[nodiscard]] std::string describe(const RankModel& model, const RankPlan& plan);

}  // namespace sortie::cluster
