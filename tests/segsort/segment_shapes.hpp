// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"

namespace sortie::test {

/// How one array is divided into segments.
struct SegmentShape {
  std::string name;
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> ends;
  std::uint64_t num_items = 0;
};

/// Segments of the given lengths, one after the other, `gap` unused items before each and after the
/// last.
inline SegmentShape in_a_row(std::string name, const std::vector<std::uint64_t>& lengths,
                             std::uint64_t gap = 0) {
  SegmentShape shape{std::move(name), {}, {}, gap};
  for (const std::uint64_t length : lengths) {
    shape.begins.push_back(shape.num_items);
    shape.ends.push_back(shape.num_items + length);
    shape.num_items += length + gap;
  }
  return shape;
}

/// The same segments in another order.
inline SegmentShape shuffled(SegmentShape shape, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = shape.begins.size(); i > 1; --i) {
    const std::size_t j = random.below(i);
    std::swap(shape.begins[i - 1], shape.begins[j]);
    std::swap(shape.ends[i - 1], shape.ends[j]);
  }
  return shape;
}

/// The same segments with 0 to `most` unused items before each and after the last, in another
/// order.
inline SegmentShape scattered(const SegmentShape& shape, std::uint64_t most, std::uint64_t seed) {
  Random random(seed);
  SegmentShape result{shape.name + ", scattered", {}, {}, random.below(most + 1)};
  for (std::size_t i = 0; i < shape.begins.size(); ++i) {
    result.begins.push_back(result.num_items);
    result.num_items += shape.ends[i] - shape.begins[i];
    result.ends.push_back(result.num_items);
    result.num_items += random.below(most + 1);
  }
  return shuffled(std::move(result), seed + 1);
}

inline std::vector<std::uint64_t> lengths_below(std::uint64_t bound) {
  std::vector<std::uint64_t> lengths(bound);
  std::iota(lengths.begin(), lengths.end(), 0U);
  return lengths;
}

/// Lengths about every border between two ways of sorting, on the host or on a GPU.
inline std::vector<std::uint64_t> border_lengths() {
  std::vector<std::uint64_t> lengths{0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33};
  for (const std::uint64_t border : {48, 64, 96, 128, 160, 192, 256, 512, 1024, 2048})
    for (const std::uint64_t length : {border - 1, border, border + 1}) lengths.push_back(length);
  lengths.push_back(4097);
  return lengths;
}

/// 2^k - 1, 2^k, 2^k + 1 for every power of two up to `largest`.
inline std::vector<std::uint64_t> lengths_about_powers_of_two(std::uint64_t largest) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t power = 1; power <= largest; power *= 2)
    for (const std::uint64_t length : {power - 1, power, power + 1}) lengths.push_back(length);
  return lengths;
}

/// `count` lengths, length k with a probability proportional to k^-exponent, at most `longest`.
inline std::vector<std::uint64_t> power_law_lengths(std::uint64_t count, double exponent,
                                                    std::uint64_t longest, std::uint64_t seed) {
  std::vector<double> cumulative;
  double sum = 0;
  for (std::uint64_t k = 1; k <= longest; ++k)
    cumulative.push_back(sum += std::pow(static_cast<double>(k), -exponent));
  Random random(seed);
  std::vector<std::uint64_t> lengths(count);
  for (std::uint64_t& length : lengths) {
    const auto at = std::lower_bound(cumulative.begin(), cumulative.end(), random.uniform() * sum);
    length = static_cast<std::uint64_t>(at - cumulative.begin()) + 1;
  }
  return lengths;
}

/// A few segments that all threads (on a GPU: many blocks) have to share, between many short ones.
inline std::vector<std::uint64_t> giants_among_dwarfs() {
  std::vector<std::uint64_t> lengths;
  Random random(5);
  for (const std::uint64_t giant : {70'001, 131'072, 66'000}) {
    for (int i = 0; i < 1500; ++i) lengths.push_back(random.below(12));
    lengths.push_back(giant);
  }
  return lengths;
}

/// One segment of `giant` items in the middle of `count` of 0 to `longest` items.
inline std::vector<std::uint64_t> giant_among_dwarfs(std::uint64_t giant, std::uint64_t count,
                                                     std::uint64_t longest) {
  Random random(6);
  std::vector<std::uint64_t> lengths(count + 1);
  for (std::uint64_t& length : lengths) length = random.below(longest + 1);
  lengths[count / 2] = giant;
  return lengths;
}

/// Segments of most lengths with gaps, in any order, the first offset not 0.
inline SegmentShape mixed_shape() {
  return shuffled(in_a_row("mixed", border_lengths(), 3), 11);
}

inline std::vector<SegmentShape> segment_shapes() {
  return {
      in_a_row("no segments, no items", {}),
      in_a_row("no segments", {}, 10),
      in_a_row("all empty, no items", std::vector<std::uint64_t>(100, 0)),
      in_a_row("all empty", std::vector<std::uint64_t>(100, 0), 1),
      in_a_row("one segment of one", {1}),
      in_a_row("one segment", {1000}),
      in_a_row("2^20 empty segments and one",
               [] {
                 std::vector<std::uint64_t> lengths((1U << 20) + 1, 0);
                 lengths[777'777] = 50;
                 return lengths;
               }()),
      in_a_row("each length below 260", lengths_below(260)),
      in_a_row("power law", power_law_lengths(1000, 1.0, 1000, 3)),
      in_a_row("steep power law", power_law_lengths(10'000, 1.6, 2000, 4)),
      in_a_row("giants among dwarfs", giants_among_dwarfs()),
      mixed_shape(),
  };
}

}  // namespace sortie::test
