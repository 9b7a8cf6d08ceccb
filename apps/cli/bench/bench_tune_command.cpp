// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "apps/bench/segsort/paper_figures.hpp"
#include "apps/bench/segsort/tune.hpp"
#include "apps/cli/bench/bench_options.hpp"
#include "apps/cli/command.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "sortie/devices.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int tune_repetitions = 5;

struct TuneCommand {
  CommonOptions common;
  std::string items;
  std::string output;
  bool paper = false;
};

// Prints a table on standard output unless it is used for a file.
void show(const Job& job, const TuneCommand& command, std::string_view text) {
  if (command.common.json != "-" && command.output != "-") {
    job.print(text);
  } else {
    job.say(text.substr(0, text.size() - 1));
  }
}

// The program and the GPU that produced a table.
std::string origin(const Job& job) {
  for (const DeviceInfo& device : cuda_devices()) {
    if (device.ordinal == job.context().device)
      return fmt::format("{}, {}", program_version(), device.name);
  }
  return program_version();
}

// The error of the first wrong result; empty if there is none.
template <class Times>
std::string complaint_about(const Times& times, const std::string& what) {
  for (const bench::KernelTime& time : times) {
    if (time.is_wrong())
      return fmt::format("{} of length {}: the result is wrong: {}", what, time.length, time.fault);
  }
  return "";
}

void run(Job& job, const TuneCommand& command) {
  job.announce_output(command.output);
  bench::TuneOptions options;
  const std::uint64_t items = command.items.empty() ? 0 : parse_bytes(command.items);
  if (items != 0) options.items = items;  // 0 is the default, as for `bench segsort`
  options.repetitions = command.common.repeat;
  options.seed = command.common.seed;

  const bench::Tuning tuning = bench::tune(job.context(), options);
  show(job, command, bench::tuning_table(tuning));
  Json report = Json::parse(bench::tuning_json(tuning));
  std::string complaint = complaint_about(tuning.times, "segments");
  if (command.paper) {
    const bench::PaperFigures figures = bench::paper_figures(job.context(), options);
    show(job, command, bench::paper_table(figures));
    report["paper"] = Json::parse(bench::paper_json(figures));
    if (complaint.empty()) complaint = complaint_about(figures.reg_sort, "reg-sort");
    if (complaint.empty()) complaint = complaint_about(figures.smem_merge, "smem-merge");
    if (complaint.empty()) complaint = complaint_about(figures.chunks, "smem-merge");
  }
  finish_with_part(job, "tune", report.dump(), complaint);
  if (command.output.empty()) return;
  WholeFile file(command.output);
  file.write(bench::tuning_header(tuning, origin(job)));
  file.commit();
}

}  // namespace

Command add_bench_tune_command(CLI::App& bench_parser) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App* parser = bench_parser.add_subcommand(
      "tune", "On CUDA: measure the kernels for each length and choose the blocks of the policy");
  parser->add_option("--items", options->items, "Number of items, e.g. 128M (default: 128M)");
  parser->add_option("-o,--output", options->output,
                     "Write the chosen blocks to this file, as C++ for segsort/cuda/policy.cuh "
                     "(-: standard output)");
  parser->add_flag("--paper", options->paper,
                   "Also measure the kernels of the paper: Fig. 9 (reg-sort) and 10 (smem-merge)");
  options->common.repeat = tune_repetitions;
  add_common_options(*parser, options->common);
  return make_command(parser, options, run);
}

}  // namespace sortie::cli
