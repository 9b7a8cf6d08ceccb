#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/apps/bench/bench.hpp"
#include "sortie/apps/cli/common_options.hpp"
#include "sortie/apps/cli/job.hpp"
#include "sortie/core/error.hpp"

namespace sortie::cli {

/// What all benchmarks can be told.
struct BenchOptions {
  CommonOptions common;
  std::string csv;
};

/// Adds them to a benchmark; call last, so that its own options come first in the help.
void add_bench_options(CLI::App& parser, BenchOptions& options);

/// Shows lines of a table, ended by a line end: on standard output, or as messages where that
/// belongs to a file.
void show_table(Job& job, const BenchOptions& options, std::string_view text);

/// How rows become lines of a table: bench::table or one of a benchmark's own.
using TableMaker = std::string (*)(std::span<const bench::Row> rows, bool with_heading);

/// Shows the rows of each case as soon as they are there; collects nothing.
[[nodiscard]] bench::RowSink table_printer(Job& job, const BenchOptions& options,
                                           TableMaker make_table = bench::table);

/// Adds `part`, a JSON text, to the report as `key`. Where there is a complaint, writes the report
/// first, since what is right in it is worth its file. \param complaint  empty, or what is wrong
/// \throws Error (kind) a complaint
void finish_with_part(Job& job, const std::string& key, const std::string& part,
                      const std::string& complaint, ErrorKind kind = ErrorKind::check);

/// Writes what was asked for, and refuses to call a wrong result a benchmark.
/// \throws Error (check) a row is wrong
/// \throws Error (input) a source could not be measured (Row::method is empty)
void finish_bench(Job& job, const BenchOptions& options, const std::vector<bench::Row>& rows);

}  // namespace sortie::cli
