// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/segment_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "baselines/segment_key_type.hpp"
#include "core/random.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

constexpr int highest_length_power = 16;  // equal lengths 1, 2, 4, ..., 65536, and 2^20

// Power laws of the row lengths of sparse matrices and graphs: exponent and maximum length.
struct PowerLaw {
  double exponent;
  std::uint64_t longest;
};
constexpr std::array power_laws = {PowerLaw{0.1, 500}, PowerLaw{0.5, 200}, PowerLaw{1.0, 1000},
                                   PowerLaw{1.6, 50}, PowerLaw{1.6, 2000}};
// Limits the size of the table of cumulative weights.
constexpr std::uint64_t longest_of_power_law = std::uint64_t{1} << 24;

constexpr std::string_view few_huge = "skew, few huge";
constexpr std::string_view half_huge = "skew, half in huge";
constexpr std::string_view one_segment = "one segment";
constexpr std::uint64_t longest_short = 64;
constexpr std::uint64_t max_huge_segments = 64;  // a huge segment holds 1/64 of all items

std::string equal_length_name(std::uint64_t length) {
  return fmt::format("length {}", length);
}

std::string power_law_name(PowerLaw law) {
  return fmt::format("power law a={:.1f} max {}", law.exponent, law.longest);
}

std::vector<std::uint64_t> equal_lengths() {
  std::vector<std::uint64_t> lengths;
  for (int power = 0; power <= highest_length_power; ++power) {
    lengths.push_back(std::uint64_t{1} << power);
  }
  lengths.push_back(std::uint64_t{1} << 20);
  return lengths;
}

// Appends segments with the lengths returned by `next_length` until there are `items` items.
template <class NextLength>
void fill(std::vector<std::uint64_t>& offsets, std::uint64_t items, NextLength next_length) {
  while (offsets.back() < items) {
    offsets.push_back(offsets.back() + std::min(next_length(), items - offsets.back()));
  }
}

void fill_power_law(std::vector<std::uint64_t>& offsets, std::uint64_t items,
                    const SegmentShape& shape, Random& random) {
  const std::vector<double> cumulative = cumulative_power_law(shape);
  fill(offsets, items, [&] {
    const auto found = std::upper_bound(cumulative.begin(), cumulative.end(),
                                        random.uniform() * cumulative.back());
    const auto rank = static_cast<std::uint64_t>(found - cumulative.begin());
    return std::min(rank + 1, shape.longest);
  });
}

std::uint64_t huge_length(std::uint64_t items) {
  return std::max<std::uint64_t>(items / max_huge_segments, 1);
}

void fill_skew(std::vector<std::uint64_t>& offsets, std::uint64_t items,
               std::uint64_t huge_segments, Random& random) {
  const std::uint64_t huge = huge_length(items);
  const std::uint64_t short_items = items - std::min(items, huge_segments * huge);
  for (std::uint64_t i = 0; i < huge_segments && offsets.back() < items; ++i) {
    const std::uint64_t short_items_here = short_items / huge_segments;
    fill(offsets, std::min(items, offsets.back() + short_items_here),
         [&] { return 1 + random.below(longest_short); });
    offsets.push_back(std::min(items, offsets.back() + huge));
  }
  fill(offsets, items, [&] { return 1 + random.below(longest_short); });
}

// Parses a number at the front of `text` and removes it. Returns false if there is none.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool parse_equal(std::string_view name, SegmentShape& shape) {
  shape.kind = SegmentShape::Kind::equal;
  return take_prefix(name, "length ") && take_number(name, shape.length) && name.empty() &&
         shape.length > 0;
}

bool parse_power_law(std::string_view name, SegmentShape& shape) {
  shape.kind = SegmentShape::Kind::power_law;
  return take_prefix(name, "power law a=") && take_number(name, shape.exponent) &&
         take_prefix(name, " max ") && take_number(name, shape.longest) && name.empty() &&
         shape.exponent >= 0 && shape.longest > 0 && shape.longest <= longest_of_power_law;
}

template <class Key>
Key random_key(Random& random) {
  if constexpr (std::is_floating_point_v<Key>) {
    return static_cast<Key>(2 * random.uniform() - 1);
  } else {
    return static_cast<Key>(random.next());
  }
}

template <class Value>
bool values_bring_their_keys(const SegmentCase& segments, const Value* values, auto input,
                             auto keys) {
  std::vector<bool> seen(segments.items());
  for (std::uint64_t segment = 0; segment < segments.segments(); ++segment) {
    const std::uint64_t begin = segments.offsets[segment];
    const std::uint64_t end = segments.offsets[segment + 1];
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t from = values[i];
      if (from < begin || from >= end || seen[from] || keys[i] != input[from]) return false;
      seen[from] = true;
    }
  }
  return true;
}

template <class Key>
bool keys_are_sorted(const SegmentCase& segments, const Key* keys) {
  for (std::uint64_t segment = 0; segment < segments.segments(); ++segment) {
    if (!std::is_sorted(keys + segments.offsets[segment], keys + segments.offsets[segment + 1])) {
      return false;
    }
  }
  return true;
}

