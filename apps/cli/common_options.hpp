// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace sortie::cli {

/// Options with the same spelling and meaning in every subcommand.
struct CommonOptions {
  std::string backend = "auto";
  int device = 0;
  int threads = 0;
  std::string max_memory;
  std::uint64_t seed = 1;
  int repeat = 1;
  std::string json;
  bool quiet = false;
  bool verbose = false;
};

/// Adds the common options to a subcommand, including -h and -V.
void add_common_options(CLI::App& parser, CommonOptions& options);

/// Adds only -h, -V and --json (without a file name: standard output).
void add_report_options(CLI::App& parser, CommonOptions& options);

/// Name, version and commit, e.g. "sortie 0.2.0 (1a2b3c4)".
[[nodiscard]] std::string program_version();

/// True for standard output ("-"), pipes and devices: output to them cannot be undone, and no
/// second file can be written next to them.
[[nodiscard]] bool is_stream(const std::string& path);

}  // namespace sortie::cli
