// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/bench/bench_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/files/whole_file.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int default_repetitions = 5;

}  // namespace

void add_bench_options(CLI::App& parser, BenchOptions& options) {
  options.common.repeat = default_repetitions;
  add_common_options(parser, options.common);
  parser.add_option("--csv", options.csv, "Write the rows to this file (-: standard output)");
}

void show_table(Job& job, const BenchOptions& options, std::string_view text) {
  if (options.common.json != "-" && options.csv != "-") {
    job.print(text);
  } else {
    job.say(text.substr(0, text.size() - 1));
  }
}

bench::RowSink table_printer(Job& job, const BenchOptions& options, TableMaker make_table) {
  return [&job, &options, make_table, heading = true](std::span<const bench::Row> rows) mutable {
    show_table(job, options, make_table(rows, std::exchange(heading, false)));
  };
}

void finish_with_part(Job& job, const std::string& key, const std::string& part,
                      const std::string& complaint, ErrorKind kind) {
  job.set_json([&job, key, part] {
    Json report = Json::parse(job.report().to_json(job.command(), job.context()));
    report[key] = Json::parse(part);
    return report.dump(2) + "\n";
  });
  if (complaint.empty()) return;
  job.finish();
  throw Error(kind, complaint);
}

void finish_bench(Job& job, const BenchOptions& options, const std::vector<bench::Row>& rows) {
  if (!options.csv.empty()) {
    WholeFile file(options.csv);
    file.write(std::string_view(bench::csv(rows)));
    file.commit();
  }
  const auto wrong =
      std::find_if(rows.begin(), rows.end(), [](const bench::Row& row) { return row.is_wrong(); });
  const auto is_missing = [](const bench::Row& row) { return row.method.empty(); };
  const auto missing = std::find_if(rows.begin(), rows.end(), is_missing);
  std::string complaint;
  ErrorKind kind = ErrorKind::check;
  if (wrong != rows.end()) {
    complaint = fmt::format("{}: the result of {} is wrong{}{}", wrong->case_name, wrong->method,
                            wrong->fault.empty() ? "" : ": ", wrong->fault);
  } else if (missing != rows.end()) {
    complaint = missing->failure;
    kind = ErrorKind::input;
    if (const auto others = std::count_if(missing + 1, rows.end(), is_missing); others != 0)
      complaint += fmt::format(" (and {} of the other sources failed)", others);
  }
  finish_with_part(job, "rows", bench::json(rows), complaint, kind);
}

}  // namespace sortie::cli
