// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/samples/samples.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/bit_set.hpp"
#include "apps/suffix_array/host/build/text_rounds.hpp"
#include "apps/suffix_array/host/samples/sampling.hpp"
#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Slots or positions per task.
constexpr std::uint64_t range_length = std::uint64_t{1} << 16;
/// Larger groups are sorted one after another, so that only one at a time needs elements.
constexpr std::uint64_t largest_private_group = std::uint64_t{1} << 18;

/// Positions of a block of samples.
constexpr std::uint64_t block_positions = 16;

/// One bit for every block of positions: whether there is a sample among them. Fits in the L2
/// cache, where the set of samples does not.
BitSet blocks_of(const BitSet& samples) {
  const std::vector<std::uint64_t>& words = samples.words();
  constexpr std::uint64_t blocks_a_word = BitSet::word_bits / block_positions;
  BitSet blocks(words.size() * blocks_a_word);
  for (std::uint64_t block = 0; block < words.size() * blocks_a_word; ++block) {
    const std::uint64_t positions =
        words[block / blocks_a_word] >> (block % blocks_a_word * block_positions);
    const std::uint64_t mask = (std::uint64_t{1} << block_positions) - 1;
    blocks.data()[block / BitSet::word_bits] |= std::uint64_t{(positions & mask) != 0}
                                                << (block % BitSet::word_bits);
  }
  return blocks;
}

template <Position Pos>
class Finish {
 public:
  Finish(const Context& context, const TextView& text, const PrefixPlan& plan,
         const SymbolStream& stream, FirstOrder<Pos>& order)
      : context_(context),
        size_(text.size()),
        separators_(text.separators.size()),
        sampling_(stream, plan.depth(), TextRounds::depth_limit(plan, stream)),
        run_order_(text, plan, order.runs, order.run_slots),
        order_(order) {}

  std::uint64_t run() {
    mark_members();
    SampleMap<Pos> map(sampling_, members_, size_);
    if (order_.in_groups != 0) map.find(samples_);
    for (const LongRun<Pos>& run : order_.runs) samples_.set(run.end);
    const NumberedSet<Pos> numbers(samples_);
    const std::uint64_t count = numbers.count();
    require_sample_memory(count);
    auto ranks = allocate_array<Pos>(count);
    rank_samples(numbers, ranks.get());
    auto steps = allocate_array<Pos>(count);
    find_steps(numbers, map, steps.get());
    if (are_many(count)) map.forget();
    const std::uint64_t rounds =
        double_steps<Pos>(std::span(ranks.get(), count), std::span(steps.get(), count));
    steps.reset();
    {
      std::vector<Pos> rests(order_.runs.size());
      std::ranges::transform(order_.runs, rests.begin(), [&](const LongRun<Pos>& run) {
        return ranks[numbers.number(run.end)];
      });
      run_order_.place(rests, order_.suffixes);
    }
    if (order_.in_groups == 0) return rounds;
    if (!map.is_known()) map.find(samples_);
    map.replace([&](Pos sample) { return ranks[numbers.number(sample)]; });
    ranks.reset();
    sort_groups(map);
    return rounds;
  }

 private:
  /// The slot, plus one for letters: the rank of the end of the text lies between those of the
  /// other ends and of the letters.
  [[nodiscard]] Pos rank_of_slot(std::uint64_t slot) const {
    return static_cast<Pos>(slot + (slot >= separators_ ? 1 : 0));
  }

  /// True in texts of short periods: then the values of the map are freed during the rounds.
  [[nodiscard]] bool are_many(std::uint64_t samples) const { return samples > size_ / 4; }

  /// \throws Error (out_of_memory) the samples do not fit in the budget
  void require_sample_memory(std::uint64_t samples) const {
    // Held: the suffixes, the symbols and the sets. For each sample there may be two values of the
    // map, one of which is already counted.
    const std::uint64_t held = size_ * (sizeof(Pos) + 2) + size_ * sizeof(Pos) / 32;
    const std::uint64_t values = are_many(samples) ? 0 : samples * sizeof(Pos);
    require_budget(context_, "samples of the suffix array",
                   held + values + samples * 7 * sizeof(Pos));
  }

  void mark_members() {
    if (order_.in_groups == 0) return;
    const bool alone = host_threads() == 1;
    for_each_range(size_, range_length, [&](std::uint64_t first, std::uint64_t last) {
      order_.joined.for_each_in_joined(first, last, [&](std::uint64_t slot) {
        const Pos member = order_.suffixes[slot];
        alone ? members_.set_alone(member) : members_.set(member);
      });
    });
  }

  /// Gives every sample the rank of the first slot of its group.
  void rank_samples(const NumberedSet<Pos>& numbers, Pos* ranks) const {
    const BitSet blocks = blocks_of(samples_);
    for_each_range(size_, range_length, [&](std::uint64_t first, std::uint64_t last) {
      auto letter =
          std::find_if(order_.run_slots.begin(), order_.run_slots.end(),
                       [=](const RunSlots& slots) { return slots.begin + slots.size > first; });
      // Skips the slots of runs, which are not filled yet.
      while (first < last) {
        const bool runs_follow = letter != order_.run_slots.end() && letter->begin < last;
        const std::uint64_t end = runs_follow ? letter->begin : last;
        if (first < end) rank_samples_of(first, end, blocks, numbers, ranks);
        first = end;
        if (runs_follow) first += (letter++)->size;
      }
    });
    for (std::uint64_t i = 0; i < order_.runs.size(); ++i) {
      if (samples_.test(order_.runs[i].begin)) {
        ranks[numbers.number(order_.runs[i].begin)] = rank_of_slot(run_order_.first_slot(i));
      }
    }
    if (samples_.test(size_)) ranks[numbers.number(size_)] = static_cast<Pos>(separators_);
  }

