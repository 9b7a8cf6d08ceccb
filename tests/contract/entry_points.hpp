// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "sortie/context.hpp"

namespace sortie::test {

/// What a call does with a memory budget of one byte.
enum class SmallBudget {
  refused,   ///< it throws Error (out_of_memory)
  constant,  ///< nothing: its workspace is constant, and its documentation says so
};

/// A public call on host memory, with operands that use all of it.
struct EntryPoint {
  std::string name;
  /// Calls it with these settings and returns a checksum of its result.
  std::function<std::uint64_t(const Context& context)> call;
  /// Documented phases, which the report must have.
  std::vector<std::string> phases;
  SmallBudget small_budget = SmallBudget::refused;
  bool own_threads = false;  ///< takes any number of `threads`, not those of the host runtime
};

/// GoogleTest prints a row by its name.
inline void PrintTo(const EntryPoint& entry, std::ostream* out) {
  *out << entry.name;
}

/// One row for each entry point. Does not start the host runtime.
[[nodiscard]] const std::vector<EntryPoint>& entry_points();

/// Those of genomes, which are among them: indexes of aligners, matches, k-mers.
[[nodiscard]] std::vector<EntryPoint> entry_points_of_genomes();

}  // namespace sortie::test
