#pragma once

#include <cstdint>
#include <string>

#include "sortie/core/context.hpp"

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

/// Adds them to a subcommand, -h and -V too.
void add_common_options(CLI::App& parser, CommonOptions& options);

/// Adds only -h, -V and --json (which may stand without a file: standard output).
void add_report_options(CLI::App& parser, CommonOptions& options);

/// The context that they describe, without progress and report.
/// \throws Error (usage) a memory size that is none
[[nodiscard]] Context make_context(const CommonOptions& options);

/// "sortie 0.1.0 (1a2b3c4)"
[[nodiscard]] std::string program_version();

/// True for standard output ("-"), pipes and devices: what is written there cannot be taken back,
/// and nothing can be put beside it.
[[nodiscard]] bool is_stream(const std::string& path);

/// Throws Error (output) when `path` cannot be written, before hours of work are lost to it. Leaves
/// nothing behind. Streams are not tried.
void require_writable(const std::string& path);

}  // namespace sortie::cli