  /// Gives the samples in slots [first, last) their ranks.
  void rank_samples_of(std::uint64_t first, std::uint64_t last, const BitSet& blocks,
                       const NumberedSet<Pos>& numbers, Pos* ranks) const {
    // Positions are random, and few are samples: candidates are selected without a branch, and
    // their data is prefetched together.
    constexpr std::uint64_t batch = 512;
    std::array<std::uint64_t, batch> candidates;
    std::uint64_t group = order_.joined.last_clear(0, first + 1);
    std::uint64_t next = first + 1;  // `group` is valid for slots below this
    for (; first < last; first += batch) {
      const std::uint64_t end = std::min(first + batch, last);
      std::uint64_t count = 0;
      for (std::uint64_t slot = first; slot < end; ++slot) {
        candidates[count] = slot;
        count += blocks.test(order_.suffixes[slot] / block_positions) ? 1 : 0;
      }
      for (std::uint64_t i = 0; i < count; ++i) numbers.prefetch(order_.suffixes[candidates[i]]);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t slot = candidates[i];
        const std::uint64_t position = order_.suffixes[slot];
        if (!samples_.test(position)) continue;
        const std::uint64_t start = order_.joined.last_clear(next, slot + 1);
        if (start <= slot) group = start;
        next = slot + 1;
        ranks[numbers.number(position)] = rank_of_slot(group);
      }
    }
  }

  /// The step of each member that is a sample: to the sample of the position after it.
  void find_steps(const NumberedSet<Pos>& numbers, const SampleMap<Pos>& map, Pos* steps) const {
    // Samples of unique rank may have any step.
    std::fill_n(steps, numbers.count(), Pos{0});
    if (order_.in_groups != 0) {
      numbers.for_each([&](std::uint64_t position, Pos number) {
        if (members_.test(position)) steps[number] = numbers.number(map[position + 1]);
      });
    }
    for (const LongRun<Pos>& run : order_.runs) {
      if (samples_.test(run.begin)) steps[numbers.number(run.begin)] = numbers.number(run.end);
    }
  }

  using Element = Wide<Pos>;  ///< the rank of the sample above the position

  void sort_group(const SampleMap<Pos>& ranks, std::uint64_t begin, std::uint64_t end,
                  Element* elements, std::span<Element> scratch) {
    Pos* const suffixes = order_.suffixes.data() + begin;
    const std::uint64_t size = end - begin;
    constexpr int pos_bits = 8 * sizeof(Pos);
    for (std::uint64_t i = 0; i < size; ++i) {
      elements[i] = Element{ranks[suffixes[i]]} << pos_bits | suffixes[i];
    }
    sort_perhaps_ordered(elements, size, scratch, pos_bits);
    for (std::uint64_t i = 0; i < size; ++i) suffixes[i] = static_cast<Pos>(elements[i]);
  }

  void sort_groups(const SampleMap<Pos>& ranks) {
    // The greatest rank is that of the last slot.
    const bool in_batches = GroupBatch<Pos>::holds_ranks_up_to(rank_of_slot(size_));
    std::mutex mutex;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> large;
    for_each_range(size_, range_length, [&](std::uint64_t first, std::uint64_t last) {
      std::vector<Element> elements;
      std::vector<Element> scratch;
      GroupBatch<Pos> batch(ranks, order_.suffixes.data());
      order_.joined.for_each_joined(
          first, last, size_, [&](std::uint64_t begin, std::uint64_t end) {
            if (end - begin <= GroupBatch<Pos>::longest_group && in_batches) {
              batch.add(begin, end);
              return;
            }
            if (end - begin > largest_private_group) {
              const std::scoped_lock lock(mutex);
              large.emplace_back(begin, end);
              return;
            }
            if (elements.size() < end - begin) {
              elements.resize(end - begin);
              scratch.resize(end - begin);
            }
            sort_group(ranks, begin, end, elements.data(), scratch);
          });
      batch.sort();
    });
    std::uint64_t largest = 0;
    for (const auto& [begin, end] : large) largest = std::max(largest, end - begin);
    // As large as a private group, or half a byte a symbol with 32-bit positions and one byte with
    // 64-bit positions.
    const std::uint64_t scratch_size =
        std::min(largest, std::max(largest_private_group, size_ / 16));
    const auto scratch = allocate_array<Element>(scratch_size);
    for (const auto& [begin, end] : large) {
      const auto elements = allocate_array<Element>(end - begin);
      sort_group(ranks, begin, end, elements.get(), std::span(scratch.get(), scratch_size));
    }
  }

  const Context& context_;
  std::uint64_t size_;
  std::uint64_t separators_;
  Sampling sampling_;
  RunOrder<Pos> run_order_;
  FirstOrder<Pos>& order_;
  BitSet members_{size_ + 1};
  BitSet samples_{size_ + 1};
};

}  // namespace

template <Position Pos>
std::uint64_t finish_by_samples(const Context& context, const TextView& text,
                                const PrefixPlan& plan, const SymbolStream& stream,
                                FirstOrder<Pos>& order) {
  return Finish<Pos>(context, text, plan, stream, order).run();
}

SORTIE_FOR_BOTH_POSITIONS(finish_by_samples);

}  // namespace sortie::suffix_array::host
