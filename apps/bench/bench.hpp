// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/doubling_rounds.hpp"

/// Common parts of all benchmarks: timing of methods and output of rows.
namespace sortie::bench {

/// Figures of `sortie bench spgemm` in addition to times.
struct ProductFigures {
  std::int64_t products = 0;
  std::int64_t nnz_c = 0;
  /// Peak bytes allocated from the device's memory pool, excluding A, B and C; empty on the host
  /// and for methods without a result.
  std::optional<std::uint64_t> peak_work_space;
  /// Entry i: rows of C with 2^i to 2^(i + 1) - 1 products, the segments that ESSC sorts (Fig. 2 of Hou
  /// et al., ICS 2017). Rows without products are not counted.
  std::vector<std::uint64_t> rows_by_products;
};

/// Names of phases and the seconds of each, in order.
using PhaseSeconds = std::vector<std::pair<std::string, double>>;

/// One method on one case.
struct Row {
  std::string case_name;
  std::string method;           ///< empty: the case could not be generated; see `failure`
  std::string backend;          ///< "host" or "cuda"
  bool baseline = false;        ///< a peer that Sortie's methods are compared with
  bool limit = false;           ///< a copy of the same bytes: the physical limit, not a competitor
  std::uint64_t items = 0;      ///< amount of work, counted as in `unit`
  std::vector<double> seconds;  ///< time of each repetition
  /// Times with all memory newly allocated from the system; empty if not measured.
  std::vector<double> allocating_seconds;
  /// What the times include, e.g. "host memory to host memory". Rows are compared only if this is
  /// equal; empty in benchmarks with one kind of time.
  std::string timed;
  std::string unit;           ///< of rate(): "Gpairs/s", "GFLOP/s", "MB/s"
  double items_a_unit = 1e9;  ///< items in one unit: 1e9 for Gpairs/s
  bool agrees = false;        ///< the result was checked and is right
  std::string fault;          ///< error in the result, if the check describes it
  std::string failure;        ///< reason for a missing result; empty if there is one
  PhaseSeconds phases;        ///< from additional runs that are not timed otherwise; may be empty
  /// Maximum relative difference between a device's number of items and its equal share, from the
  /// run for the phases; negative: unknown.
  double imbalance = -1;
  /// Memory transactions as counted by the K-model: one per warp and aligned segment of 128 bytes;
  /// 0: not counted.
  std::uint64_t transactions = 0;

  std::optional<ProductFigures> product;  ///< of a matrix product only
  /// For suffix arrays, on request: the groups in each round of prefix doubling.
  std::vector<suffix_array::DoublingRound> rounds;
  /// With `rounds`: the figures that the construction reports, by their names in RunReport.
  std::vector<std::pair<std::string, std::uint64_t>> construction;

  // Filled by relate().
  std::vector<std::pair<std::string, double>>
      ratios;                  ///< own rate over that of each baseline; none for a limit
  double percent_of_copy = 0;  ///< own rate in percent of that of the limit; 0: no limit

  [[nodiscard]] bool is_wrong() const { return failure.empty() && !agrees; }
  [[nodiscard]] double median_seconds() const;
  [[nodiscard]] double median_allocating_seconds() const;  ///< 0 if not measured
  [[nodiscard]] double min_seconds() const;
  [[nodiscard]] double max_seconds() const;
  [[nodiscard]] double rate() const;  ///< computed from the median; 0 without a result
  /// Own rate over that of the fastest baseline of the case; 0 if there is none.
  [[nodiscard]] double ratio_to_best_baseline() const;
};

/// Fills ratios and percent_of_copy of the rows of one case. Compares only rows that are equal in
/// `timed`.
void relate(std::span<Row> rows);

/// A baseline for end-to-end times: `resident`, followed by the copies of the data without overlap.
/// Repetition i takes the sum of both rows' repetition i.
/// \return `resident` with these times and the `timed` of `copies`; without times if either row has
///         none
[[nodiscard]] Row with_copies(Row resident, const Row& copies);

/// A method of a benchmark that is run by measure().
struct Method {
  Row row;                        ///< everything except seconds and agrees
  std::function<void()> prepare;  ///< not timed; may be empty
  /// Like prepare, and also returns all free memory to the system; empty: Row::allocating_seconds
  /// is not measured.
  std::function<void()> prepare_allocating = {};
  std::function<void()> run;    ///< timed
  std::function<bool()> check;  ///< called once after the first run; true if the result is right
  /// A hash of the result's bits, called after every timed run and before check, not timed. If that
  /// of a later run is another one, the result is wrong; empty: not compared.
  std::function<std::uint64_t()> digest = {};
  /// Runs once more after all timed runs and returns the seconds of each phase; may be empty.
  std::function<PhaseSeconds()> run_phases = {};
  std::uint64_t first_digest = 0;  ///< of the first run; set by measure()
};

/// Times methods in alternation, so that changes of the machine's speed affect all of them equally:
/// one untimed round that checks the results, then `repetitions` rounds, then as many rounds of the
/// methods with prepare_allocating, then `repetitions` runs of the methods with run_phases. The
/// phases are those of the run whose total is the median. A method that throws Error keeps its
/// message as `failure` and is not run again.
/// \return the rows, after relate()
[[nodiscard]] std::vector<Row> measure(std::vector<Method> methods, int repetitions);

/// "yes", or a description of the error in the result.
[[nodiscard]] std::string describe_result(const Row& row);

/// The phases of a row and their milliseconds, indented, without a line end.
[[nodiscard]] std::string describe_phases(const Row& row);

/// A table for the terminal: a heading if `with_heading`, then one line per row.
[[nodiscard]] std::string table(std::span<const Row> rows, bool with_heading);
/// Comma-separated values with a heading line.
[[nodiscard]] std::string csv(std::span<const Row> rows);
/// A JSON array.
[[nodiscard]] std::string json(std::span<const Row> rows);

/// Called with the rows of each case when they are available.
using RowSink = std::function<void(std::span<const Row>)>;

}  // namespace sortie::bench
