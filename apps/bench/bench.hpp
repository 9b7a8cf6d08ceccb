#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sortie/apps/suffix_array/doubling_rounds.hpp"

/// What every benchmark of Sortie shares: how methods are timed, and how rows are shown.
namespace sortie::bench {

/// What `sortie bench spgemm` tells beside times.
struct ProductFigures {
  std::int64_t products = 0;
  std::int64_t nnz_c = 0;
  /// Bytes of the device's memory pool in use at most, beside A, B and C; nothing on the host, and
  /// where a method has no result.
  std::optional<std::uint64_t> peak_work_space;
};

/// Names of phases and the seconds of each, in order.
using PhaseSeconds = std::vector<std::pair<std::string, double>>;

/// One method on one case.
struct Row {
  std::string case_name;
  std::string method;           ///< empty: the case itself could not be made; see `failure`
  std::string backend;          ///< "host" or "cuda"
  bool baseline = false;        ///< a peer that Sortie's methods are compared with
  bool limit = false;           ///< a copy of the same bytes: the physical limit, no competitor
  std::uint64_t items = 0;      ///< units of work, in whatever `unit` counts
  std::vector<double> seconds;  ///< of each repetition
  /// The same where all memory comes from the system anew; empty where that was not measured.
  std::vector<double> allocating_seconds;
  std::string unit;           ///< of rate(): "Gpairs/s", "GFLOP/s", "MB/s"
  double items_a_unit = 1e9;  ///< items in one unit: 1e9 for Gpairs/s
  bool agrees = false;        ///< the result was checked and is right
  std::string fault;          ///< what is wrong with the result, where the check says so
  std::string failure;        ///< why there is no result; empty when there is one
  PhaseSeconds phases;        ///< of further runs that no other time is taken from; may be empty
  /// Of that run: by how much of its share what a device has to sort differs from it, at most; less
  /// than 0: not known.
  double imbalance = -1;
  /// Of memory, as the K-model counts them: a warp and an aligned segment of 128 bytes; 0: not
  /// counted.
  std::uint64_t transactions = 0;

  std::optional<ProductFigures> product;  ///< of a matrix product only
  /// Of a suffix array only, where they were asked for: the groups that each round of doubling has.
  std::vector<suffix_array::DoublingRound> rounds;
  /// With them: what the construction reports of its own rounds, by the names of RunReport.
  std::vector<std::pair<std::string, std::uint64_t>> construction;

  // Filled by relate().
  std::vector<std::pair<std::string, double>>
      ratios;                  ///< own rate over each baseline's; none for a limit
  double percent_of_copy = 0;  ///< of the rate of the limit; 0: no limit

  [[nodiscard]] bool is_wrong() const { return failure.empty() && !agrees; }
  [[nodiscard]] double median_seconds() const;
  [[nodiscard]] double median_allocating_seconds() const;  ///< 0 where not measured
  [[nodiscard]] double min_seconds() const;
  [[nodiscard]] double max_seconds() const;
  [[nodiscard]] double rate() const;  ///< by the median; 0 without a result
  /// Own rate over that of the fastest baseline of the case; 0 where there is none.
  [[nodiscard]] double ratio_to_best_baseline() const;
};

/// Fills ratios and percent_of_copy of rows that belong to one case.
void relate(std::span<Row> rows);

/// A method as the host benchmarks run it.
struct Method {
  Row row;                        ///< all but seconds and agrees
  std::function<void()> prepare;  ///< not timed; may be empty
  /// As prepare, and gives all free memory back to the system; empty: Row::allocating_seconds is
  /// not measured.
  std::function<void()> prepare_allocating = {};
  std::function<void()> run;    ///< timed
  std::function<bool()> check;  ///< called once after the first run; says whether it is right
  /// Runs once more, after all that is timed, and tells the seconds of each phase; may be empty.
  std::function<PhaseSeconds()> run_phases = {};
};

/// Times methods by turns, so that a change of the machine's speed meets all of them alike: one
/// untimed round that checks the results, then `repetitions` rounds, and as many again of the
/// methods that have prepare_allocating; then `repetitions` runs for the phases of those that tell
/// them, of which the one whose phases take the median of the seconds counts. A method that throws
/// Error keeps its message as `failure` and is left out from then on.
/// \return the rows, related to each other
[[nodiscard]] std::vector<Row> measure(std::vector<Method> methods, int repetitions);

/// Whether a row's result is right, in a word or with what is wrong.
[[nodiscard]] std::string describe_result(const Row& row);

/// The phases of a row and their milliseconds, indented, without a line end.
[[nodiscard]] std::string describe_phases(const Row& row);

/// A table for people: a heading when `with_heading`, then a line a row.
[[nodiscard]] std::string table(std::span<const Row> rows, bool with_heading);
/// Comma-separated values with a heading line.
[[nodiscard]] std::string csv(std::span<const Row> rows);
/// A JSON array.
[[nodiscard]] std::string json(std::span<const Row> rows);

/// Called with the rows of each case when they are there.
using RowSink = std::function<void(std::span<const Row>)>;

}  // namespace sortie::bench
