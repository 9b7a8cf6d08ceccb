// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/radix_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "primitives/host/shares.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort::plan {

namespace {

/// More buckets in one pass would leave the caches of every device.
constexpr int widest_digit = 16;

[[noreturn]] void refuse(std::string_view found, std::string_view expected) {
  throw Error(ErrorKind::usage,
              fmt::format("radix partition: found {}, expected {}", found, expected));
}

std::uint64_t sum(std::span<const std::uint64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

void check(const PartitionProblem& problem) {
  if (problem.source_sizes.empty() || problem.destination_sizes.empty())
    refuse(fmt::format("{} sources and {} destinations", problem.source_sizes.size(),
                       problem.destination_sizes.size()),
           "one of each at least");
  const std::uint64_t keys = sum(problem.source_sizes);
  const std::uint64_t places = sum(problem.destination_sizes);
  if (keys != places) refuse(fmt::format("{} places for {} keys", places, keys), "one a key");
  if (problem.key_bits < 1 || problem.key_bits > 64)
    refuse(fmt::format("keys of {} bits", problem.key_bits), "1 to 64 bits");
  if (problem.digit_bits < 1 || problem.digit_bits > widest_digit)
    refuse(fmt::format("digits of {} bits", problem.digit_bits),
           fmt::format("1 to {} bits", widest_digit));
  if (problem.common_prefix_bits < 0 || problem.common_prefix_bits > problem.key_bits)
    refuse(fmt::format("a common prefix of {} bits", problem.common_prefix_bits),
           fmt::format("0 to {} bits", problem.key_bits));
}

}  // namespace

RadixPartition::RadixPartition(PartitionProblem problem) : problem_(std::move(problem)) {
  check(problem_);
  buckets_.push_back({problem_.common_prefix, problem_.common_prefix_bits, problem_.source_sizes,
                      sum(problem_.source_sizes)});
  place_borders();
  const Bucket& all = buckets_.front();
  if (problem_.always_divide && refinements_.empty() && all.size > 0 &&
      all.prefix_bits < problem_.key_bits)
    list_refinement(all);
}

void RadixPartition::list_refinement(const Bucket& bucket) {
  refinements_.push_back({bucket.prefix, bucket.prefix_bits,
                          std::min(problem_.digit_bits, problem_.key_bits - bucket.prefix_bits)});
}

std::vector<std::uint64_t> RadixPartition::bucket_begins() const {
  std::vector<std::uint64_t> begins{0};
  begins.reserve(buckets_.size() + 1);
  for (const Bucket& bucket : buckets_) begins.push_back(begins.back() + bucket.size);
  return begins;
}

void RadixPartition::place_borders() {
  const std::vector<std::uint64_t> begins = bucket_begins();
  const std::vector<std::uint64_t> ideal = begins_of(problem_.destination_sizes);
  borders_.assign(1, {0, 0});
  refinements_.clear();
  const auto has_one_value = [&](std::size_t bucket) {
    return buckets_[bucket].prefix_bits == problem_.key_bits;
  };
  for (std::size_t d = 1; d + 1 < ideal.size(); ++d) {
    const std::optional<Border> border =
        place_border(begins, ideal[d], {problem_.padding, problem_.largest_moved}, has_one_value);
    if (border) {
      borders_.push_back(*border);
      continue;
    }
    const Bucket& bucket = buckets_[part_at(begins, ideal[d])];
    if (refinements_.empty() || refinements_.back().prefix != bucket.prefix)
      list_refinement(bucket);
  }
  borders_.push_back({buckets_.size(), 0});
}

void RadixPartition::refine(std::span<const std::uint64_t> counts) {
  const std::size_t sources = problem_.source_sizes.size();
  std::vector<Bucket> refined;
  std::size_t next = 0;  // refinement
  std::size_t at = 0;    // in counts
  for (Bucket& bucket : buckets_) {
    const bool is_next = next < refinements_.size() && refinements_[next].prefix == bucket.prefix &&
                         refinements_[next].prefix_bits == bucket.prefix_bits;
    if (!is_next) {
      refined.push_back(std::move(bucket));
      continue;
    }
    const Refinement& refinement = refinements_[next++];
    const std::size_t digits = refinement.digits();
    if (counts.size() < at + sources * digits)
      refuse(fmt::format("{} counts", counts.size()), "one for each digit of each source");
    for (std::size_t digit = 0; digit < digits; ++digit) {
      Bucket child{bucket.prefix << refinement.digit_bits | digit,
                   bucket.prefix_bits + refinement.digit_bits,
                   {},
                   0};
      for (std::size_t source = 0; source < sources; ++source)
        child.counts.push_back(counts[at + source * digits + digit]);
      child.size = sum(child.counts);
      if (child.size > 0) refined.push_back(std::move(child));
    }
    for (std::size_t source = 0; source < sources; ++source) {
      const std::uint64_t counted = sum(counts.subspan(at + source * digits, digits));
      if (counted != bucket.counts[source])
        refuse(fmt::format("{} keys counted on source {}", counted, source),
               fmt::format("the {} keys of the bucket", bucket.counts[source]));
    }
    at += sources * digits;
  }
  buckets_ = std::move(refined);
  refined_.insert(refined_.end(), refinements_.begin(), refinements_.end());
  place_borders();
}

std::vector<std::uint64_t> RadixPartition::destination_sizes() const {
  const std::vector<std::uint64_t> begins = bucket_begins();
  std::vector<std::uint64_t> sizes;
  for (std::size_t d = 0; d + 1 < borders_.size(); ++d) {
    const auto position = [&](const Border& border) {
      return begins[border.bucket] + border.offset;
    };
    sizes.push_back(position(borders_[d + 1]) - position(borders_[d]));
  }
  return sizes;
}

namespace {

/// The tasks of one destination.
class Tasks {
 public:
  Tasks(int key_bits, std::uint64_t small) : key_bits_(key_bits), small_(small) {}

