// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/cli/command.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {

/// Options of all benchmarks.
struct BenchOptions {
  CommonOptions common;
  std::string csv;
};

/// Adds the options to the parser of a benchmark. Called last, so that the benchmark's own options
/// come first in the help.
void add_bench_options(CLI::App& parser, BenchOptions& options);

/// Prints lines of a table, including the final line end: on standard output, or as messages if
/// standard output is used for a file.
void show_table(Job& job, const BenchOptions& options, std::string_view text);

/// Formats rows as lines of a table: bench::table() or a benchmark's own function.
using TableMaker = std::string (*)(std::span<const bench::Row> rows, bool with_heading);

/// Prints the rows of each case as soon as they are available; stores nothing.
[[nodiscard]] bench::RowSink table_printer(Job& job, const BenchOptions& options,
                                           TableMaker make_table = bench::table);

/// Adds `part`, a JSON text, to the report as `key`. Writes the report even if there is a
/// complaint, since the other results are valid.
/// \param complaint  empty, or a description of the error
/// \throws Error (kind) the complaint is not empty
void finish_with_part(Job& job, const std::string& key, const std::string& part,
                      const std::string& complaint, ErrorKind kind = ErrorKind::check);

/// Writes the requested files, then fails if a result is wrong.
/// \throws Error (check) a row is wrong
/// \throws Error (input) a source could not be measured (Row::method is empty)
void finish_bench(Job& job, const BenchOptions& options, const std::vector<bench::Row>& rows);

}  // namespace sortie::cli
