// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"

namespace sortie {

/// Record of a run and its cost, the content of `--json`: version, commit, command line, machine,
/// GPU and driver, thread count, phases in order with seconds and bytes, named figures, checksums
/// of results, and peak host and device memory.
///
/// Phases are nested: a phase that begins while another one is open is a part of it. Phases that
/// are not part of another one do not overlap, so that their seconds add up to those of the run.
class SORTIE_API RunReport {
 public:
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

  struct Phase {
    std::string name;
    double seconds = 0;
    std::uint64_t bytes = 0;  ///< bytes read and written by the phase; 0 if not counted
    std::string within;       ///< path() of the phase that contains this one; empty if none does

    /// The names of the phases that contain this one, from the outermost, and its own, separated by
    /// slashes. No two phases of a report have the same.
    [[nodiscard]] std::string path() const { return within.empty() ? name : within + '/' + name; }
  };

  /// \param start  when the run began
  explicit RunReport(std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now())
      : start_(start) {}

  /// Opens a phase. Phases that are added or opened before it is closed are parts of it.
  /// \return what close_phase() asks for
  std::size_t open_phase(std::string_view name);
  /// Closes an open phase and adds to it. \pre `phase` was returned by open_phase()
  void close_phase(std::size_t phase, double seconds, std::uint64_t bytes = 0);
  /// Adds to the phase with this name in the open phase, or appends a new phase.
  void add_phase(std::string_view name, double seconds, std::uint64_t bytes = 0);
  /// Adds a phase that has not ended yet, such as asynchronous work on a device. `seconds` is
  /// called once, when the phases are read, and may wait.
  void add_pending_phase(std::string_view name, std::function<double()> seconds);
  /// Sets a named figure ("nnz_c", "rounds"); later calls replace it.
  void set(std::string_view key, Value value);

  /// Phases in the order in which they first began. Waits for pending phases to end.
  [[nodiscard]] const std::vector<Phase>& phases() const;
  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& figures() const {
    return figures_;
  }
  [[nodiscard]] double seconds_since_start() const;

  /// The report as a JSON object.
  /// \param command  the command line
  /// \param context  backend, device and threads of the run
  [[nodiscard]] std::string to_json(const std::vector<std::string>& command,
                                    const Context& context) const;

 private:
  /// A phase, and the function that returns its seconds.
  struct Pending {
    std::size_t phase = 0;
    std::function<double()> seconds;
  };

  /// Index of the phase with this name in the open phase; a new one if there is none.
  std::size_t phase_named(std::string_view name);

  // Mutable because reading the phases resolves the pending ones. No observable state changes.
  mutable std::vector<Phase> phases_;
  mutable std::vector<Pending> pending_;
  std::vector<std::size_t> open_;  ///< indices of the open phases, the innermost last
  std::vector<std::pair<std::string, Value>> figures_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace sortie
