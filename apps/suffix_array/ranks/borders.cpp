// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/borders.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::on_ranks {
namespace {

constexpr int digit_bits = 8;
constexpr std::uint64_t digit_values = std::uint64_t{1} << digit_bits;
/// Shares may differ from equal ones by this part: the final ones are made equal when the suffix
/// array is complete, and until then whole groups stay on one rank.
constexpr std::uint64_t slack = 64;

/// A border that is searched among the elements of a bucket whose upper bits are `prefix`.
struct Search {
  std::size_t border;
  std::uint64_t bucket;
  std::uint64_t wanted;      ///< elements before the border, of those with the prefix
  std::uint64_t before = 0;  ///< elements of the bucket before the prefix
  std::uint64_t prefix = 0;  ///< the bits of an element from bit `shift` on
  int shift = 0;
  bool above_run = false;  ///< the border is wanted behind the members of runs of the bucket
};

/// Bits of the next digit. A digit is of the key or of the position, not of both.
int next_width(int shift, int position_bits) {
  return std::min(digit_bits, shift > position_bits ? shift - position_bits : shift);
}

/// `number` << `shift`, also for 64 bits.
std::uint64_t shifted(std::uint64_t number, int shift) {
  return shift >= 64 ? 0 : number << shift;
}

/// A bucket that a border may divide.
struct OpenBucket {
  std::vector<std::uint64_t> elements;  ///< of this rank's part of the text, ascending
  std::uint64_t below_run = 0;          ///< elements of all ranks before the members of runs
};

template <class Start>
class BorderSearch {
 public:
  BorderSearch(cluster::Ranks& ranks, const PackedText& text, const TextScan& scan,
               std::span<const Start> starts, std::span<host::RunSlots> run_slots)
      : ranks_(ranks),
        text_(text),
        plan_(text.plan()),
        scan_(scan),
        starts_(starts),
        run_slots_(run_slots) {}

  std::vector<Border> run() {
    const std::vector<Search> searched = start();
    if (!open_buckets_.empty()) {
      ranks_.together("divided buckets", [&] { collect(); });
      count_below_runs();
    }
    for (const Search& search : searched) choose_side(search);
    while (!open_.empty()) {
      std::vector<std::uint64_t> counts(open_.size() * digit_values);
      ranks_.together("count digits", [&] {
        for (std::size_t i = 0; i < open_.size(); ++i)
          count(open_[i], counts.data() + i * digit_values);
      });
      ranks_.reduce_all(counts, cluster::Reduction::sum);
      std::vector<Search> left;
      for (std::size_t i = 0; i < open_.size(); ++i)
        if (!narrow(open_[i], counts.data() + i * digit_values)) left.push_back(open_[i]);
      open_ = left;
    }
    find_groups();
    return borders_;
  }

 private:
  [[nodiscard]] std::uint64_t size_of(std::uint64_t bucket) const {
    return starts_[bucket + 1] - starts_[bucket];
  }
  [[nodiscard]] std::uint64_t run_size(std::uint64_t bucket) const {
    for (const host::RunSlots& letter : run_slots_)
      if (plan_.run_bucket(letter.code) == bucket) return letter.size;
    return 0;
  }
  [[nodiscard]] std::uint64_t run_element(std::uint64_t bucket) const {
    for (const host::RunSlots& letter : run_slots_)
      if (plan_.run_bucket(letter.code) == bucket)
        return plan_.element(plan_.run_key(letter.code), 0);
    return 0;
  }
  /// The first slot of a bucket, or their number.
  [[nodiscard]] std::uint64_t slot_of(std::uint64_t bucket) const {
    std::uint64_t slot = starts_[bucket];
    for (const host::RunSlots& letter : run_slots_)
      if (plan_.run_bucket(letter.code) < bucket) slot += letter.size;
    return slot;
  }
  /// The border after `before` elements of a bucket.
  [[nodiscard]] Border border_at(std::uint64_t bucket, std::uint64_t element,
                                 std::uint64_t before) const {
    const std::uint64_t run = run_size(bucket);
    const bool is_behind_run = run > 0 && before > open_buckets_.at(bucket).below_run;
    const std::uint64_t slot = slot_of(bucket) + before + (is_behind_run ? run : 0);
    return {bucket, element, starts_[bucket] + before, slot, slot, slot};
  }
  /// The border after `members` of the runs of a bucket.
  [[nodiscard]] Border border_in_run(std::uint64_t bucket, std::uint64_t members) const {
    const std::uint64_t below = open_buckets_.at(bucket).below_run;
    const std::uint64_t slot = slot_of(bucket) + below + members;
    return {bucket, run_element(bucket), starts_[bucket] + below, slot, slot, slot};
  }
  [[nodiscard]] Border border_before(std::uint64_t bucket) const {
    const std::uint64_t slot = slot_of(bucket);
    return {bucket, 0, starts_[bucket], slot, slot, slot};
  }

