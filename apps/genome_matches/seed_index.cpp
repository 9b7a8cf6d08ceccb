// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_matches/seed_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>

#include "apps/genome_matches/letter_code.hpp"
#include "core/uninitialised_vector.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/sort.hpp"

namespace sortie::genome_matches {
namespace {

constexpr int half = 32;

[[nodiscard]] std::uint32_t hash_of(std::uint64_t code) {
  return static_cast<std::uint32_t>(hash_of_code(code) >> half);
}

/// The hash of a run of one letter, at its begin or at least s letters after it.
[[nodiscard]] std::uint32_t hash_of_run(std::uint8_t letter, bool is_deep) {
  return hash_of(~std::uint64_t{letter} << 1 | (is_deep ? 1 : 0));
}

/// Buckets for seeds: some two seeds each, or a quarter of one where all begins of buckets stay in
/// the L2 cache: most seeds of a query that do not occur then meet an empty bucket.
[[nodiscard]] int bucket_bits_for(std::uint64_t seeds) {
  constexpr int cached_bits = 17;
  const int bits = static_cast<int>(std::max<std::uint64_t>(2, std::bit_width(seeds)) - 1);
  return std::max(bits, std::min(bits + 3, cached_bits));
}

[[nodiscard]] bool is_run(const std::uint8_t* letters, std::uint64_t length) {
  return common_prefix(letters, letters + 1, length - 1) == length - 1;
}

/// Whether the letters of a run that are before `position` are at least `step`.
[[nodiscard]] bool is_deep_in_run(const std::uint8_t* letters, std::uint64_t position,
                                  std::uint64_t step) {
  return position >= step && is_run(letters + position - step, step + 1);
}

}  // namespace

// Long seeds have few occurrences by chance, short ones leave large steps. L = 20, both strands,
// k = 12, 13, 14, 15 and 16 took 0.70, 0.63, 0.62, 0.67 and 0.76 CPU seconds for E. coli with four
// S. aureus genomes, and 1.54, 1.28, 1.34, 1.29 and 1.24 for yeast with itself (2-core VM, the least
// of three interleaved runs).
SeedShape SeedShape::of(std::uint64_t min_length) {
  const std::uint64_t length =
      std::min(LetterCode::most_letters, min_length <= 8 ? min_length : 4 + min_length / 2);
  return {length, min_length - length + 1};
}

std::uint64_t SeedIndex::bytes_of(std::uint64_t symbols, std::uint64_t min_length) {
  const std::uint64_t seeds = SeedShape::of(min_length).seeds_of(symbols);
  return seeds * sizeof(std::uint64_t) +
         ((std::uint64_t{1} << bucket_bits_for(seeds)) + 1) * sizeof(std::uint32_t);
}

SeedIndex::SeedIndex(const Context& context, Letters reference, std::uint64_t min_length)
    : shape_(SeedShape::of(min_length)), min_length_(min_length) {
  const std::uint64_t count = shape_.seeds_of(reference.size());
  if (count > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::usage,
                fmt::format("found {} sampled {}-mers of the reference, expected fewer than 2^32: "
                            "a greater least length needs fewer",
                            count, shape_.length));
  bucket_bits_ = bucket_bits_for(count);
  resize_for_overwrite(seeds_, static_cast<std::int64_t>(count));
  for_each_range(count, std::uint64_t{1} << 16, [&](std::uint64_t begin, std::uint64_t end) {
    LetterCode code(shape_.length);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t at = i * shape_.step;
      std::uint32_t hash = hash_of(code.at(reference.data(), at));
      if (code.is_uniform() && is_run(reference.data() + at, shape_.length))
        hash = hash_of_run(reference[at], is_deep_in_run(reference.data(), at, shape_.step));
      seeds_[i] = std::uint64_t{hash} << half | i;
    }
  });
  sort(context, std::span(seeds_));
  const std::uint64_t buckets = std::uint64_t{1} << bucket_bits_;
  begins_ = allocate_array<std::uint32_t>(buckets + 1);
  const auto bucket_of = [this](std::uint64_t i) { return seeds_[i] >> (64 - bucket_bits_); };
  for_each_index(0, count + 1, [&](std::uint64_t i) {
    const std::uint64_t first = i == 0 ? 0 : bucket_of(i - 1) + 1;
    const std::uint64_t end = i == count ? buckets + 1 : bucket_of(i) + 1;
    std::fill(&begins_[first], &begins_[end], static_cast<std::uint32_t>(i));
  });
}

/// The search of one range of a query.
class SeedIndex::Search {
 public:
  Search(const SeedIndex& index, Letters reference, Letters query, QueryRange range, const Use& use)
      : index_(index),
        shape_(index.shape_),
        reference_(reference),
        query_(query),
        range_(range),
        use_(use) {}

