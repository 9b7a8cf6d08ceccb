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
        n_(n),
        words_(allocate_array<Opaque<Word>>(context, scratch_name, n)) {
    for_each_index(0, n, [this](std::uint64_t i) { words_[i].word = word(i); });
  }

  [[nodiscard]] Opaque<Word>* words() { return words_.get(); }

  /// Writes keys and values in the order of the words.
  /// \param scratch  as many keys
  void write_back(UKey* scratch) const {
    if constexpr (hold_items) {
      for_each_index(0, n_, [items = items_, words = words_.get()](std::uint64_t i) {
        if constexpr (alone) {
          items.keys[i] = words[i].word;
        } else {
          items.keys[i] = static_cast<UKey>(words[i].word >> 32);
          items.values[i].word = static_cast<std::uint32_t>(words[i].word);
        }
      });
    } else {
      const auto value_scratch = allocate_array<Value>(context_, scratch_name, n_);
      const Items<UKey, Value> sorted{scratch, value_scratch.get()};
      for_each_index(0, n_, [sorted, items = items_, words = words_.get()](std::uint64_t i) {
        sorted.keys[i] = items.keys[words[i].word];
        sorted.values[i] = items.values[words[i].word];
      });
      for_each_share(thread_shares(n_), [&](std::uint64_t, std::uint64_t first, std::uint64_t end) {
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
  std::uint64_t n_;
  HostArray<Opaque<Word>> words_;
};

/// Sorts by some bits of the keys: these bits become the key, and the original key and value are
/// the payload.
template <class UKey, class Value>
void sort_by_bits(Items<UKey, Value> items, const Request& request, const Segments& segments,
                  const HostContext& context) {
  const int begin_bit = request.options.begin_bit;
  const int bits = request.options.end_bit - begin_bit;
  const auto mask = static_cast<UKey>((UKey{1} << bits) - 1);
  const UKey flipped = request.options.order == Order::descending ? mask : 0;
  const auto storage = allocate_array<UKey>(context, scratch_name, request.num_items);
  UKey* const parts = storage.get();
  for_each_index(0, request.num_items, [=](std::uint64_t i) {
    parts[i] = ((items.keys[i] >> begin_bit) & mask) ^ flipped;
  });
  PayloadWords<UKey, Value> payload(context, items, request.num_items);
  SegmentSorter(Items{parts, payload.words()}, {}, context).sort(segments);
  payload.write_back(parts);
}

template <class UKey, class Value>
void sort_typed(const Context& context, const Request& request) {
  const Items<UKey, Value> items{static_cast<UKey*>(request.keys),
                                 static_cast<Value*>(request.values)};
  const Segments segments{request.begin_offsets, request.end_offsets, request.num_items};
  const int bits = request.options.end_bit - request.options.begin_bit;
  if (bits == 0)  // all keys count as equal and keep their order
    return check_offsets(segments.begins, segments.ends, segments.num_items);
  if (bits < static_cast<int>(8 * sizeof(UKey))) {
    sort_by_bits(items, request, segments, context);
  } else {
    const KeyCodec<UKey> codec(kind_of(request.key_type), request.options.order);
    SegmentSorter(items, codec, context).sort(segments);
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