  /// Sets the borders between buckets. \return the others, which want so many slots of their bucket
  std::vector<Search> start() {
    const auto parts = static_cast<std::uint64_t>(ranks_.size());
    const EqualShares shares{text_.size(), parts};
    limit_ = text_.size() / parts / slack;
    borders_.assign(parts + 1, border_before(plan_.buckets));
    borders_.front() = {};
    std::vector<Search> searched;
    std::uint64_t bucket = 0;
    for (std::uint64_t rank = 1; rank < parts; ++rank) {
      const std::uint64_t wanted = shares.begin(rank);
      if (wanted == text_.size()) continue;
      while (slot_of(bucket + 1) <= wanted) ++bucket;
      const std::uint64_t before = wanted - slot_of(bucket);
      const std::uint64_t size = slot_of(bucket + 1) - slot_of(bucket);
      if (before == 0 || size <= limit_) {
        borders_[rank] = border_before(before <= size - before ? bucket : bucket + 1);
      } else {
        searched.push_back({rank, bucket, before});
        open_buckets_[bucket];
      }
    }
    return searched;
  }

  /// Finds the elements of open buckets in this rank's part of the text.
  void collect() {
    const EqualShares parts{text_.size(), static_cast<std::uint64_t>(ranks_.size())};
    const auto rank = static_cast<std::uint64_t>(ranks_.rank());
    std::vector<bool> is_open(plan_.buckets);
    for (const auto& [bucket, open] : open_buckets_) is_open[bucket] = true;
    scan_.for_each(
        parts.begin(rank), parts.begin(rank + 1),
        [&](std::uint64_t position, std::uint64_t bucket, std::uint64_t key) {
          if (is_open[bucket])
            open_buckets_.find(bucket)->second.elements.push_back(plan_.element(key, position));
        },
        [](std::uint64_t, std::uint64_t, std::uint64_t) {});
    for (auto& [bucket, open] : open_buckets_) {
      const std::uint64_t scratch_size =
          std::min<std::uint64_t>(open.elements.size(), most_scratch);
      const auto scratch = allocate_array<std::uint64_t>(scratch_size);
      host::sort_elements(open.elements.data(), open.elements.size(),
                          std::span(scratch.get(), scratch_size));
    }
  }

  /// Elements of this rank in an open bucket below `element`.
  [[nodiscard]] std::uint64_t count_below(std::uint64_t bucket, std::uint64_t element) const {
    const std::vector<std::uint64_t>& elements = open_buckets_.at(bucket).elements;
    return static_cast<std::uint64_t>(std::ranges::lower_bound(elements, element) -
                                      elements.begin());
  }

  void count_below_runs() {
    std::vector<std::uint64_t> counts(run_slots_.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::uint64_t bucket = plan_.run_bucket(run_slots_[i].code);
      if (open_buckets_.contains(bucket)) counts[i] = count_below(bucket, run_element(bucket));
    }
    if (counts.empty()) return;
    ranks_.reduce_all(counts, cluster::Reduction::sum);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto open = open_buckets_.find(plan_.run_bucket(run_slots_[i].code));
      if (open == open_buckets_.end()) continue;
      open->second.below_run = counts[i];
      run_slots_[i].begin = slot_of(open->first) + counts[i];
    }
  }

  /// Sets a border among the members of runs, or searches it among the elements on one side.
  void choose_side(Search search) {
    const std::uint64_t run = run_size(search.bucket);
    const std::uint64_t below = open_buckets_.at(search.bucket).below_run;
    if (run > 0 && search.wanted >= below && search.wanted <= below + run) {
      borders_[search.border] = border_in_run(search.bucket, search.wanted - below);
      return;
    }
    search.above_run = run > 0 && search.wanted > below;
    if (search.above_run) search.wanted -= run;
    search.shift = static_cast<int>(std::bit_width(plan_.key_end - 1)) + plan_.position_bits;
    open_.push_back(search);
  }

