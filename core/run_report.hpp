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

#include "sortie/core/context.hpp"

namespace sortie {

/// What a run did and what it took: the content of `--json`.
///
/// Holds the version, commit, command line, machine, GPU and driver, thread count, phases in order
/// with seconds and bytes, named figures, checksums of results, peak host and device memory.
class RunReport {
 public:
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

  struct Phase {
    std::string name;
    double seconds = 0;
    std::uint64_t bytes = 0;  ///< bytes read and written by the phase; 0 when not counted
  };

  RunReport() = default;

  /// Adds to the phase of that name, or appends it.
  void add_phase(std::string_view name, double seconds, std::uint64_t bytes = 0);
  /// The same for a phase whose end is yet to come, such as work on a device that nobody waits for:
  /// `seconds` is called once, and may wait, when the phases are asked for.
  void add_pending_phase(std::string_view name, std::function<double()> seconds);
  /// Sets a named figure ("nnz_c", "rounds"); later calls replace it.
  void set(std::string_view key, Value value);

  /// In the order in which they were added first; waits for the ends of pending ones.
  [[nodiscard]] const std::vector<Phase>& phases() const;
  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& figures() const {
    return figures_;
  }
  [[nodiscard]] double seconds_since_start() const;

  /// The report as a JSON object.
  /// \param command  the command line as given
  /// \param context  names backend, device and threads
  [[nodiscard]] std::string to_json(const std::vector<std::string>& command,
                                    const Context& context) const;

 private:
  /// A phase, and the seconds that it is to get.
  struct Pending {
    std::size_t phase = 0;
    std::function<double()> seconds;
  };

  Phase& phase_named(std::string_view name);

  // Looking at the phases settles the pending ones, which changes nothing that could be seen
  // before.
  mutable std::vector<Phase> phases_;
  mutable std::vector<Pending> pending_;
  std::vector<std::pair<std::string, Value>> figures_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// CPU seconds, user and system, that all threads of this process have taken so far.
[[nodiscard]] double process_cpu_seconds();

/// Times a scope and adds it to the context's report when there is one. Work on a
/// CUDA stream counts only as far as the scope waits for it.
class PhaseTimer {
 public:
  PhaseTimer(const Context& context, std::string_view name, std::uint64_t bytes = 0)
      : report_(context.report), name_(name), bytes_(bytes) {}
  ~PhaseTimer() { stop(); }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

  void set_bytes(std::uint64_t bytes) { bytes_ = bytes; }
  /// Ends the phase now; later calls add nothing more. Returns the seconds since the start.
  double stop();

 private:
  RunReport* report_;
  std::string name_;
  std::uint64_t bytes_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool stopped_ = false;
};

/// 64-bit FNV-1a over bytes, as 16 hex digits: the checksum that reports give for results.
[[nodiscard]] std::string checksum(const void* data, std::size_t bytes);

/// Chains a further piece of data onto a running checksum value (start with checksum_seed).
inline constexpr std::uint64_t checksum_seed = 0xcbf29ce484222325ULL;
[[nodiscard]] std::uint64_t extend_checksum(std::uint64_t seed, const void* data,
                                            std::size_t bytes);

}  // namespace sortie
