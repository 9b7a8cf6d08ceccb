#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sortie/apps/bench/segsort_bench.hpp"
#include "sortie/apps/bench/spgemm_bench.hpp"
#include "sortie/apps/bench/suffix_array_bench.hpp"
#include "sortie/apps/cli/command.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/host_memory.hpp"
#include "sortie/core/whole_file.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int default_repetitions = 5;

const std::map<std::string, KeyType> key_types = {{"u32", KeyType::u32}, {"i32", KeyType::i32},
                                                  {"f32", KeyType::f32}, {"u64", KeyType::u64},
                                                  {"i64", KeyType::i64}, {"f64", KeyType::f64}};
const std::map<std::string, int> value_types = {
    {"none", 0}, {"u32", 4}, {"f32", 4}, {"u64", 8}, {"f64", 8}};

struct BenchOptions {
  CommonOptions common;
  std::string csv;
  std::vector<std::string> algorithms;
};

struct SegsortCommand : BenchOptions {
  std::string items;
  std::string key = "u32";
  std::string value = "u32";
  std::vector<std::string> cases;
};

struct SourcesCommand : BenchOptions {
  std::vector<std::string> sources;
  std::string precision = "f64";
};

// Shows the rows of each case as soon as they are there; collects nothing.
bench::RowSink table_printer(Job& job, const BenchOptions& options) {
  return [&job, to_stdout = options.common.json != "-" && options.csv != "-",
          heading = true](std::span<const bench::Row> rows) mutable {
    const std::string text = bench::table(rows, std::exchange(heading, false));
    if (to_stdout) {
      job.print(text);
    } else {
      job.say(std::string_view(text).substr(0, text.size() - 1));
    }
  };
}

// Writes what was asked for, and refuses to call a wrong result a benchmark.
void finish_bench(Job& job, const BenchOptions& options, std::vector<bench::Row> rows) {
  if (!options.csv.empty()) {
    WholeFile file(options.csv);
    file.write(std::string_view(bench::csv(rows)));
    file.commit();
  }
  const auto wrong =
      std::find_if(rows.begin(), rows.end(), [](const bench::Row& row) { return row.is_wrong(); });
  std::string complaint;
  if (wrong != rows.end()) {
    complaint = fmt::format("{}: the result of {} is wrong{}{}", wrong->case_name, wrong->method,
                            wrong->fault.empty() ? "" : ": ", wrong->fault);
  }
  job.set_json([&job, rows = std::move(rows)] {
    Json report = Json::parse(job.report().to_json(job.command(), job.context()));
    report["rows"] = Json::parse(bench::json(rows));
    return report.dump(2) + "\n";
  });
  if (complaint.empty()) return;
  job.finish();  // the right rows are worth their file
  throw Error(ErrorKind::check, complaint);
}

template <class Algorithm>
std::vector<Algorithm> parse_algorithms(const std::vector<std::string>& names,
                                        Algorithm (*parse)(std::string_view)) {
  std::vector<Algorithm> algorithms;
  for (const std::string& text : names) algorithms.push_back(parse(text));
  return algorithms;
}

void run_segsort(Job& job, const SegsortCommand& command) {
  job.announce_output(command.csv);
  bench::SegsortOptions options;
  if (!command.items.empty()) options.items = parse_bytes(command.items);
  options.key = key_types.at(command.key);
  options.value_bytes = value_types.at(command.value);
  options.repetitions = command.common.repeat;
  options.seed = command.common.seed;
  options.cases = command.cases;
  finish_bench(job, command, bench::segsort(job.context(), options, table_printer(job, command)));
}

void run_spgemm(Job& job, const SourcesCommand& command) {
  job.announce_output(command.csv);
  const bench::SpgemmOptions options{command.sources, command.precision == "f32",
                                     command.common.repeat, command.common.seed,
                                     parse_algorithms(command.algorithms, spgemm::parse_algorithm)};
  finish_bench(job, command, bench::spgemm(job.context(), options, table_printer(job, command)));
}

void run_suffix_array(Job& job, const SourcesCommand& command) {
  job.announce_output(command.csv);
  const bench::SuffixArrayOptions options{
      command.sources, command.common.repeat, command.common.seed,
      parse_algorithms(command.algorithms, suffix_array::parse_algorithm)};
  finish_bench(job, command,
               bench::suffix_array(job.context(), options, table_printer(job, command)));
}

// What all benchmarks share; their own options come first in the help.
void add_bench_options(CLI::App& parser, BenchOptions& options) {
  options.common.repeat = default_repetitions;
  add_common_options(parser, options.common);
  parser.add_option("--csv", options.csv, "Write the rows to this file (-: standard output)");
}

Command add_segsort(CLI::App& bench_parser) {
  auto options = std::make_shared<SegsortCommand>();
  CLI::App* parser = bench_parser.add_subcommand(
      "segsort", "Segmented sort of equal lengths, power laws and skewed lengths");
  parser->add_option("--items", options->items,
                     "Items in all, e.g. 128M (default: 128M on CUDA, 4M on the host)");
  parser->add_option("--key", options->key, "Type of keys")
      ->check(CLI::IsMember(key_types))
      ->capture_default_str();
  parser->add_option("--value", options->value, "Type of values; only the width matters")
      ->check(CLI::IsMember(value_types))
      ->capture_default_str();
  parser->add_option("--case", options->cases,
                     "Only this case (may be repeated), e.g. \"length 32\" or \"one segment\"");
  add_bench_options(*parser, *options);
  return make_command(parser, options, run_segsort);
}

CLI::Option* add_sources(CLI::App& parser, SourcesCommand& options, const std::string& what) {
  parser.add_option("--algorithm", options.algorithms,
                    "Only this algorithm (may be repeated; default: all of the backend)");
  return parser.add_option("SOURCE", options.sources, what)->required();
}

Command add_spgemm(CLI::App& bench_parser) {
  auto options = std::make_shared<SourcesCommand>();
  CLI::App* parser = bench_parser.add_subcommand("spgemm", "A * A by every algorithm");
  add_sources(*parser, *options,
              "Matrix Market files, or gen:er:ROWS:ROW_NNZ, gen:rmat:SCALE:EDGE_FACTOR, "
              "gen:banded:ROWS:HALF_BANDWIDTH, gen:stencil5:N, gen:stencil7:N, gen:stencil27:N, "
              "gen:powerlaw:ROWS:EXPONENT:MAX_ROW_NNZ");
  parser->add_option("--precision", options->precision, "f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  add_bench_options(*parser, *options);
  return make_command(parser, options, run_spgemm);
}

Command add_suffix_array(CLI::App& bench_parser) {
  auto options = std::make_shared<SourcesCommand>();
  CLI::App* parser =
      bench_parser.add_subcommand("suffix-array", "Suffix arrays by every algorithm");
  add_sources(*parser, *options,
              "FASTA or FASTQ files, or gen:dna:N, gen:repeats:N, gen:fibonacci:N, gen:letter:N");
  add_bench_options(*parser, *options);
  return make_command(parser, options, run_suffix_array);
}

}  // namespace

std::vector<Command> add_bench_commands(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("bench", "Measure, beside the peers there are");
  parser->set_help_flag("-h,--help", "Show this help and exit");
  parser->set_version_flag("-V,--version", program_version(), "Show the version and exit");
  parser->require_subcommand(1);
  return {add_segsort(*parser), add_spgemm(*parser), add_suffix_array(*parser)};
}

}  // namespace sortie::cli
