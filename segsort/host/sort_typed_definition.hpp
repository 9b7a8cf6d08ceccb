// SPDX-License-Identifier: Apache-2.0
#pragma once

// Definition of sort_keys_of(), which CMake instantiates in one source file per key width.

#include <cstdint>
#include <type_traits>

#include "segsort/backends.hpp"
#include "segsort/host/segment_sorter.hpp"

namespace sortie::segsort {

namespace detail {

/// Payload of a sort by some bits of the keys: one word per item. The word holds the key, or key
/// and value where both fit; otherwise it holds the index of the item. Word types are value types
/// that SegmentSorter is instantiated for anyway, so no further instance is compiled.
template <class UKey, class Value>
class PayloadWords {
 public:
  static constexpr bool alone = !has_values<Value>;
  static constexpr bool hold_items = alone || sizeof(UKey) + sizeof(Value) == 8;
  using Word = std::conditional_t<alone, UKey, std::uint64_t>;

  PayloadWords(const HostContext& context, Items<UKey, Value> items, std::uint64_t n)
      : context_(context),
        items_(items),
        shares_{n, worker_threads()},
        words_(allocate_scratch<Opaque<Word>>(context, n)) {
    for_each_share(shares_, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
      for (std::uint64_t i = first; i < end; ++i) words_[i].word = word(i);
    });
  }

  [[nodiscard]] Opaque<Word>* words() { return words_.get(); }

  /// Writes keys and values in the order of the words.
  /// \param scratch  as many keys
  void write_back(UKey* scratch) const {
    if constexpr (hold_items) {
      for_each_share(shares_, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) {
          if constexpr (alone) {
            items_.keys[i] = words_[i].word;
          } else {
            items_.keys[i] = static_cast<UKey>(words_[i].word >> 32);
            items_.values[i].word = static_cast<std::uint32_t>(words_[i].word);
          }
        }
      });
    } else {
      const auto value_scratch = allocate_scratch<Value>(context_, shares_.items);
      const Items<UKey, Value> sorted{scratch, value_scratch.get()};
      for_each_share(shares_, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) {
          sorted.keys[i] = items_.keys[words_[i].word];
          sorted.values[i] = items_.values[words_[i].word];
        }
      });
      for_each_share(shares_, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
        copy_items(sorted.from(first), end - first, items_.from(first));
      });
    }
  }

 private:
  [[nodiscard]] Word word(std::uint64_t i) const {
    if constexpr (alone) {
      return items_.keys[i];
    } else if constexpr (hold_items) {
      return word_of(items_, i);
    } else {
      return i;
    }
  }

  const HostContext& context_;
  Items<UKey, Value> items_;
  EqualShares shares_;
  HostArray<Opaque<Word>> words_;
};

/// Sorts by some bits of the keys: these bits become the key, and the original key and value are
/// the payload.
template <class UKey, class Value>
void sort_by_bits(UKey* keys, Value* values, const Request& request, const Segments& segments,
                  const HostContext& context) {
  const int bits = request.options.end_bit - request.options.begin_bit;
  const auto mask = static_cast<UKey>((UKey{1} << bits) - 1);
  const UKey flipped = request.options.order == Order::descending ? mask : 0;
  const auto parts = allocate_scratch<UKey>(context, request.num_items);
  const EqualShares items{request.num_items, worker_threads()};
  for_each_share(items, [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i)
      parts[i] = ((keys[i] >> request.options.begin_bit) & mask) ^ flipped;
  });
  PayloadWords<UKey, Value> payload(context, {keys, values}, request.num_items);
  SegmentSorter(parts.get(), payload.words(), {}, context).sort(segments);
  payload.write_back(parts.get());
}

template <class UKey, class Value>
void sort_typed(const Context& context, const Request& request) {
  auto* const keys = static_cast<UKey*>(request.keys);
  Value none;
  Value* const values = has_values<Value> ? static_cast<Value*>(request.values) : &none;
  const Segments segments{request.begin_offsets, request.end_offsets, request.num_items};
  const int bits = request.options.end_bit - request.options.begin_bit;
  if (bits == 0)  // all keys count as equal and keep their order
    return check_offsets(segments.begins, segments.ends, segments.num_items);
  if (bits < static_cast<int>(8 * sizeof(UKey))) {
    sort_by_bits(keys, values, request, segments, context);
  } else {
    const KeyCodec<UKey> codec(kind_of(request.key_type), request.options.order);
    SegmentSorter(keys, values, codec, context).sort(segments);
  }
}

}  // namespace detail

template <std::unsigned_integral UKey>
void sort_keys_of(const Context& context, const Request& request) {
  switch (request.value_bytes) {
    case 0:
      return detail::sort_typed<UKey, NoValue>(context, request);
    case 4:
      return detail::sort_typed<UKey, Opaque<std::uint32_t>>(context, request);
    default:
      return detail::sort_typed<UKey, Opaque<std::uint64_t>>(context, request);
  }
}

}  // namespace sortie::segsort
