// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace sortie::multisort::plan {

/// Evenly spaced items of one sorted sequence: those at first, first + stride, ...
struct SampleRange {
  std::size_t sequence = 0;
  std::uint64_t first = 0;
  std::uint64_t stride = 1;
  std::uint64_t count = 0;
};

namespace detail {

/// The search for the splits of one rank: what is still open of each sequence are its items
/// [low[i], high[i]).
struct OpenSplit {
  std::vector<std::uint64_t> low;
  std::vector<std::uint64_t> high;
  std::uint64_t wanted = 0;  ///< items that have to be taken from the open ones

  [[nodiscard]] std::uint64_t open() const {
    return std::transform_reduce(high.begin(), high.end(), low.begin(), std::uint64_t{0},
                                 std::plus<>{}, std::minus<>{});
  }
  [[nodiscard]] bool is_found() const { return wanted == 0 || wanted == open(); }
  [[nodiscard]] const std::vector<std::uint64_t>& splits() const {
    return wanted == 0 ? low : high;
  }
};

/// The samples of the open ranges: the last item of each full range of `stride` items.
[[nodiscard]] inline std::vector<SampleRange> samples_of(const OpenSplit& search,
                                                         std::uint64_t samples) {
  std::vector<SampleRange> ranges;
  for (std::size_t i = 0; i < search.low.size(); ++i) {
    const std::uint64_t open = search.high[i] - search.low[i];
    if (open == 0) continue;
    const std::uint64_t stride = (open + samples - 1) / samples;
    ranges.push_back({i, search.low[i] + stride - 1, stride, open / stride});
  }
  return ranges;
}

/// Narrows the search by samples: `keys` are those of `ranges`, one after the other.
template <class Key, class Before>
void narrow(OpenSplit& search, std::span<const SampleRange> ranges, std::span<const Key> keys,
            Before before) {
  struct Sample {
    std::size_t range;
    std::uint64_t number;  ///< in its range
    Key key;
  };
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    for (std::uint64_t j = 0; j < ranges[i].count; ++j)
      samples.push_back({i, j, keys[samples.size()]});
  // Those of a range are in order already, and of equal ones the earlier range's come first.
  std::vector<std::ptrdiff_t> ends{0};
  for (const SampleRange& range : ranges)
    ends.push_back(ends.back() + static_cast<std::ptrdiff_t>(range.count));
  for (std::size_t step = 1; step < ranges.size(); step *= 2)
    for (std::size_t i = 0; i + step < ranges.size(); i += 2 * step)
      std::inplace_merge(samples.begin() + ends[i], samples.begin() + ends[i + step],
                         samples.begin() + ends[std::min(i + 2 * step, ranges.size())],
                         [&](const Sample& a, const Sample& b) { return before(a.key, b.key); });

  // The samples are visited in order; `taken` counts those of each range so far. The open items of
  // a sequence up to its last taken sample do not follow the current sample; the items before its
  // next sample may precede it.
  const std::vector<std::uint64_t> low = search.low;
  std::vector<std::uint64_t> taken(ranges.size(), 0);
  std::uint64_t surely = 0;  // open items up to the sample, itself included, at least
  std::uint64_t maybe = 0;   // and at most
  const auto at_most = [&](std::size_t i) {
    const std::size_t sequence = ranges[i].sequence;
    return std::min(search.high[sequence] - low[sequence], (taken[i] + 1) * ranges[i].stride - 1);
  };
  for (std::size_t i = 0; i < ranges.size(); ++i) maybe += at_most(i);
  std::vector<std::uint64_t> new_low = search.low;
  std::vector<std::uint64_t> new_high = search.high;
  bool is_cut = false;
  for (const Sample& sample : samples) {
    const std::size_t i = sample.range;
    const std::uint64_t stride = ranges[i].stride;
    if (!is_cut && surely + stride > search.wanted) {
      // The first sample that is not among the wanted items: neither is anything behind it.
      is_cut = true;
      for (std::size_t k = 0; k < ranges.size(); ++k)
        new_high[ranges[k].sequence] = low[ranges[k].sequence] + at_most(k);
    }
    maybe -= at_most(i);
    ++taken[i];
    surely += stride;
    // Of the sample's own sequence nothing else stands before it.
    if (maybe + taken[i] * stride <= search.wanted) {
      for (std::size_t k = 0; k < ranges.size(); ++k)
        new_low[ranges[k].sequence] = low[ranges[k].sequence] + taken[k] * ranges[k].stride;
    }
    maybe += at_most(i);
  }
  for (std::size_t k = 0; k < low.size(); ++k) search.wanted -= new_low[k] - low[k];
  search.low = std::move(new_low);
  search.high = std::move(new_high);
}

}  // namespace detail

/// Splits k sorted sequences at several ranks, with the results of split_at_rank() but few, large
/// reads. For sequences in the memory of other devices, where round trips dominate.
///
/// Each round reads `samples` evenly spaced items of the open range of each sequence, for all ranks
/// at once, and leaves about 3 / samples of it open: 5 rounds for sequences of 2^31 items.
///
/// \param samples  of each sequence, rank and round; at least 4 for each sequence, so that every
///                 round leaves less open
/// \param fetch    fetch(std::span<const SampleRange>) gives the keys there, one range after the
///                 other
/// \param before   strict weak order of the keys; each sequence is sorted by it
/// \return for each rank the split of each sequence
template <class Fetch, class Before>
[[nodiscard]] std::vector<std::vector<std::uint64_t>> split_by_samples(
    std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> ranks,
    std::uint64_t samples, Fetch fetch, Before before) {
  std::vector<detail::OpenSplit> searches;
  for (const std::uint64_t rank : ranks)
    searches.push_back({std::vector<std::uint64_t>(sizes.size(), 0),
                        std::vector<std::uint64_t>(sizes.begin(), sizes.end()), rank});
  for (;;) {
    std::vector<SampleRange> ranges;
    std::vector<std::size_t> counts(searches.size(), 0);  // ranges of each search
    for (std::size_t s = 0; s < searches.size(); ++s) {
      if (searches[s].is_found()) continue;
      const auto more = detail::samples_of(searches[s], samples);
      ranges.insert(ranges.end(), more.begin(), more.end());
      counts[s] = more.size();
    }
    if (ranges.empty()) break;
    const auto keys = fetch(std::span<const SampleRange>(ranges));
    std::size_t range = 0;
    std::size_t key = 0;
    for (std::size_t s = 0; s < searches.size(); ++s) {
      const std::span<const SampleRange> own(ranges.data() + range, counts[s]);
      std::size_t own_keys = 0;
      for (const SampleRange& one : own) own_keys += one.count;
      if (!own.empty())
        detail::narrow(searches[s], own, std::span(keys.data() + key, own_keys), before);
      range += counts[s];
      key += own_keys;
    }
  }
  std::vector<std::vector<std::uint64_t>> splits;
  for (const detail::OpenSplit& search : searches) splits.push_back(search.splits());
  return splits;
}

}  // namespace sortie::multisort::plan