  /// Counts the elements of this rank by the next digit.
  void count(const Search& search, std::uint64_t* counts) const {
    const std::vector<std::uint64_t>& bucket = open_buckets_.at(search.bucket).elements;
    const int width = next_width(search.shift, plan_.position_bits);
    const int below = search.shift - width;
    const std::uint64_t first = shifted(search.prefix, search.shift);
    auto from = std::ranges::lower_bound(bucket, first);
    for (std::uint64_t digit = 0; digit < std::uint64_t{1} << width; ++digit) {
      const std::uint64_t last = first + shifted(digit, below) + (shifted(1, below) - 1);
      const auto to = std::upper_bound(from, bucket.end(), last);
      counts[digit] = static_cast<std::uint64_t>(to - from);
      from = to;
    }
  }

  /// \return whether the border is found
  bool narrow(Search& search, const std::uint64_t* counts) {
    const int width = next_width(search.shift, plan_.position_bits);
    std::uint64_t digit = 0;
    while (counts[digit] <= search.wanted) {
      search.wanted -= counts[digit];
      search.before += counts[digit++];
    }
    search.shift -= width;
    search.prefix = shifted(search.prefix, width) | digit;
    if (search.wanted != 0 && counts[digit] > limit_ && search.shift > 0) return false;
    const bool is_after = search.wanted > counts[digit] - search.wanted;
    const std::uint64_t element = shifted(search.prefix + (is_after ? 1 : 0), search.shift);
    const std::uint64_t before = search.before + (is_after ? counts[digit] : 0);
    const std::uint64_t run = run_size(search.bucket);
    const std::uint64_t below = open_buckets_.at(search.bucket).below_run;
    Border& border = borders_[search.border];
    if (run > 0 && (search.above_run ? before <= below : before >= below)) {
      border = border_in_run(search.bucket, search.above_run ? run : 0);
    } else if (is_after && element == 0) {
      // Beyond the greatest number of 64 bits, the next bucket begins.
      border = border_before(search.bucket + 1);
    } else {
      border = border_at(search.bucket, element, before);
    }
    return true;
  }

  /// Finds the groups of equal keys that borders divide.
  void find_groups() {
    std::vector<std::size_t> dividing;
    std::vector<std::uint64_t> counts;
    for (std::size_t i = 1; i + 1 < borders_.size(); ++i) {
      const Border& border = borders_[i];
      const std::uint64_t key = plan_.key_of(border.element);
      if (plan_.position_of(border.element) == 0 || plan_.contains_end(key)) continue;
      const std::uint64_t first = plan_.element(key, 0);
      dividing.push_back(i);
      counts.push_back(count_below(border.bucket, border.element) -
                       count_below(border.bucket, first));
      counts.push_back(
          count_below(border.bucket, plan_.element(key, plan_.position_of(~std::uint64_t{0}))) -
          count_below(border.bucket, border.element));
    }
    if (counts.empty()) return;
    ranks_.reduce_all(counts, cluster::Reduction::sum);
    for (std::size_t i = 0; i < dividing.size(); ++i) {
      if (counts[2 * i] == 0 || counts[2 * i + 1] == 0) continue;
      Border& border = borders_[dividing[i]];
      border.group_begin = border.slot - counts[2 * i];
      border.group_end = border.slot + counts[2 * i + 1];
    }
  }

  static constexpr std::uint64_t most_scratch = std::uint64_t{1} << 17;

  cluster::Ranks& ranks_;
  const PackedText& text_;
  const host::PrefixPlan& plan_;
  const TextScan& scan_;
  std::span<const Start> starts_;
  std::span<host::RunSlots> run_slots_;
  std::map<std::uint64_t, OpenBucket> open_buckets_;
  std::uint64_t limit_ = 0;  ///< as many slots need not be divided
  std::vector<Border> borders_;
  std::vector<Search> open_;
};

}  // namespace

template <class Start>
std::vector<Border> find_borders(cluster::Ranks& ranks, const PackedText& text,
                                 const TextScan& scan, std::span<const Start> starts,
                                 std::span<host::RunSlots> run_slots) {
  return BorderSearch<Start>(ranks, text, scan, starts, run_slots).run();
}

#define INSTANTIATE(Start)                                                                       \
  template std::vector<Border> find_borders(cluster::Ranks&, const PackedText&, const TextScan&, \
                                            std::span<const Start>, std::span<host::RunSlots>);
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
#undef INSTANTIATE

}  // namespace sortie::suffix_array::on_ranks
