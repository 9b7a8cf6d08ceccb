// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/command.hpp"
#include "apps/cli/ranks/rank_plan.hpp"
#include "apps/cli/text_index.hpp"
#include "sortie/cluster.hpp"

namespace sortie::cli {

/// The command line of `sortie suffix-array`.
struct SuffixArrayCommand {
  CommonOptions common;
  std::vector<std::string> inputs;
  std::string input_format = "fasta";
  std::string field = "text";
  std::string tokens = "u8";
  std::string format = "positions";
  std::string output;
  std::string lcp;
  std::string bwt;
  std::string inverse;
  std::string documents;
  std::string width = "auto";
  bool text = false;
  std::string letter_case = "upper";
  std::string alphabet = "auto";
  std::string ambiguous = "keep";
  bool reverse_complement = false;
  std::uint64_t max_context = 0;
  std::string algorithm = "auto";
  bool verify = false;
  bool dry_run = false;
  int gpus = 0;          ///< logical devices; 0: one process or rank with one device
  RankPlanOptions plan;  ///< of --dry-run

  /// \throws Error (usage) options of sequences for texts
  [[nodiscard]] TextPolicy policy() const;
  /// The input files, for messages and descriptions.
  [[nodiscard]] std::string input() const;
  [[nodiscard]] std::array<const std::string*, 5> outputs() const {
    return {&output, &lcp, &bwt, &inverse, &documents};
  }
  /// One of the output files; "" if there are none.
  [[nodiscard]] std::string any_output() const {
    for (const std::string* path : outputs()) {
      if (!path->empty()) return *path;
    }
    return {};
  }
};

/// Bytes of a position in the files of a text. \throws Error (usage) --width is too small for it
[[nodiscard]] int chosen_width_bytes(const SuffixArrayCommand& command, std::uint64_t symbols);

/// `sortie suffix-array --format table` and `--format infini-gram`: the files that other programs
/// search, whose documents are separated by bytes ff and sorted as one record.
/// \throws Error (usage) an option that these formats do not have
void write_index_tables(Job& job, const SuffixArrayCommand& command);

/// `sortie suffix-array --input tokens`: positions are numbers of tokens, in the order of the tokens'
/// values.
/// \throws Error (usage) an option that tokens do not have
void write_token_positions(Job& job, const SuffixArrayCommand& command);

/// `sortie suffix-array` on the ranks of a job: the same files, written by all ranks. Rank 0 reads
/// the input.
/// \throws Error (usage) an option that ranks do not have
void run_suffix_array_on_ranks(cluster::Ranks& ranks, Job& job, const SuffixArrayCommand& command);

}  // namespace sortie::cli
