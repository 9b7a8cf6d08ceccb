// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace sortie::segsort {

/// Runs body(i) for i in [0, count) on the threads of the host runtime, which must have been
/// started. `body` must not throw.
void parallel_for(std::uint64_t count, const std::function<void(std::uint64_t)>& body);

/// A range of `items` items cut into `count` parts whose sizes differ by at most one.
struct Parts {
  std::uint64_t items;
  std::uint64_t count;

  [[nodiscard]] std::uint64_t begin(std::uint64_t part) const {
    // part * items / count, which could overflow
    return part * (items / count) + part * (items % count) / count;
  }
  [[nodiscard]] std::uint64_t size(std::uint64_t part) const {
    return begin(part + 1) - begin(part);
  }

  /// Calls body(first item, number of items) for each part, in parallel.
  template <class Body>
  void parallel_for_each(Body body) const {
    parallel_for(count, [&](std::uint64_t part) { body(begin(part), size(part)); });
  }
};

}  // namespace sortie::segsort
