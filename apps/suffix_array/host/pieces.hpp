#pragma once

#include <algorithm>
#include <cstdint>

#include "sortie/apps/suffix_array/host/parallel.hpp"
#include "sortie/core/host_runtime.hpp"

namespace sortie::suffix_array::host {

/// [0, size) in equal stretches, one for each host thread that has enough to do.
class Pieces {
 public:
  explicit Pieces(std::uint64_t size)
      : size_(size),
        count_(std::clamp(size / worth_a_thread, std::uint64_t{1},
                          static_cast<std::uint64_t>(std::max(host_threads(), 1)))) {}

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t begin(std::uint64_t piece) const {
    return size_ / count_ * piece + std::min(piece, size_ % count_);
  }

  /// Calls work(piece, begin, end) on all host threads.
  template <class Work>
  void for_each(const Work& work) const {
    for_each_task(count_,
                  [&](std::uint64_t piece) { work(piece, begin(piece), begin(piece + 1)); });
  }

 private:
  static constexpr std::uint64_t worth_a_thread = std::uint64_t{1} << 14;

  std::uint64_t size_;
  std::uint64_t count_;
};

/// Calls work(begin, end) for stretches of [0, size) of `length` items (the last may be shorter),
/// which the host threads take one by one.
template <class Work>
void for_each_stretch(std::uint64_t size, std::uint64_t length, const Work& work) {
  for_each_task((size + length - 1) / length, [&](std::uint64_t task) {
    work(task * length, std::min(size, (task + 1) * length));
  });
}

}  // namespace sortie::suffix_array::host
