// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/common_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/whole_file.hpp"
#include "sortie/version.hpp"

namespace sortie::cli {
namespace {

void add_help_and_version(CLI::App& parser) {
  parser.set_help_flag("-h,--help", "Show this help and exit");
  parser.set_version_flag("-V,--version", program_version(), "Show the version and exit");
}

}  // namespace

void add_common_options(CLI::App& parser, CommonOptions& options) {
  add_help_and_version(parser);
  const std::string group = "Options of every subcommand";
  parser.add_option("--backend", options.backend, "Backend: auto, cuda or host")
      ->check(CLI::IsMember({"auto", "cuda", "host"}))
      ->capture_default_str()
      ->group(group);
  parser.add_option("--device", options.device, "Number of the CUDA device")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  parser.add_option("-t,--threads", options.threads, "Host threads (default: all cores)")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  parser.add_option("--max-memory", options.max_memory, "Maximum workspace, e.g. 4G")->group(group);
  parser.add_option("--seed", options.seed, "Seed of all random numbers")
      ->capture_default_str()
      ->group(group);
  parser.add_option("--repeat", options.repeat, "Repeat the work N times, report the median")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->group(group);
  parser.add_option("--json", options.json, "Write a report to this file (-: standard output)")
      ->group(group);
  parser.add_flag("-q,--quiet", options.quiet, "No messages except errors")->group(group);
  parser.add_flag("-v,--verbose", options.verbose, "Show the seconds of every phase")
      ->group(group)
      ->excludes("--quiet");
}

void add_report_options(CLI::App& parser, CommonOptions& options) {
  add_help_and_version(parser);
  parser.add_option("--json", options.json, "Write JSON to this file (default: standard output)")
      ->expected(0, 1)
      ->default_str("-");
}

std::string program_version() {
  return fmt::format("sortie {} ({})", version(), commit());
}

bool is_stream(const std::string& path) {
  return path == "-" || (!WholeFile::takes_rewrites(path) && !std::filesystem::is_directory(path));
}

}  // namespace sortie::cli