  void add(const Bucket& bucket, std::uint64_t size) {
    if (size == 0) return;
    SortTask task{end_, size, key_bits_ - bucket.prefix_bits};
    end_ += size;
    if (!tasks_.empty() && tasks_.back().size + size <= small_) {
      task.remaining_bits = std::max(
          {task.remaining_bits, tasks_.back().remaining_bits, differing_bits(first_, bucket)});
      task.begin = tasks_.back().begin;
      task.size += tasks_.back().size;
      tasks_.back() = task;
    } else {
      first_ = {bucket.prefix, bucket.prefix_bits, {}, 0};
      tasks_.push_back(task);
    }
  }

  [[nodiscard]] std::vector<SortTask> take() { return std::move(tasks_); }

 private:
  /// How many low bits hold all that keys of the two can differ in.
  [[nodiscard]] int differing_bits(const Bucket& a, const Bucket& b) const {
    const int common = std::min(a.prefix_bits, b.prefix_bits);
    if (common == 0) return key_bits_;
    const std::uint64_t differing =
        (a.prefix >> (a.prefix_bits - common)) ^ (b.prefix >> (b.prefix_bits - common));
    return key_bits_ - common + static_cast<int>(std::bit_width(differing));
  }

  int key_bits_;
  std::uint64_t small_;
  std::uint64_t end_ = 0;
  Bucket first_;  ///< the first bucket of the last task; prefixes ascend, so it differs most
  std::vector<SortTask> tasks_;
};

}  // namespace

std::vector<std::vector<SortTask>> sort_tasks(const RadixPartition& partition,
                                              std::uint64_t small) {
  const std::vector<Bucket>& buckets = partition.buckets();
  const std::vector<Border>& borders = partition.borders();
  std::vector<std::vector<SortTask>> all;
  for (std::size_t d = 0; d + 1 < borders.size(); ++d) {
    Tasks tasks(partition.problem().key_bits, small);
    const Border& begin = borders[d];
    const Border& end = borders[d + 1];
    for (std::size_t b = begin.bucket; b <= end.bucket && b < buckets.size(); ++b) {
      const std::uint64_t from = b == begin.bucket ? begin.offset : 0;
      const std::uint64_t to = b == end.bucket ? end.offset : buckets[b].size;
      tasks.add(buckets[b], to - from);
    }
    all.push_back(tasks.take());
  }
  return all;
}

}  // namespace sortie::multisort::plan