template <class Key>
bool keys_are_the_same(const SegmentCase& segments, const Key* input, const Key* keys) {
  std::vector<Key> expected;
  for (std::uint64_t segment = 0; segment < segments.segments(); ++segment) {
    const std::uint64_t begin = segments.offsets[segment];
    expected.assign(input + begin, input + segments.offsets[segment + 1]);
    std::sort(expected.begin(), expected.end());
    if (!std::equal(expected.begin(), expected.end(), keys + begin)) return false;
  }
  return true;
}

}  // namespace

std::uint64_t SegmentShape::longest_of(std::uint64_t items) const {
  switch (kind) {
    case Kind::equal:
      return std::min(length, items);
    case Kind::power_law:
      return std::min(longest, items);
    case Kind::skew:
      return std::min(std::max(huge_length(items), longest_short), items);
  }
  return items;
}

std::vector<double> cumulative_power_law(const SegmentShape& shape) {
  std::vector<double> cumulative;
  double sum = 0;
  for (std::uint64_t length = 1; length <= shape.longest; ++length) {
    sum += std::pow(static_cast<double>(length), -shape.exponent);
    cumulative.push_back(sum);
  }
  return cumulative;
}

std::vector<std::string> segment_case_names() {
  std::vector<std::string> names;
  for (const std::uint64_t length : equal_lengths()) names.push_back(equal_length_name(length));
  names.emplace_back(one_segment);
  for (const PowerLaw& law : power_laws) names.push_back(power_law_name(law));
  names.emplace_back(few_huge);
  names.emplace_back(half_huge);
  return names;
}

SegmentShape parse_segment_case(std::string_view name) {
  SegmentShape shape;
  if (parse_equal(name, shape)) return shape;
  if (parse_power_law(name, shape)) return shape;
  if (name == one_segment)
    return {.kind = SegmentShape::Kind::equal, .length = std::numeric_limits<std::uint64_t>::max()};
  if (name == few_huge) return {.kind = SegmentShape::Kind::skew, .huge_segments = 2};
  if (name == half_huge)
    return {.kind = SegmentShape::Kind::skew, .huge_segments = max_huge_segments / 2};
  throw Error(ErrorKind::usage,
              fmt::format("case: found {}, expected \"length N\", \"power law a=X max N\" or one "
                          "of: {}",
                          sortie::quoted(name), fmt::join(segment_case_names(), "; ")));
}

SegmentCase make_segment_case(const std::string& name, std::uint64_t items, std::uint64_t seed) {
  return make_segment_case(name, parse_segment_case(name), items, seed);
}

SegmentCase make_segment_case(std::string name, const SegmentShape& shape, std::uint64_t items,
                              std::uint64_t seed) {
  SegmentCase segments{std::move(name), {0}};
  Random random(seed);
  switch (shape.kind) {
    case SegmentShape::Kind::equal:
      fill(segments.offsets, items, [&] { return shape.length; });
      break;
    case SegmentShape::Kind::power_law:
      fill_power_law(segments.offsets, items, shape, random);
      break;
    case SegmentShape::Kind::skew:
      fill_skew(segments.offsets, items, shape.huge_segments, random);
      break;
  }
  return segments;
}

std::vector<std::byte> random_keys(KeyType type, std::uint64_t items, std::uint64_t seed) {
  return with_segment_key_type(type, [&]<class Key>(Key) {
    std::vector<std::byte> bytes(items * sizeof(Key));
    Key* keys = reinterpret_cast<Key*>(bytes.data());
    Random random(seed);
    for (std::uint64_t i = 0; i < items; ++i) keys[i] = random_key<Key>(random);
    return bytes;
  });
}

void require_countable(int value_bytes, std::uint64_t items) {
  if (value_bytes == 4 && items > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::usage,
                fmt::format("found {} items, expected values of 8 bytes to count them", items));
  }
}

std::vector<std::byte> index_values(int value_bytes, std::uint64_t items) {
  require_countable(value_bytes, items);
  return with_value_bytes(value_bytes, [&]<class Value>(Value) {
    if constexpr (std::is_same_v<Value, NoValue>) {
      return std::vector<std::byte>();
    } else {
      std::vector<std::byte> bytes(items * sizeof(Value));
      Value* values = reinterpret_cast<Value*>(bytes.data());
      for (std::uint64_t i = 0; i < items; ++i) values[i] = static_cast<Value>(i);
      return bytes;
    }
  });
}

bool is_sorted_result(const SegmentCase& segments, KeyType type, const void* input,
                      const void* keys, const void* values, int value_bytes) {
  return with_segment_key_type(type, [&]<class Key>(Key) {
    const auto* before = static_cast<const Key*>(input);
    const auto* after = static_cast<const Key*>(keys);
    if (!keys_are_sorted(segments, after)) return false;
    return with_value_bytes(value_bytes, [&]<class Value>(Value) {
      if constexpr (std::is_same_v<Value, NoValue>) {
        return keys_are_the_same(segments, before, after);
      } else {
        return values_bring_their_keys(segments, static_cast<const Value*>(values), before, after);
      }
    });
  });
}

}  // namespace sortie::bench
