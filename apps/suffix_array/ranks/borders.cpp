// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/ranks/borders.hpp"

#include <algorithm>
#include <bit>

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
  std::uint64_t prefix = 0;  ///< the bits of an element from bit `shift` on
  int shift = 0;
};

/// Bits of the next digit. A digit is of the key or of the position, not of both.
int next_width(int shift, int position_bits) {
  return std::min(digit_bits, shift > position_bits ? shift - position_bits : shift);
}

/// `number` << `shift`, also for 64 bits.
std::uint64_t shifted(std::uint64_t number, int shift) {
  return shift >= 64 ? 0 : number << shift;
}

class BorderSearch {
 public:
  BorderSearch(cluster::Ranks& ranks, const host::PrefixPlan& plan, BucketedElements& elements,
               std::span<const std::uint64_t> sizes)
      : ranks_(ranks), plan_(plan), elements_(elements), begins_(begins_of(sizes)) {}

  std::vector<Border> run() {
    start();
    ranks_.together("sort divided buckets", [&] { sort_divided(); });
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
    return borders_;
  }

 private:
  void start() {
    const auto parts = static_cast<std::uint64_t>(ranks_.size());
    const EqualShares shares{begins_.back(), parts};
    limit_ = begins_.back() / parts / slack;
    borders_.assign(parts + 1, {begins_.size() - 1, 0});
    borders_.front() = {};
    for (std::uint64_t rank = 1; rank < parts; ++rank) {
      const std::uint64_t wanted = shares.begin(rank);
      const auto above = std::upper_bound(begins_.begin(), begins_.end(), wanted);
      if (above == begins_.end()) continue;  // there are no elements behind it
      const auto bucket = static_cast<std::uint64_t>(above - begins_.begin()) - 1;
      const std::uint64_t before = wanted - begins_[bucket];
      const std::uint64_t size = begins_[bucket + 1] - begins_[bucket];
      if (before == 0 || size <= limit_) {
        borders_[rank] = {before <= size - before ? bucket : bucket + 1, 0};
      } else {
        const int shift = static_cast<int>(std::bit_width(plan_.key_end - 1)) + plan_.position_bits;
        open_.push_back({rank, bucket, before, 0, shift});
      }
    }
  }

  void sort_divided() {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (i > 0 && open_[i].bucket == open_[i - 1].bucket) continue;
      const auto bucket = in_bucket(open_[i].bucket);
      const std::uint64_t scratch_size = std::min<std::uint64_t>(bucket.size(), most_scratch);
      const auto scratch = allocate_array<std::uint64_t>(scratch_size);
      host::sort_elements(bucket.data(), bucket.size(), std::span(scratch.get(), scratch_size));
    }
  }

  [[nodiscard]] std::span<std::uint64_t> in_bucket(std::uint64_t bucket) const {
    return elements_.elements.subspan(elements_.starts[bucket],
                                      elements_.starts[bucket + 1] - elements_.starts[bucket]);
  }

  /// Counts the elements of this rank by the next digit.
  void count(const Search& search, std::uint64_t* counts) const {
    const auto bucket = in_bucket(search.bucket);
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
    while (counts[digit] <= search.wanted) search.wanted -= counts[digit++];
    search.shift -= width;
    search.prefix = shifted(search.prefix, width) | digit;
    if (search.wanted != 0 && counts[digit] > limit_ && search.shift > 0) return false;
    const bool is_after = search.wanted > counts[digit] - search.wanted;
    const std::uint64_t element = shifted(search.prefix + (is_after ? 1 : 0), search.shift);
    // Beyond the greatest number of 64 bits, the next bucket begins.
    borders_[search.border] =
        is_after && element == 0 ? Border{search.bucket + 1, 0} : Border{search.bucket, element};
    return true;
  }

  static constexpr std::uint64_t most_scratch = std::uint64_t{1} << 17;

  cluster::Ranks& ranks_;
  const host::PrefixPlan& plan_;
  BucketedElements& elements_;
  std::vector<std::uint64_t> begins_;  ///< of the buckets, over all ranks
  std::uint64_t limit_ = 0;            ///< as many elements need not be divided
  std::vector<Border> borders_;
  std::vector<Search> open_;
};

}  // namespace

std::vector<Border> find_borders(cluster::Ranks& ranks, const host::PrefixPlan& plan,
                                 BucketedElements& elements, std::span<const std::uint64_t> sizes) {
  return BorderSearch(ranks, plan, elements, sizes).run();
}

std::uint64_t place_of(const BucketedElements& elements, const Border& border) {
  const std::uint64_t begin = elements.starts[border.bucket];
  if (border.element == 0) return begin;
  const auto bucket = elements.elements.subspan(begin, elements.starts[border.bucket + 1] - begin);
  return begin + static_cast<std::uint64_t>(std::ranges::lower_bound(bucket, border.element) -
                                            bucket.begin());
}

}  // namespace sortie::suffix_array::on_ranks
