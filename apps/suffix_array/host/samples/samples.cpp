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

}  // namespace

template <Position Pos>
SampleOrder<Pos>::SampleOrder(const SampledText& text, FirstOrder<Pos>& order,
                              std::vector<RunSlots> run_slots, bool has_groups,
                              const SlotRange& slots)
    : text_(text),
      slots_(slots),
      has_groups_(has_groups),
      sampling_(text.stream, text.plan.depth(), TextRounds::depth_limit(text.plan, text.stream)),
      run_slots_(std::move(run_slots)),
      order_(order),
      run_order_(text.stream, text.size, text.plan, order.runs, run_slots_),
      members_(text.size + 1),
      samples_(text.size + 1),
      map_(sampling_, members_, text.size) {}

template <Position Pos>
std::uint64_t SampleOrder<Pos>::find_samples() {
  if (has_groups_) map_.find();
  const std::uint64_t bytes = number_samples();
  return bytes + UndecidedSamples<Pos>::bytes({.count = numbers_->count()});
}

template <Position Pos>
std::uint64_t SampleOrder<Pos>::number_samples() {
  if (has_groups_) map_.finish(samples_);
  for (const LongRun<Pos>& run : order_.runs) samples_.set(run.end);
  numbers_.emplace(samples_);
  // For each sample there may be two values of the map, one of which is already counted. Ranks,
  // steps and lengths of runs.
  const std::uint64_t count = numbers_->count();
  const std::uint64_t values = are_many(count) ? 0 : count * sizeof(Pos);
  return values + count * 3 * sizeof(Pos);
}

template <Position Pos>
std::uint64_t SampleOrder<Pos>::sort_samples() {
  find_steps();
  const std::uint64_t rounds = double_steps(ranks(), steps());
  finish_samples();
  return rounds;
}

template <Position Pos>
void SampleOrder<Pos>::finish_samples() {
  steps_.reset();
  rests_.resize(order_.runs.size());
  std::ranges::transform(order_.runs, rests_.begin(), [&](const LongRun<Pos>& run) {
    return ranks_[numbers_->number(run.end)];
  });
  if (has_groups_) {
    if (!map_.is_known()) {
      map_.find();
      map_.finish(samples_);
    }
    map_.replace([&](Pos sample) { return ranks_[numbers_->number(sample)]; });
  }
  ranks_.reset();
  blocks_ = BitSet();
}

/// The slot, plus one for letters: the rank of the end of the text lies between those of the other
/// ends and of the letters.
template <Position Pos>
Pos SampleOrder<Pos>::rank_of_slot(std::uint64_t slot) const {
  return static_cast<Pos>(slot + (slot >= text_.separators ? 1 : 0));
}

/// True in texts of short periods: then the values of the map are freed during the rounds.
template <Position Pos>
bool SampleOrder<Pos>::are_many(std::uint64_t samples) const {
  return samples > text_.size / 4;
}

template <Position Pos>
void SampleOrder<Pos>::mark_members() {
  const bool alone = host_threads() == 1;
  const std::uint64_t size = order_.suffixes.size();
  for_each_range(size, range_length, [&](std::uint64_t first, std::uint64_t last) {
    order_.joined.for_each_in_joined(first, last, [&](std::uint64_t slot) {
      if (slot >= size) return;  // of another process
      const Pos member = order_.suffixes[slot];
      alone ? members_.set_alone(member) : members_.set(member);
    });
  });
}

template <Position Pos>
void SampleOrder<Pos>::mark_all(std::span<const std::uint64_t> separators) {
  const std::uint64_t depth = TextRounds::depth_limit(text_.plan, text_.stream);
  std::uint64_t begin = 0;
  const auto mark_record = [&](std::uint64_t end) {
    if (end - begin >= depth) members_.set_range(begin, end - depth + 1);
    begin = end + 1;
  };
  std::ranges::for_each(separators, mark_record);
  if (begin < text_.size) mark_record(text_.size);
  for (const LongRun<Pos>& run : order_.runs)
    members_.clear_range(run.begin, run.end - text_.plan.depth() + 1);
}

template <Position Pos>
void SampleOrder<Pos>::rank_samples() {
  if (ranks_ == nullptr) {
    ranks_ = allocate_array<Pos>(numbers_->count());
    std::fill_n(ranks_.get(), numbers_->count(), Pos{0});
    blocks_ = blocks_of(samples_);
  }
  const std::uint64_t begin = slots_.begin;
  for_each_range(
      std::uint64_t{order_.suffixes.size()}, range_length,
      [&](std::uint64_t first, std::uint64_t last) {
        auto letter = std::ranges::find_if(run_slots_, [=](const RunSlots& slots) {
          return slots.begin + slots.size > begin + first;
        });
        // Skips the slots of runs, which are not filled yet.
        while (first < last) {
          const bool runs_follow = letter != run_slots_.end() && letter->begin < begin + last;
          const std::uint64_t end = runs_follow ? std::max(letter->begin, begin) - begin : last;
          if (first < end) rank_samples_of(first, end);
          first = end;
          if (runs_follow) {
            first = letter->begin + letter->size - begin;
            ++letter;
          }
        }
      });
}

