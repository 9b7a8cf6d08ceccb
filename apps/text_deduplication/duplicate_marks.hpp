// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/host_memory.hpp"
#include "sortie/context.hpp"
#include "sortie/text_deduplication.hpp"

/// What the backends find: one bit for each offset, and what the report needs.
namespace sortie::texts {

/// One bit for each offset of a text, set by several threads at the same time.
class OffsetBits {
 public:
  OffsetBits() = default;
  explicit OffsetBits(std::uint64_t offsets)
      : words_(allocate_array<std::uint64_t>(words_of(offsets))), count_(words_of(offsets)) {
    std::fill_n(words_.get(), count_, 0);
  }

  /// Bytes of as many offsets.
  [[nodiscard]] static std::uint64_t bytes_of(std::uint64_t offsets) {
    return words_of(offsets) * sizeof(std::uint64_t);
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::span<std::uint64_t> words() { return {words_.get(), count_}; }

  /// Sets the bits of [first, last]. \pre first <= last
  void set(std::uint64_t first, std::uint64_t last) {
    const std::uint64_t end = last / 64;
    std::uint64_t mask = ~std::uint64_t{0} << first % 64;
    for (std::uint64_t word = first / 64; word < end; ++word) {
      merge(word, mask);
      mask = ~std::uint64_t{0};
    }
    merge(end, mask & ~std::uint64_t{0} >> (63 - last % 64));
  }

  /// Calls use(first, last) for all runs of set bits, ascending.
  template <class Use>
  void visit_runs(const Use& use) const {
    std::uint64_t first = 0;
    bool inside = false;
    for (std::uint64_t index = 0; index < count_; ++index) {
      const std::uint64_t word = words_[index];
      if (word == (inside ? ~std::uint64_t{0} : 0)) continue;
      for (int bit = 0; bit < 64;) {
        const std::uint64_t rest = (inside ? ~word : word) >> bit;
        if (rest == 0) break;
        bit += std::countr_zero(rest);
        if (inside) use(first, index * 64 + bit - 1);
        first = index * 64 + bit;
        inside = !inside;
      }
    }
    if (inside) use(first, count_ * 64 - 1);
  }

 private:
  // One word more than needed: the last bit is never set, and every run ends.
  static std::uint64_t words_of(std::uint64_t offsets) { return offsets / 64 + 1; }

  void merge(std::uint64_t word, std::uint64_t mask) {
    const std::atomic_ref<std::uint64_t> bits(words_[word]);
    if ((bits.load(std::memory_order_relaxed) & mask) != mask)
      bits.fetch_or(mask, std::memory_order_relaxed);
  }

  HostArray<std::uint64_t> words_;
  std::uint64_t count_ = 0;
};

/// Consecutive first occurrences of windows with the same number of copies.
struct FirstWindows {
  std::uint64_t begin = 0;  ///< offset of the first window
  std::uint64_t copies = 0;
  std::uint64_t windows = 0;
};

/// The result of a backend.
struct DuplicateMarks {
  OffsetBits removed;  ///< windows whose bytes are removed
  OffsetBits kept;     ///< first occurrences, whose bytes are kept; empty unless wanted
  std::uint64_t duplicate_windows = 0;
  PowerHistogram copies{};
  std::vector<FirstWindows> first_windows;  ///< in no particular order
  std::uint64_t least_copies = 2;           ///< of first_windows

  /// Adds what a thread has found of all but the bits.
  void add_figures(DuplicateMarks& part);
  /// Joins first_windows that continue each other, and sorts them by offset.
  void join_first_windows();
  /// The same. Keeps those with the most copies if there are more than fit into `bytes`.
  void limit_first_windows(std::uint64_t bytes);
};

/// Work space of mark_duplicates(), and into how many parts anchors are divided so that it fits.
struct MarkingPlan {
  std::uint64_t passes = 1;
  std::uint64_t memory = 0;
};

// On each backend: plan_marking() throws Error (out_of_memory) if not even many parts fit;
// mark_duplicates() marks the duplicates of a text in memory, for valid options.

namespace host {
[[nodiscard]] MarkingPlan plan_marking(const HostContext& context, std::uint64_t text_bytes,
                                       std::uint64_t documents,
                                       const DeduplicationOptions& options);
[[nodiscard]] DuplicateMarks mark_duplicates(const Context& context,
                                             std::span<const std::uint8_t> text,
                                             std::span<const std::uint64_t> begins,
                                             const DeduplicationOptions& options);
}  // namespace host

#ifdef SORTIE_HAVE_CUDA
namespace cuda {
/// With the text, on the device.
[[nodiscard]] MarkingPlan plan_marking(const Context& context, std::uint64_t text_bytes,
                                       std::uint64_t documents,
                                       const DeduplicationOptions& options);
[[nodiscard]] DuplicateMarks mark_duplicates(const Context& context,
                                             std::span<const std::uint8_t> text,
                                             std::span<const std::uint64_t> begins,
                                             const DeduplicationOptions& options);
}  // namespace cuda
#endif

/// The borders that windows must not cross: `begins`, or those of the two corpora.
[[nodiscard]] std::vector<std::uint64_t> window_borders(std::span<const std::uint64_t> begins,
                                                        const DeduplicationOptions& options);

}  // namespace sortie::texts
