#include "sortie/apps/bench/segment_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "sortie/apps/bench/key_dispatch.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/random.hpp"

namespace sortie::bench {
namespace {

constexpr int highest_length_power = 16;  // equal lengths 1, 2, 4, ..., 65536, and 2^20

// Row lengths of sparse matrices and graphs: P(length) ~ length^-exponent for 1..longest.
struct PowerLaw {
  double exponent;
  std::uint64_t longest;

  [[nodiscard]] std::string name() const {
    return fmt::format("power law a={:.1f} max {}", exponent, longest);
  }
};
constexpr std::array power_laws = {PowerLaw{0.1, 500}, PowerLaw{0.5, 200}, PowerLaw{1.0, 1000},
                                   PowerLaw{1.6, 50}, PowerLaw{1.6, 2000}};

// Dwarfs of 1..64 items among segments of 1/64 of all: one such giant, or half the items in giants.
constexpr std::string_view few_huge = "skew, few huge";
constexpr std::string_view half_huge = "skew, half in huge";
constexpr std::string_view one_segment = "one segment";
constexpr std::uint64_t longest_dwarf = 64;
constexpr std::uint64_t giants_a_case = 64;

std::string equal_length_name(std::uint64_t length) {
  return fmt::format("length {}", length);
}

std::vector<std::uint64_t> equal_lengths() {
  std::vector<std::uint64_t> lengths;
  for (int power = 0; power <= highest_length_power; ++power) {
    lengths.push_back(std::uint64_t{1} << power);
  }
  lengths.push_back(std::uint64_t{1} << 20);
  return lengths;
}

// Appends segments of the lengths that `next_length` gives until there are `items` items.
template <class NextLength>
void fill(std::vector<std::uint64_t>& offsets, std::uint64_t items, NextLength next_length) {
  while (offsets.back() < items) {
    offsets.push_back(offsets.back() + std::min(next_length(), items - offsets.back()));
  }
}

void fill_power_law(std::vector<std::uint64_t>& offsets, std::uint64_t items, PowerLaw law,
                    Random& random) {
  std::vector<double> cumulative;
  double sum = 0;
  for (std::uint64_t length = 1; length <= law.longest; ++length) {
    sum += std::pow(static_cast<double>(length), -law.exponent);
    cumulative.push_back(sum);
  }
  fill(offsets, items, [&] {
    const auto found =
        std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform() * sum);
    const auto rank = static_cast<std::uint64_t>(found - cumulative.begin());
    return std::min(rank + 1, law.longest);
  });
}

void fill_skew(std::vector<std::uint64_t>& offsets, std::uint64_t items, std::uint64_t giants,
               Random& random) {
  const std::uint64_t giant = std::max<std::uint64_t>(items / giants_a_case, 1);
  const std::uint64_t dwarfs = items - std::min(items, giants * giant);
  for (std::uint64_t i = 0; i < giants && offsets.back() < items; ++i) {
    const std::uint64_t dwarfs_here = dwarfs / giants;
    fill(offsets, std::min(items, offsets.back() + dwarfs_here),
         [&] { return 1 + random.below(longest_dwarf); });
    offsets.push_back(std::min(items, offsets.back() + giant));
  }
  fill(offsets, items, [&] { return 1 + random.below(longest_dwarf); });
}

template <class Key>
Key random_key(Random& random) {
  if constexpr (std::is_floating_point_v<Key>) {
    return static_cast<Key>(random.uniform(-1, 1));
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

std::vector<std::string> segment_case_names() {
  std::vector<std::string> names;
  for (const std::uint64_t length : equal_lengths()) names.push_back(equal_length_name(length));
  names.emplace_back(one_segment);
  for (const PowerLaw& law : power_laws) names.push_back(law.name());
  names.emplace_back(few_huge);
  names.emplace_back(half_huge);
  return names;
}

SegmentCase make_segment_case(const std::string& name, std::uint64_t items, std::uint64_t seed) {
  SegmentCase segments{name, {0}};
  Random random(seed);
  for (const std::uint64_t length : equal_lengths()) {
    if (name == equal_length_name(length)) {
      fill(segments.offsets, items, [length] { return length; });
      return segments;
    }
  }
  for (const PowerLaw& law : power_laws) {
    if (name == law.name()) {
      fill_power_law(segments.offsets, items, law, random);
      return segments;
    }
  }
  if (name == one_segment) {
    segments.offsets.push_back(items);
  } else if (name == few_huge) {
    fill_skew(segments.offsets, items, 2, random);
  } else if (name == half_huge) {
    fill_skew(segments.offsets, items, giants_a_case / 2, random);
  } else {
    throw Error(ErrorKind::usage, fmt::format("case: found {}, expected one of: {}", quoted(name),
                                              fmt::join(segment_case_names(), "; ")));
  }
  return segments;
}

std::vector<std::byte> random_keys(KeyType type, std::uint64_t items, std::uint64_t seed) {
  return with_key_type(type, [&]<class Key>(Key) {
    std::vector<std::byte> bytes(items * sizeof(Key));
    Key* keys = reinterpret_cast<Key*>(bytes.data());
    Random random(seed);
    for (std::uint64_t i = 0; i < items; ++i) keys[i] = random_key<Key>(random);
    return bytes;
  });
}

std::vector<std::byte> index_values(int value_bytes, std::uint64_t items) {
  if (value_bytes == 4 && items > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::usage,
                fmt::format("found {} items, expected values of 8 bytes to count them", items));
  }
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
  return with_key_type(type, [&]<class Key>(Key) {
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