  void run() {
    if (query_.size() < index_.min_length_) return;
    // A match that begins in the range has its first seed less than s positions later.
    const std::uint64_t end =
        std::min(range_.end + shape_.step - 1, query_.size() - shape_.length + 1);
    LetterCode code(shape_.length);
    for (std::uint64_t begin = range_.begin; begin < end; begin += batch) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(batch, end - begin));
      // Several positions at a time, so that their cache misses overlap.
      for (std::size_t i = 0; i < count; ++i) {
        hashes_[i] = hash_of(code.at(query_.data(), begin + i));
        may_be_run_[i] = code.is_uniform();
        __builtin_prefetch(&index_.begins_[bucket_of(hashes_[i])]);
      }
      for (std::size_t i = 0; i < count; ++i)
        __builtin_prefetch(index_.seeds_.data() + index_.begins_[bucket_of(hashes_[i])]);
      for (std::size_t i = 0; i < count; ++i) visit(begin + i, hashes_[i], may_be_run_[i]);
      if (found_.size() >= limit_) pass_on(begin + count);
    }
    pass_on(std::numeric_limits<std::uint64_t>::max());
  }

 private:
  static constexpr std::size_t batch = 64;
  static constexpr std::size_t most_found = std::size_t{1} << 16;
  /// Runs that reach further than this are extended by their ends.
  static constexpr std::uint64_t long_run = 256;

  [[nodiscard]] std::uint64_t bucket_of(std::uint32_t hash) const {
    return hash >> (half - index_.bucket_bits_);
  }

  void visit(std::uint64_t at, std::uint32_t hash, bool may_be_run) {
    if (query_[at] == unmatched_in_query) return;
    if (!may_be_run || !is_run(query_.data() + at, shape_.length)) return look_up(at, hash, 0);
    if (at >= run_end_)
      run_end_ = at + 1 + common_prefix(&query_[at], &query_[at] + 1, query_.size() - at - 1);
    const std::uint64_t rest = run_end_ - at;
    look_up(at, hash_of_run(query_[at], false), rest);
    if (!is_deep_in_run(query_.data(), at, shape_.step))
      look_up(at, hash_of_run(query_[at], true), rest);
  }

  /// \param run  letters of the query's run from `at` on; 0 if the seed is not a run
  void look_up(std::uint64_t at, std::uint32_t hash, std::uint64_t run) {
    const std::uint64_t bucket = bucket_of(hash);
    for (std::uint64_t i = index_.begins_[bucket]; i < index_.begins_[bucket + 1]; ++i) {
      const std::uint64_t seed = index_.seeds_[i];
      if (seed >> half != hash) continue;
      extend((seed & 0xFFFFFFFFU) * shape_.step, at, run);
    }
  }

  void extend(std::uint64_t reference, std::uint64_t query, std::uint64_t run) {
    const std::uint8_t* const a = reference_.data() + reference;
    const std::uint8_t* const b = query_.data() + query;
    const std::uint64_t before = common_suffix(a, b, std::min({shape_.step, reference, query}));
    if (before == shape_.step || query - before < range_.begin || query - before >= range_.end)
      return;
    const std::uint64_t most = std::min(reference_.size() - reference, query_.size() - query);
    std::uint64_t known = 0;
    if (run > long_run && *a == *b) {
      const std::uint64_t other = run_end_of_reference(reference) - reference;
      known = std::min(run, other);
      // Unless both runs end there, the next letters differ, or one of the texts ends.
      if (run != other) return add(reference, query, before, known);
    }
    add(reference, query, before, known + common_prefix(a + known, b + known, most - known));
  }

  void add(std::uint64_t reference, std::uint64_t query, std::uint64_t before,
           std::uint64_t after) {
    if (after >= shape_.length && before + after >= index_.min_length_)
      found_.push_back({query - before, reference - before, before + after});
  }

  [[nodiscard]] std::uint64_t run_end_of_reference(std::uint64_t position) {
    const auto known = runs_.upper_bound(position);
    if (known != runs_.end() && known->second <= position) return known->first;
    const std::uint8_t* const at = reference_.data() + position;
    const std::uint64_t end =
        position + 1 + common_prefix(at, at + 1, reference_.size() - position - 1);
    const std::uint64_t begin = position == 0 ? 0 : position - common_suffix(at, at + 1, position);
    runs_.emplace(end, begin);
    return end;
  }

  /// Passes on the matches before those of seeds from `next` on.
  void pass_on(std::uint64_t next) {
    std::ranges::sort(found_);
    const std::uint64_t least = next - std::min(next, shape_.step - 1);
    const auto end = std::ranges::lower_bound(found_, least, {}, &Match::query);
    if (end != found_.begin()) use_({found_.begin(), end});
    found_.erase(found_.begin(), end);
    limit_ = std::max(most_found, 2 * found_.size());
  }

  const SeedIndex& index_;
  SeedShape shape_;
  Letters reference_;
  Letters query_;
  QueryRange range_;
  const Use& use_;
  std::vector<Match> found_;
  std::size_t limit_ = most_found;
  std::array<std::uint32_t, batch> hashes_;
  std::array<bool, batch> may_be_run_;
  std::uint64_t run_end_ = 0;                    ///< of the query's run that was met last
  std::map<std::uint64_t, std::uint64_t> runs_;  ///< of the reference: begins by ends
};

void SeedIndex::find(Letters reference, Letters query, QueryRange range, const Use& use) const {
  if (reference.size() >= shape_.length) Search(*this, reference, query, range, use).run();
}

}  // namespace sortie::genome_matches
