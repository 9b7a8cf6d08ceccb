#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// What every benchmark of Sortie shares: how methods are timed, and how rows are shown.
namespace sortie::bench {

/// One method on one case.
struct Row {
  std::string case_name;
  std::string method;
  std::string backend;          ///< "host" or "cuda"
  bool baseline = false;        ///< a peer that Sortie's methods are compared with
  bool limit = false;           ///< a copy of the same bytes: the physical limit, no competitor
  std::uint64_t items = 0;      ///< units of work, in whatever `unit` counts
  std::vector<double> seconds;  ///< of each repetition
  std::string unit;             ///< of rate(): "Gpairs/s", "GFLOP/s", "MB/s"
  double items_a_unit = 1e9;    ///< items in one unit: 1e9 for Gpairs/s
  bool agrees = false;          ///< the result was checked and is right
  std::string fault;            ///< what is wrong with the result, where the check says so
  std::string failure;          ///< why there is no result; empty when there is one
  /// Seconds of each phase of one more run, which waits after each; may be empty.
  std::vector<std::pair<std::string, double>> phases;
  /// Of that run: by how much of its share what a device has to sort differs from it, at most; less
  /// than 0: not known.
  double imbalance = -1;
  /// Of memory, as the K-model counts them: a warp and an aligned segment of 128 bytes; 0: not
  /// counted.
  std::uint64_t transactions = 0;

  // Filled by relate().
  std::vector<std::pair<std::string, double>>
      ratios;                  ///< own rate over each baseline's; none for a limit
  double percent_of_copy = 0;  ///< of the rate of the limit; 0: no limit

  [[nodiscard]] bool is_wrong() const { return failure.empty() && !agrees; }
  [[nodiscard]] double median_seconds() const;
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
  std::function<void()> run;      ///< timed
  std::function<bool()> check;    ///< called once after the first run; says whether it is right
};

/// Times methods by turns, so that a change of the machine's speed meets all of them alike: one
/// untimed round that checks the results, then `repetitions` rounds. A method that throws Error
/// keeps its message as `failure` and is left out from then on.
/// \return the rows, related to each other
[[nodiscard]] std::vector<Row> measure(std::vector<Method> methods, int repetitions);

/// A table for people: a heading when `with_heading`, then a line a row.
[[nodiscard]] std::string table(std::span<const Row> rows, bool with_heading);
/// Comma-separated values with a heading line.
[[nodiscard]] std::string csv(std::span<const Row> rows);
/// A JSON array.
[[nodiscard]] std::string json(std::span<const Row> rows);

/// Called with the rows of each case when they are there.
using RowSink = std::function<void(std::span<const Row>)>;

}  // namespace sortie::bench
