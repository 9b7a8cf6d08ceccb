// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/sort_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "apps/bench/generator_spec.hpp"
#include "apps/cli/backend_choice.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "apps/sort/ranks/file_sort.hpp"
#include "apps/sort/record_generator.hpp"
#include "core/host_runtime.hpp"
#include "sortie/error.hpp"
#include "sortie/sort.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::cli {
namespace {

using sorting::Distribution;

constexpr const char* generator_form =
    "gen:KIND:N[:SEED[:PARAMETER]] with KIND uniform, normal, zipf, sorted, reverse, nearly or "
    "entropy";

const std::map<std::string, Distribution> distributions = {
    {"uniform", Distribution::uniform}, {"normal", Distribution::normal},
    {"zipf", Distribution::zipf},       {"sorted", Distribution::sorted},
    {"reverse", Distribution::reverse}, {"nearly", Distribution::nearly_sorted},
    {"entropy", Distribution::entropy}};

double rate(const sorting::SortResult& result) {
  return result.seconds > 0 ? 1e-6 * static_cast<double>(result.records) / result.seconds : 0;
}

}  // namespace

std::unique_ptr<sorting::RecordSource> open_source(const HostContext& context,
                                                   const SortCommand& command,
                                                   const sorting::RecordFormat& format) {
  if (!bench::GeneratorSpec::matches(command.input))
    return sorting::open_record_file(command.input, format, threads_of(context));
  const bench::GeneratorSpec spec(command.input);
  const auto found = distributions.find(spec.kind());
  if (found == distributions.end()) spec.unknown(generator_form);
  if (spec.parameters() < 1 || spec.parameters() > 3) spec.require_parameters(1, generator_form);
  sorting::GeneratedRecords wanted{found->second, spec.count(0), command.common.seed, std::nullopt};
  if (spec.parameters() > 1) wanted.seed = spec.count(1);
  if (spec.parameters() > 2) wanted.parameter = spec.real(2);
  return sorting::generate_records(wanted, format);
}

bool reads_stream(const SortCommand& command) {
  if (bench::GeneratorSpec::matches(command.input)) return false;
  // What does not exist is reported by open_source().
  return command.input == "-" || (std::filesystem::exists(command.input) &&
                                  !std::filesystem::is_regular_file(command.input) &&
                                  !std::filesystem::is_directory(command.input));
}

void report(Job& job, const SortCommand& command, const sorting::SortResult& result) {
  RunReport& report = job.report();
  report.set("algorithm", command.algorithm);
  report.set("type", command.type);
  report.set("values", command.values.empty() ? "none" : command.values);
  report.set("order", command.descending ? "descending" : "ascending");
  report.set("records", result.records);
  report.set("runs", result.runs);
  report.set("merge_rounds", result.merge_rounds);
  report.set("sort_seconds", result.seconds);
  report.set("million_records_per_second", rate(result));
  report.set("verified", command.request.verify);
}

std::string summary(Backend backend, const SortCommand& command,
                    const sorting::RecordFormat& format, const sorting::SortResult& result) {
  std::string text = fmt::format("{} records ({}) sorted in {:.3f} ms on {} ({}): {:.1f} M/s",
                                 result.records, sorting::describe(format), 1e3 * result.seconds,
                                 name(backend), command.algorithm, rate(result));
  if (result.merge_rounds > 0) {
    text += fmt::format("\nbeyond memory: {} runs, merged in {} {}, reading and writing included",
                        result.runs, result.merge_rounds,
                        result.merge_rounds == 1 ? "round" : "rounds");
  }
  if (command.request.verify) text += "\nverified: the records are in order, and none is lost";
  return text;
}

void choose_backend(Job& job, const SortCommand& command, const sorting::FileSortRequest& work,
                    std::optional<std::uint64_t> records) {
  if (!job.may_choose_backend()) return;
  const SortAlgorithm algorithm = work.options.algorithm;
  if (algorithm != SortAlgorithm::automatic) {
    const auto runs_on = [&](Backend backend) {
      const auto list = sort_algorithms(backend);
      return std::ranges::find(list, algorithm) != list.end();
    };
    for (const auto& [backend, other] :
         {std::pair{Backend::host, Backend::cuda}, std::pair{Backend::cuda, Backend::host}}) {
      if (runs_on(backend) && !runs_on(other))
        return job.choose_backend(backend, fmt::format("{} runs only there", command.algorithm));
    }
  }
  // Of a stream the length is not known, but the memory bounds what is sorted at a time.
  const std::uint64_t budget = job.memory_budget();
  if (!records && budget == 0) return;
  const std::uint64_t bytes = records ? *records * work.format.record_bytes() : budget;
  constexpr double reading_rate = 4e9;  // bytes a second, of a file in memory
  job.choose_backend(sort_seconds(bytes, static_cast<double>(bytes) / reading_rate,
                                  threads_of(job.reading_context())));
}

