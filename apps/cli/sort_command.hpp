// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/cli/command.hpp"
#include "apps/cli/ranks/rank_plan.hpp"
#include "sortie/cluster.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::cli {

/// The command line of `sort`.
struct SortCommand {
  CommonOptions common;
  std::string input;
  std::string type;
  std::string values;
  std::string algorithm = "auto";
  std::string transport = "auto";
  bool descending = false;
  bool dry_run = false;
  RankPlanOptions plan;              ///< of --dry-run
  sorting::FileSortRequest request;  ///< the options above are put into it by request_of()
};

/// \throws Error (usage) an unknown type, algorithm or transport
[[nodiscard]] sorting::FileSortRequest request_of(const SortCommand& command);

/// Opens the input: a file or a generator. \throws Error (input, usage)
[[nodiscard]] std::unique_ptr<sorting::RecordSource> open_source(
    const HostContext& context, const SortCommand& command, const sorting::RecordFormat& format);

/// Whether the input is neither a regular file nor a generator: only one process can read it.
[[nodiscard]] bool reads_stream(const SortCommand& command);

/// Before the records are read, since the device starts beside that.
/// \param records  if their number is known
void choose_backend(Job& job, const SortCommand& command, const sorting::FileSortRequest& work,
                    std::optional<std::uint64_t> records);

/// Sets the figures of the report.
void report(Job& job, const SortCommand& command, const sorting::SortResult& result);

[[nodiscard]] std::string summary(Backend backend, const SortCommand& command,
                                  const sorting::RecordFormat& format,
                                  const sorting::SortResult& result);

/// The command in a job of several ranks. Collective.
void run_sort_on_ranks(Job& job, const SortCommand& command, cluster::Ranks& ranks);

}  // namespace sortie::cli
