// SPDX-License-Identifier: Apache-2.0
#include "cluster/exact_splits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

/// The search for one border. Of sequence s of this rank, items [low[s], high[s]) are open; those
/// before are before the border, those behind are after it.
struct Search {
  std::vector<std::uint64_t> low;
  std::vector<std::uint64_t> high;
  std::uint64_t open = 0;    ///< open items of all ranks
  std::uint64_t wanted = 0;  ///< how many of these are before the border

  [[nodiscard]] bool is_found() const { return wanted == 0 || wanted == open; }
  [[nodiscard]] std::uint64_t open_here() const {
    std::uint64_t count = 0;
    for (std::size_t s = 0; s < low.size(); ++s) count += high[s] - low[s];
    return count;
  }
};

/// Collective calls of a search without a phase: its sizes, and in each round the items before this
/// rank, the samples and their counts.
constexpr std::uint64_t calls_before_rounds = 4;
constexpr std::uint64_t calls_of_round = 3;

/// The samples of a round are evenly spaced in the open items of a border, all ranks' one after the
/// other; the first one is drawn, since no distribution of the items is then bad for many rounds.
struct Sampling {
  std::uint64_t open = 0;
  std::uint64_t count = 0;
  std::uint64_t shift = 0;

  Sampling(const Search& search, std::uint64_t most, std::uint64_t seed)
      : open(search.open), count(std::min(search.open, most)) {
    const std::uint64_t stride = open / count;
    shift = Random(seed).next() % stride;
  }
  /// Number, among the open items, of a sample.
  [[nodiscard]] std::uint64_t at(std::uint64_t sample) const {
    // sample * open / count, which could overflow
    return sample * (open / count) + sample * (open % count) / count + shift;
  }
  /// The first sample that is not before an open item.
  [[nodiscard]] std::uint64_t first_from(std::uint64_t item) const {
    std::uint64_t first = 0;
    for (std::uint64_t left = count; left > 0;) {
      const std::uint64_t half = left / 2;
      if (at(first + half) < item) {
        first += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    return first;
  }
};

/// One search for all borders.
class SplitSearch {
 public:
  SplitSearch(Ranks& ranks, std::span<const SortedItems> sequences,
              std::span<const std::uint64_t> sizes, std::string_view phase, std::uint64_t samples)
      : ranks_(ranks), sequences_(sequences), phase_(phase) {
    std::uint64_t mine[2] = {0, sequences.size()};
    std::uint64_t item_bytes = 0;
    for (const SortedItems& sequence : sequences) {
      mine[0] += sequence.size;
      item_bytes = sequence.item_bytes;
    }
    const std::uint64_t total = ranks.sum(mine[0]);
    std::uint64_t before = mine[1];
    ranks.sum_before({&before, 1});
    first_sequence_ = before;
    item_words_ = (ranks.greatest(item_bytes) + 7) / 8;
    ranks.together(phase.empty() ? "splits" : phase, [&] {
      const std::uint64_t parts = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
      if (parts == total && sizes.size() == static_cast<std::size_t>(ranks.size())) return;
      throw Error(ErrorKind::usage, fmt::format("found parts of {} items for {} destinations, "
                                                "expected {} items and {} destinations",
                                                parts, sizes.size(), total, ranks.size()));
    });
    std::uint64_t wanted = 0;
    for (std::size_t d = 0; d + 1 < sizes.size(); ++d) {
      wanted += sizes[d];
      Search search{{}, {}, total, wanted};
      for (const SortedItems& sequence : sequences) {
        search.low.push_back(0);
        search.high.push_back(sequence.size);
      }
      searches_.push_back(std::move(search));
    }
    samples_ = samples != 0 ? samples : samples_of_a_border(searches_.size());
  }

  Splits run() {
    for (round_ = 0;; ++round_) {
      open_.clear();
      for (std::size_t b = 0; b < searches_.size(); ++b)
        if (!searches_[b].is_found()) open_.push_back(b);
      if (open_.empty()) break;
      narrow();
    }
    Splits splits;
    for (std::size_t s = 0; s < sequences_.size(); ++s) {
      std::vector<std::uint64_t> begins{0};
      for (const Search& search : searches_)
        begins.push_back(search.wanted == 0 ? search.low[s] : search.high[s]);
      begins.push_back(sequences_[s].size);
      splits.push_back(std::move(begins));
    }
    return splits;
  }

 private:
  /// A sample is sent as the words of its item, the number of its sequence among those of all
  /// ranks, and its position.
  [[nodiscard]] std::size_t sample_words() const { return item_words_ + 2; }

  /// Without a phase, what it allocates is small (exact_splits.hpp), and costs no further call.
  void read_sequences(const std::function<void()>& work) {
    if (phase_.empty()) return work();
    ranks_.together(phase_, work);
  }

  void narrow() {
    std::vector<Sampling> samplings;
    std::vector<std::uint64_t> before;  // open items of the ranks before, by border
    std::vector<std::size_t> first;     // sample of each border in the arrays
    std::size_t count = 0;
    for (const std::size_t b : open_) {
      samplings.emplace_back(searches_[b], samples_, (round_ << 32) + b);
      before.push_back(searches_[b].open_here());
      first.push_back(count);
      count += samplings.back().count;
    }
    ranks_.sum_before(before);
    // Each sample is of one rank, which fills its place; the others add zeros.
    std::vector<std::uint64_t> samples;
    read_sequences([&] {
      samples.resize(count * sample_words());
      for (std::size_t i = 0; i < open_.size(); ++i)
        take_samples(searches_[open_[i]], samplings[i], before[i],
                     samples.data() + first[i] * sample_words());
    });
    ranks_.reduce_all(samples, Reduction::sum);

    // Open items that do not follow each sample, here by sequence and of all ranks.
    const std::size_t k = sequences_.size();
    std::vector<std::uint64_t> places;
    std::vector<std::uint64_t> counts;
    read_sequences([&] {
      places.resize(count * k);
      counts.resize(count);
      for (std::size_t i = 0; i < open_.size(); ++i) {
        for (std::size_t j = first[i]; j < first[i] + samplings[i].count; ++j) {
          counts[j] = count_before(searches_[open_[i]], samples.data() + j * sample_words(),
                                   {places.data() + j * k, k});
        }
      }
    });
    ranks_.reduce_all(counts, Reduction::sum);
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const std::size_t samples_here = samplings[i].count;
      shrink(searches_[open_[i]], {counts.data() + first[i], samples_here},
             {places.data() + first[i] * k, samples_here * k},
             samples.data() + first[i] * sample_words());
    }
  }

  /// Fills the places of the samples that are items of this rank.
  void take_samples(const Search& search, const Sampling& sampling, std::uint64_t before,
                    std::uint64_t* samples) const {
    for (std::size_t s = 0; s < sequences_.size(); ++s) {
      const std::uint64_t open = search.high[s] - search.low[s];
      for (std::uint64_t j = sampling.first_from(before);
           j < sampling.count && sampling.at(j) < before + open; ++j) {
        std::uint64_t* const sample = samples + j * sample_words();
        const std::uint64_t position = search.low[s] + sampling.at(j) - before;
        sequences_[s].read(position, reinterpret_cast<std::byte*>(sample));
        sample[item_words_] = first_sequence_ + s;
        sample[item_words_ + 1] = position;
      }
      before += open;
    }
  }

  /// \param places  receives the position behind the open items of each sequence that do not follow
  ///                the sample
  /// \return the number of these items
  [[nodiscard]] std::uint64_t count_before(const Search& search, const std::uint64_t* sample,
                                           std::span<std::uint64_t> places) const {
    std::uint64_t count = 0;
    for (std::size_t s = 0; s < sequences_.size(); ++s) {
      const std::uint64_t number = first_sequence_ + s;
      if (number == sample[item_words_]) {
        places[s] = sample[item_words_ + 1] + 1;
      } else {
        places[s] = sequences_[s].place(reinterpret_cast<const std::byte*>(sample), search.low[s],
                                        search.high[s], number < sample[item_words_]);
      }
      count += places[s] - search.low[s];
    }
    return count;
  }

  /// Leaves open what is between the two samples around the border.
  void shrink(Search& search, std::span<const std::uint64_t> counts,
              std::span<const std::uint64_t> places, const std::uint64_t* samples) const {
    constexpr std::size_t none = ~std::size_t{0};
    std::size_t below = none;
    std::size_t above = none;
    for (std::size_t j = 0; j < counts.size(); ++j) {
      if (counts[j] <= search.wanted) {
        if (below == none || counts[j] > counts[below]) below = j;
      } else if (above == none || counts[j] < counts[above]) {
        above = j;
      }
    }
    const std::size_t k = sequences_.size();
    if (above != none) {
      // The sample itself follows the border.
      search.open = counts[above] - 1;
      for (std::size_t s = 0; s < k; ++s) {
        const bool is_own = first_sequence_ + s == samples[above * sample_words() + item_words_];
        search.high[s] = places[above * k + s] - (is_own ? 1 : 0);
      }
    }
    if (below != none) {
      search.open -= counts[below];
      search.wanted -= counts[below];
      for (std::size_t s = 0; s < k; ++s) search.low[s] = places[below * k + s];
    }
  }

  Ranks& ranks_;
  std::span<const SortedItems> sequences_;
  std::string_view phase_;
  std::uint64_t first_sequence_ = 0;  ///< sequences of the ranks before
  std::size_t item_words_ = 0;
  std::uint64_t samples_ = 0;  ///< most of a border in a round
  std::uint64_t round_ = 0;
  std::vector<Search> searches_;   ///< one for each border between destinations
  std::vector<std::size_t> open_;  ///< those that are not found yet
};

}  // namespace

std::uint64_t samples_of_a_border(std::uint64_t borders) {
  constexpr std::uint64_t most_samples = std::uint64_t{1} << 15;
  return std::clamp<std::uint64_t>(most_samples / std::max<std::uint64_t>(borders, 1), 64, 1024);
}

std::uint64_t split_calls(std::uint64_t items, std::uint64_t ranks) {
  if (ranks < 2 || items == 0) return calls_before_rounds;
  const auto samples = static_cast<double>(samples_of_a_border(ranks - 1));
  const double rounds = std::ceil(std::log(static_cast<double>(items)) / std::log(samples));
  return calls_before_rounds +
         calls_of_round * std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rounds));
}

Splits exact_splits(Ranks& ranks, std::span<const SortedItems> sequences,
                    std::span<const std::uint64_t> sizes, std::string_view phase,
                    std::uint64_t samples) {
  return SplitSearch(ranks, sequences, sizes, phase, samples).run();
}

}  // namespace sortie::cluster
