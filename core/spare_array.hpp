// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// The largest array of a type that a caller has returned, for the next result of that type: to
/// have the system clear new pages takes as long as computing the product in many cases
/// (email-Enron squared, 366 MB: 71 of 142 ms on one core of a Zen 4). The system may take the
/// pages back when it runs short of memory, so a spare array counts as available memory.
/// Any thread may call the functions.
template <class T>
class SpareArray {
 public:
  /// Keeps the storage of `array`, if it is larger than the one that is kept; otherwise frees it.
  static void keep(std::vector<T> array) {
    if (array.capacity() * sizeof(T) < least_spare_bytes) return;
    let_system_take(array.data(), array.capacity() * sizeof(T));
    array.clear();
    Kept& kept = instance();
    const std::lock_guard lock(kept.mutex);
    if (array.capacity() > kept.array.capacity()) kept.array.swap(array);
  }

  /// An empty vector, which has the storage that is kept if that has `size` elements or more, but not
  /// more than four times as many: a result may be kept for long.
  [[nodiscard]] static std::vector<T> take(std::int64_t size) {
    if (static_cast<std::size_t>(size) * sizeof(T) < least_spare_bytes) return {};
    Kept& kept = instance();
    const std::lock_guard lock(kept.mutex);
    const std::size_t capacity = kept.array.capacity();
    if (static_cast<std::size_t>(size) > capacity ||
        capacity / most_times > static_cast<std::size_t>(size))
      return {};
    return std::exchange(kept.array, {});
  }

 private:
  static constexpr std::size_t most_times = 4;

  struct Kept {
    std::mutex mutex;
    std::vector<T> array;
  };
  /// Never destroyed, since results may be freed while the program ends.
  static Kept& instance() {
    static Kept& kept = *new Kept;
    return kept;
  }
};

}  // namespace sortie
