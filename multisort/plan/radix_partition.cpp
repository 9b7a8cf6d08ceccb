// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/radix_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "primitives/host/parallel.hpp"
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

void RadixPartition::place_borders() {
  std::vector<std::uint64_t> begins{0};
  for (const Bucket& bucket : buckets_) begins.push_back(begins.back() + bucket.size);
  const std::vector<std::uint64_t> ideal = begins_of(problem_.destination_sizes);
  sizes_.clear();
  refinements_.clear();
  const auto has_one_value = [&](std::size_t bucket) {
    return buckets_[bucket].prefix_bits == problem_.key_bits;
  };
  std::uint64_t last = 0;
  for (std::size_t d = 1; d < ideal.size(); ++d) {
    const std::optional<std::uint64_t> border =
        place_border(begins, ideal[d], {problem_.padding, problem_.largest_moved}, has_one_value);
    if (border) {
      sizes_.push_back(*border - last);
      last = *border;
      continue;
    }
    const Bucket& bucket = buckets_[part_at(begins, ideal[d])];
    if (refinements_.empty() || refinements_.back().prefix != bucket.prefix)
      list_refinement(bucket);
  }
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

KeyRange keys_of_prefix(std::uint64_t prefix, int prefix_bits, int key_bits) {
  const int open = key_bits - prefix_bits;
  if (open == 0) return {prefix, prefix};
  const std::uint64_t least = open == 64 ? 0 : prefix << open;
  return {least, least | ~std::uint64_t{0} >> (64 - open)};
}

KeyTree key_tree_of(const RadixPartition& partition, const std::vector<std::uint16_t>& groups) {
  // Maps (bits, prefix) to the group of a bucket, or to the node of a refined bucket.
  std::map<std::pair<int, std::uint64_t>, std::size_t> known;
  for (std::size_t b = 0; b < groups.size(); ++b) {
    const Bucket& bucket = partition.buckets()[b];
    known[{bucket.prefix_bits, bucket.prefix}] = groups[b];
  }
  for (std::size_t i = 0; i < partition.refined().size(); ++i) {
    const Refinement& refined = partition.refined()[i];
    known[{refined.prefix_bits, refined.prefix}] = KeyTree::node_flag | i;
  }

  const int key_bits = partition.problem().key_bits;
  KeyTree tree;
  for (const Refinement& refined : partition.refined()) {
    const int child_bits = refined.prefix_bits + refined.digit_bits;
    tree.nodes.push_back({keys_of_prefix(refined.prefix, refined.prefix_bits, key_bits).least,
                          key_bits - child_bits, static_cast<std::uint32_t>(refined.digits() - 1),
                          static_cast<std::uint32_t>(tree.entries.size())});
    for (std::uint64_t digit = 0; digit < refined.digits(); ++digit) {
      const auto child = known.find({child_bits, refined.prefix << refined.digit_bits | digit});
      // A digit without keys has no bucket; its entry is never read.
      tree.entries.push_back(static_cast<std::uint16_t>(child == known.end() ? 0 : child->second));
    }
  }
  return tree;
}

}  // namespace sortie::multisort::plan