/// Gives the samples in slots [first, last) of this process their ranks.
template <Position Pos>
void SampleOrder<Pos>::rank_samples_of(std::uint64_t first, std::uint64_t last) {
  // Positions are random, and few are samples: candidates are selected without a branch, and
  // their data is prefetched together.
  constexpr std::uint64_t batch = 512;
  std::array<std::uint64_t, batch> candidates;
  const std::uint64_t before = order_.joined.last_clear(0, first + 1);
  std::uint64_t group = before <= first ? slots_.begin + before : slots_.head;
  std::uint64_t next = first + 1;  // `group` is valid for slots below this
  for (; first < last; first += batch) {
    const std::uint64_t end = std::min(first + batch, last);
    std::uint64_t count = 0;
    for (std::uint64_t slot = first; slot < end; ++slot) {
      candidates[count] = slot;
      count += blocks_.test(order_.suffixes[slot] / block_positions) ? 1 : 0;
    }
    for (std::uint64_t i = 0; i < count; ++i) numbers_->prefetch(order_.suffixes[candidates[i]]);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t slot = candidates[i];
      const std::uint64_t position = order_.suffixes[slot];
      if (!samples_.test(position)) continue;
      const std::uint64_t start = order_.joined.last_clear(next, slot + 1);
      if (start <= slot) group = slots_.begin + start;
      next = slot + 1;
      ranks_[numbers_->number(position)] = rank_of_slot(group);
    }
  }
}

/// The step of each member that is a sample: to the sample of the position after it.
template <Position Pos>
void SampleOrder<Pos>::find_steps() {
  for (std::uint64_t i = 0; i < order_.runs.size(); ++i) {
    if (samples_.test(order_.runs[i].begin)) {
      ranks_[numbers_->number(order_.runs[i].begin)] = rank_of_slot(run_order_.first_slot(i));
    }
  }
  if (samples_.test(text_.size))
    ranks_[numbers_->number(text_.size)] = static_cast<Pos>(text_.separators);
  steps_ = allocate_array<Pos>(numbers_->count());
  // Samples of unique rank may have any step.
  std::fill_n(steps_.get(), numbers_->count(), Pos{0});
  if (has_groups_) {
    numbers_->for_each([&](std::uint64_t position, Pos number) {
      if (members_.test(position)) steps_[number] = numbers_->number(map_[position + 1]);
    });
  }
  for (const LongRun<Pos>& run : order_.runs) {
    if (samples_.test(run.begin)) steps_[numbers_->number(run.begin)] = numbers_->number(run.end);
  }
  if (are_many(numbers_->count())) map_.forget();
}

template <Position Pos>
void SampleOrder<Pos>::sort_group(std::uint64_t begin, std::uint64_t end, Element* elements,
                                  std::span<Element> scratch) {
  Pos* const suffixes = order_.suffixes.data() + begin;
  const std::uint64_t size = end - begin;
  constexpr int pos_bits = 8 * sizeof(Pos);
  for (std::uint64_t i = 0; i < size; ++i) {
    elements[i] = Element{rank_of_sample(suffixes[i])} << pos_bits | suffixes[i];
  }
  sort_perhaps_ordered(elements, size, scratch, pos_bits);
  for (std::uint64_t i = 0; i < size; ++i) suffixes[i] = static_cast<Pos>(elements[i]);
}

template <Position Pos>
void SampleOrder<Pos>::sort_groups() {
  run_order_.place(rests_, order_.suffixes, slots_.begin);
  if (order_.in_groups == 0) return;
  const std::uint64_t size = order_.suffixes.size();
  // The greatest rank is that of the last slot.
  const bool in_batches = GroupBatch<Pos>::holds_ranks_up_to(rank_of_slot(text_.size));
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> large;
  for_each_range(size, range_length, [&](std::uint64_t first, std::uint64_t last) {
    std::vector<Element> elements;
    std::vector<Element> scratch;
    GroupBatch<Pos> batch(map_, order_.suffixes.data());
    order_.joined.for_each_joined(first, last, size, [&](std::uint64_t begin, std::uint64_t end) {
      if (end > size - slots_.after) return;
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
      sort_group(begin, end, elements.data(), scratch);
    });
    batch.sort();
  });
  std::uint64_t largest = 0;
  for (const auto& [begin, end] : large) largest = std::max(largest, end - begin);
  // As large as a private group, or half a byte a symbol with 32-bit positions and one byte with
  // 64-bit positions.
  const std::uint64_t scratch_size = std::min(largest, std::max(largest_private_group, size / 16));
  const auto scratch = allocate_array<Element>(scratch_size);
  for (const auto& [begin, end] : large) {
    const auto elements = allocate_array<Element>(end - begin);
    sort_group(begin, end, elements.get(), std::span(scratch.get(), scratch_size));
  }
}

template <Position Pos>
std::uint64_t finish_by_samples(const Context& context, const SampledText& text,
                                FirstOrder<Pos>& order) {
  const bool has_groups = order.in_groups != 0;
  SampleOrder<Pos> samples(text, order, order.run_slots, has_groups);
  if (has_groups) samples.mark_members();
  // Held: the suffixes, the symbols and the sets.
  const std::uint64_t held = text.size * (sizeof(Pos) + 2) + text.size * sizeof(Pos) / 32;
  require_budget(context, "samples of the suffix array", held + samples.find_samples());
  samples.rank_samples();
  const std::uint64_t rounds = samples.sort_samples();
  samples.sort_groups();
  return rounds;
}

template class SampleOrder<std::uint32_t>;
template class SampleOrder<std::uint64_t>;
SORTIE_FOR_BOTH_POSITIONS(finish_by_samples);

}  // namespace sortie::suffix_array::host
