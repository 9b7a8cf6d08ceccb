// SPDX-License-Identifier: Apache-2.0

// Induction for a string of names. An entry is the position of a suffix in the high 32 bits, and in the low
// ones the name before it, once it is known: it is read when the scan comes to the entry, and prefetched
// before, as is the place of the next entry of its bucket.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "apps/suffix_array/host/induced/induction.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {
namespace {

class NameInduction {
 public:
  NameInduction(const SymbolString<std::uint32_t>& names, ScratchStack& scratch)
      : names_(names.symbols),
        entries_(scratch.take<std::uint64_t>(names.size())),
        begins_(scratch.take<std::uint32_t>(names.alphabet + 1)),
        lms_begins_(scratch.take<std::uint32_t>(names.alphabet)),
        next_(scratch.take<std::uint32_t>(names.alphabet)),
        l_ends_(scratch.take<std::uint32_t>(names.alphabet)) {
    std::ranges::fill(begins_, 0);
    for (const std::uint32_t name : names_) ++begins_[name + 1];
    for (std::uint64_t bucket = 1; bucket < begins_.size(); ++bucket)
      begins_[bucket] += begins_[bucket - 1];
  }

  void place_lms(std::span<const LmsSuffix> lms, std::span<const std::uint32_t> order) {
    std::copy(begins_.begin() + 1, begins_.end(), lms_begins_.begin());
    for (const LmsSuffix& suffix : lms) --lms_begins_[names_[suffix.position]];
    std::uint64_t next = 0;
    for (std::uint64_t bucket = 0; bucket < lms_begins_.size(); ++bucket)
      for (std::uint32_t at = lms_begins_[bucket]; at < begins_[bucket + 1]; ++at, ++next) {
        if (next + ahead < order.size()) __builtin_prefetch(&lms[order[next + ahead]]);
        const LmsSuffix& suffix = lms[order[next]];
        entries_[at] = entry_of(suffix.position, suffix.before);
      }
  }

  void scan_left_to_right() {
    std::copy(begins_.begin(), begins_.end() - 1, next_.begin());
    const auto last = static_cast<std::uint32_t>(names_.size() - 1);
    entries_[next_[names_[last]]++] = entry_of(last, unknown);
    const auto scan = [&](std::uint32_t at, std::uint32_t least) {
      if (at + ahead < entries_.size()) prefetch(entries_[at + ahead]);
      const std::uint32_t position = position_of(entries_[at]);
      if (position == 0) return;
      const std::uint32_t name = known(entries_[at]);
      entries_[at] = entry_of(position, name);
      if (name >= least) entries_[next_[name]++] = entry_of(position - 1, unknown);
    };
    for (std::uint32_t bucket = 0; bucket < next_.size(); ++bucket) {
      for (std::uint32_t at = begins_[bucket]; at < next_[bucket]; ++at) scan(at, bucket);
      for (std::uint32_t at = lms_begins_[bucket]; at < begins_[bucket + 1]; ++at) scan(at, bucket);
    }
    std::swap(l_ends_, next_);
  }

  void scan_right_to_left(std::span<std::uint32_t> suffixes) {
    std::copy(begins_.begin() + 1, begins_.end(), next_.begin());
    const auto scan = [&](std::uint32_t at, std::uint32_t end) {
      if (at >= ahead) prefetch(entries_[at - ahead]);
      const std::uint32_t position = position_of(entries_[at]);
      suffixes[at] = position;
      if (position == 0) return;
      const std::uint32_t name = known(entries_[at]);
      if (name < end) entries_[--next_[name]] = entry_of(position - 1, unknown);
    };
    for (auto bucket = static_cast<std::uint32_t>(next_.size()); bucket-- > 0;) {
      for (std::uint32_t at = begins_[bucket + 1]; at-- > next_[bucket];) scan(at, bucket + 1);
      for (std::uint32_t at = l_ends_[bucket]; at-- > begins_[bucket];) scan(at, bucket);
    }
  }

 private:
  static constexpr std::uint32_t unknown = 0xffffffff;
  static constexpr std::uint64_t ahead = 24;  ///< entries between a prefetch and its use

  static constexpr std::uint32_t position_of(std::uint64_t entry) {
    return static_cast<std::uint32_t>(entry >> 32);
  }
  static constexpr std::uint32_t before(std::uint64_t entry) {
    return static_cast<std::uint32_t>(entry);
  }
  static constexpr std::uint64_t entry_of(std::uint32_t position, std::uint32_t before) {
    return std::uint64_t{position} << 32 | before;
  }

  [[nodiscard]] std::uint32_t known(std::uint64_t entry) const {
    return before(entry) == unknown ? names_[position_of(entry) - 1] : before(entry);
  }
  /// An entry that is not written yet may hold any number.
  void prefetch(std::uint64_t entry) const {
    if (before(entry) < next_.size()) __builtin_prefetch(&next_[before(entry)]);
    const std::uint32_t position = position_of(entry);
    if (before(entry) == unknown && position - 1 < names_.size())
      __builtin_prefetch(&names_[position - 1]);
  }

  std::span<const std::uint32_t> names_;
  std::span<std::uint64_t> entries_;
  std::span<std::uint32_t> begins_;
  std::span<std::uint32_t> lms_begins_;
  std::span<std::uint32_t> next_;    ///< as in the induction for a text
  std::span<std::uint32_t> l_ends_;  ///< of the suffixes of type L, at the begin of a bucket
};

}  // namespace

void induce(const SymbolString<std::uint32_t>& names, std::span<const LmsSuffix> lms,
            std::span<const std::uint32_t> order, std::span<std::uint32_t> suffixes,
            ScratchStack& scratch) {
  // Large enough that the barriers of a block cost less than the shares.
  constexpr std::uint64_t share = 8192;
  constexpr std::uint64_t least_blocks = 8;
  if (worker_threads() > 1 && names.size() >= least_blocks * share * worker_threads()) {
    induce_by_blocks(names, lms, order, suffixes, scratch,
                     static_cast<std::uint32_t>(share * worker_threads()));
    return;
  }
  const ScratchStack::Scope scope(scratch);
  NameInduction induction(names, scratch);
  induction.place_lms(lms, order);
  induction.scan_left_to_right();
  induction.scan_right_to_left(suffixes);
}

}  // namespace sortie::suffix_array::host
