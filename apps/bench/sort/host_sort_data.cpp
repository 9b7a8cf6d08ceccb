// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/host_sort_data.hpp"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "apps/sort/record_generator.hpp"
#include "baselines/segment_key_type.hpp"
#include "core/files/checksum.hpp"
#include "core/random.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"
#include "sortie/key_types.hpp"

namespace sortie::bench {
namespace {

using Kind = SortCase::Kind;
using sorting::Distribution;

Distribution distribution_of(Kind kind) {
  switch (kind) {
    case Kind::normal:
      return Distribution::normal;
    case Kind::zipf:
      return Distribution::zipf;
    case Kind::sorted:
      return Distribution::sorted;
    case Kind::reverse:
      return Distribution::reverse;
    case Kind::nearly:
      return Distribution::nearly_sorted;
    case Kind::entropy:
      return Distribution::entropy;
    default:
      return Distribution::uniform;
  }
}

// The numbers of the cases that `gen:` does not provide; the same as on CUDA.
std::uint64_t special_number(Kind kind, int width, Random& random) {
  if (kind == Kind::equal) return 0x1234567890abcdefULL >> (64 - width);
  const std::uint64_t number = random.next();
  return ((number & 1) << 8 | 0xaa) << (width - 16) | number >> (80 - width);
}

// Calls `function` with the key and the value of each item in order.
template <class Key, class Function>
void with_items(const ArrayView& array, Function function) {
  with_value_bytes(array.value_bytes, [&]<class Value>(Value) {
    const std::size_t items = array.keys.size() / sizeof(Key);
    for (std::size_t i = 0; i < items; ++i) {
      Key key;
      std::memcpy(&key, array.keys.data() + i * sizeof key, sizeof key);
      std::uint64_t number = 0;
      if constexpr (!std::is_same_v<Value, NoValue>) {
        Value value;
        std::memcpy(&value, array.values.data() + i * sizeof value, sizeof value);
        number = value;
      }
      function(key, number);
    }
  });
}

template <class Key>
std::uint64_t mix(Key key, std::uint64_t value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &key, sizeof key);
  return Random(Random(bits).next() + value).next();
}

}  // namespace

std::vector<std::byte> host_sort_keys(const SortCase& sort_case, KeyType key, std::uint64_t items,
                                      std::uint64_t seed) {
  const auto key_size = static_cast<std::uint64_t>(key_bytes(key));
  std::vector<std::byte> keys(items * key_size);
  auto* const into = reinterpret_cast<char*>(keys.data());
  if (sort_case.kind == Kind::equal || sort_case.kind == Kind::shared_digit) {
    const sorting::NumberWriter write = sorting::key_writer(key);
    Random random(seed);
    for (std::uint64_t i = 0; i < items; ++i) {
      write(special_number(sort_case.kind, static_cast<int>(8 * key_size), random),
            into + i * key_size);
    }
    return keys;
  }
  sorting::GeneratedRecords wanted;
  wanted.distribution = distribution_of(sort_case.kind);
  wanted.records = items;
  wanted.seed = seed;
  const bool has_parameter = sort_case.kind == Kind::normal || sort_case.kind == Kind::zipf ||
                             sort_case.kind == Kind::nearly || sort_case.kind == Kind::entropy;
  if (has_parameter) wanted.parameter = sort_case.parameter;
  const auto source = sorting::generate_records(wanted, {key, {}});
  const std::uint64_t made = source->read({into, keys.size()});
  if (made != items) {
    throw Error(ErrorKind::check, fmt::format("case {}: found {} keys made, expected {}",
                                              sort_case.name, made, items));
  }
  return keys;
}

std::uint64_t checksum(const ArrayView& array) {
  std::uint64_t sum = 0;
  with_segment_key_type(array.key, [&]<class Key>(Key) {
    with_items<Key>(array, [&](Key key, std::uint64_t value) { sum += mix(key, value); });
  });
  return sum;
}

std::string fault_of(const ArrayView& array, std::uint64_t expected, bool stable) {
  std::uint64_t sum = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t not_stable = 0;
  with_segment_key_type(array.key, [&]<class Key>(Key) {
    bool first = true;
    Key last_key{};
    std::uint64_t last_value = 0;
    with_items<Key>(array, [&](Key key, std::uint64_t value) {
      sum += mix(key, value);
      if (!first && key < last_key) ++out_of_order;
      if (!first && key == last_key && value < last_value) ++not_stable;
      first = false;
      last_key = key;
      last_value = value;
    });
  });
  if (out_of_order != 0) return fmt::format("{} keys out of order", out_of_order);
  if (stable && not_stable != 0) return fmt::format("{} equal keys out of order", not_stable);
  return sum == expected ? "" : "items were lost or changed";
}

}  // namespace sortie::bench