sorting::FileSortRequest request_of(const SortCommand& command) {
  sorting::FileSortRequest work = command.request;
  work.format = sorting::parse_record_format(command.type, command.values);
  if (command.descending) work.options.order = Order::descending;
  work.options.algorithm = parse_sort_algorithm(command.algorithm);
  work.options.transport = parse_transport(command.transport);
  work.repeat = command.common.repeat;
  return work;
}

namespace {

/// `--dry-run`: the plan for ranks.
void show_plan(Job& job, const SortCommand& command) {
  if (command.plan.ranks == 0)
    throw Error(ErrorKind::usage, "found --dry-run, expected --ranks with it");
  const sorting::RecordFormat format = sorting::parse_record_format(command.type, command.values);
  const auto records = open_source(job.reading_context(), command, format)->records();
  if (!records)
    throw Error(ErrorKind::usage, "found a stream with --dry-run, expected a file or a generator");
  const int on_machine = rank_model(command.plan).ranks_on_machine;
  show_rank_plan(job, command.plan, [&](int ranks) {
    return sorting::plan_sort(*records, format, ranks, on_machine);
  });
}

void run_sort(Job& job, const SortCommand& command) {
  cluster::Ranks* const ranks = job_ranks();
  if (ranks != nullptr && ranks->size() > 1) return run_sort_on_ranks(job, command, *ranks);
  if (command.dry_run) return show_plan(job, command);
  job.announce_output(command.request.output);
  sorting::FileSortRequest work = request_of(command);
  // The bytes do not depend on the number of ranks.
  if (ranks != nullptr) {
    work.options.stable = true;
    job.report().set("ranks", std::uint64_t{1});
  }
  const auto source = open_source(job.reading_context(), command, work.format);
  choose_backend(job, command, work, source->records());
  const sorting::SortResult result = sorting::sort_records_of(job.context(), *source, work);
  report(job, command, result);
  job.summarize(work.output, summary(job.context().backend, command, work.format, result));
}

}  // namespace

Command add_sort_command(CLI::App& program) {
  auto command = std::make_shared<SortCommand>();
  CLI::App* parser = program.add_subcommand("sort", "Sort an array, in memory or on disk");
  add_common_options(*parser, command->common);
  parser
      ->add_option(
          "IN", command->input,
          fmt::format("Raw little-endian file, never decompressed; -: standard input; or {}; "
                      "PARAMETER is the exponent of zipf, the bits of entropy, the deviation of "
                      "normal (a fraction of the range) and of nearly (positions)",
                      generator_form))
      ->required();
  parser->add_option("-o,--output", command->request.output,
                     "Write the sorted records in the format of the input (-: standard output)");
  parser
      ->add_option("--type", command->type,
                   "Keys: u8, i8, u16, i16, u32, i32, f32, u64, i64, f64, f16 or bf16")
      ->required();
  parser->add_option(
      "--values", command->values,
      "Each key is followed, without padding, by a value that is moved with it: a type of 4 or 8 "
      "bytes");
  parser
      ->add_option(
          "--gpus", command->request.options.devices,
          "Number of devices: GPUs, or logical devices if there are fewer GPUs or on the host "
          "(default: all GPUs, or one per thread)")
      ->check(CLI::Range(1, 1024));
  parser
      ->add_option("--algorithm", command->algorithm,
                   "auto, radix or merge; on CUDA also rmg, tanasic, het, bitonic or rmg-repair")
      ->capture_default_str();
  parser
      ->add_option("--transport", command->transport,
                   "Between GPUs: peer, staged (through the host) or auto")
      ->capture_default_str();
  parser->add_flag("--descending", command->descending, "Sort in descending order");
  parser->add_flag("--stable", command->request.options.stable,
                   "Equal keys keep their order; on ranks they always do");
  parser->add_flag("--verify", command->request.verify, "Check order and records; exit 3 if wrong");
  CLI::Option* dry_run =
      parser->add_flag("--dry-run", command->dry_run, "With --ranks: plan the sort on ranks");
  add_plan_options(*parser, dry_run, command->plan);
  Command made = make_command(parser, command, run_sort);
  made.runs_on_ranks = true;
  return made;
}

}  // namespace sortie::cli
