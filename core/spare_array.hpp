// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"

namespace sortie {

/// Arrays of more bytes than this are kept. malloc() returns them to the system, smaller ones it
/// uses again itself.
inline constexpr std::size_t least_spare_bytes = std::size_t{1} << 20;

/// The three largest arrays of a type that callers have returned, for the next ones of that type, as
/// a result and the copies of two operands: to have the system clear new pages takes as long as computing the product in many cases
/// (email-Enron squared, 366 MB: 71 of 142 ms on one core of a Zen 4). The system may take the
/// pages back when it runs short of memory, so a spare array counts as available memory.
/// Any thread may call the functions.
template <class T>
class SpareArray {
 public:
  /// Keeps the storage of `array`, if it is larger than one that is kept; frees the smallest.
  static void keep(std::vector<T> array) {
    if (array.capacity() * sizeof(T) < least_spare_bytes) return;
    let_system_take(array.data(), array.capacity() * sizeof(T));
    array.clear();
    Kept& kept = instance();
    const std::lock_guard lock(kept.mutex);
    for (std::vector<T>& other : kept.arrays)  // the largest first
      if (array.capacity() > other.capacity()) other.swap(array);
  }

  /// An empty vector, which has the smallest storage that is kept and has `size` elements or more,
  /// but not more than four times as many: a result may be kept for long.
  [[nodiscard]] static std::vector<T> take(std::int64_t size) {
    if (static_cast<std::size_t>(size) * sizeof(T) < least_spare_bytes) return {};
    Kept& kept = instance();
    const std::lock_guard lock(kept.mutex);
    const auto wanted = static_cast<std::size_t>(size);
    for (auto array = kept.arrays.rbegin(); array != kept.arrays.rend(); ++array) {
      if (array->capacity() < wanted || array->capacity() / most_times > wanted) continue;
      std::vector<T> taken = std::exchange(*array, {});
      std::rotate(array.base() - 1, array.base(), kept.arrays.end());  // empty ones last
      return taken;
    }
    return {};
  }

 private:
  static constexpr std::size_t most_times = 4;

  struct Kept {
    std::mutex mutex;
    std::array<std::vector<T>, 3> arrays;
  };
  /// Never destroyed, since results may be freed while the program ends.
  static Kept& instance() {
    static Kept& kept = *new Kept;
    return kept;
  }
};

}  // namespace sortie
