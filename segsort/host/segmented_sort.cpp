// Segmented sort on the host.
//
// Keys become unsigned integers of the same order (KeyForm). Threads take portions of segments of
// equal work (SegmentQueue), bin them by length (SegmentBatch) and sort each alone (sort_segment);
// a segment too long for that is first split by all threads into segments of one digit value each
// (GiantSegment), or keys alone by the partition of a quicksort (divide_giant()), which are then
// sorted in the same way. Everything is stable, so the result is the
// same for any number of threads.

#include "sortie/segsort/segmented_sort.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "sortie/core/error.hpp"
#include "sortie/core/host_memory.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/large_pages.hpp"
#include "sortie/core/run_report.hpp"
#include "sortie/segsort/host/giant_segment.hpp"
#include "sortie/segsort/host/giant_words.hpp"
#include "sortie/segsort/host/key_form.hpp"
#include "sortie/segsort/host/parallel_parts.hpp"
#include "sortie/segsort/host/segment_queue.hpp"
#include "sortie/segsort/host/segment_tile.hpp"
#include "sortie/segsort/host/short_segments.hpp"
#include "sortie/segsort/host/sort_segment.hpp"
#include "sortie/segsort/host/vector_unit.hpp"
#include "sortie/segsort/offset_check.hpp"

namespace sortie::segsort {

namespace {

using detail::NoValue;
using detail::SegmentTile;

/// A value of any type, of any alignment: only its bytes matter. Words, because compilers take
/// stores of bytes to change anything.
template <class Word>
struct [[gnu::packed]] Opaque {
  Word word;
};

std::uint64_t threads() {
  return static_cast<std::uint64_t>(host_threads());
}

/// Memory that is not touched before it is used: a thread pays for what its segments need.
/// Refuses to pass the memory budget of the context.
class ScratchAllocator {
 public:
  explicit ScratchAllocator(const Context& context) : budget_(context.memory_budget) {}

  template <class T>
  [[nodiscard]] std::unique_ptr<T[]> allocate(std::uint64_t n) const {
    const std::uint64_t bytes = n * sizeof(T);
    if (budget_ != 0 && bytes > budget_) throw out_of_memory(bytes, budget_);
    try {
      auto memory = std::make_unique_for_overwrite<T[]>(n);
      if (bytes >= smallest_advised) advise_large_pages(memory.get(), bytes);
      return memory;
    } catch (const std::bad_alloc&) {
      throw out_of_memory(bytes, host_memory_available());
    }
  }

 private:
  /// Two large pages: less might hold none whole.
  static constexpr std::uint64_t smallest_advised = std::uint64_t{4} << 20;

  static Error out_of_memory(std::uint64_t wanted, std::uint64_t free) {
    return out_of_memory_error("scratch of segmented sort", wanted, free);
  }
  std::uint64_t budget_;
};

/// Room for items while they are sorted.
template <class UKey, class Value>
struct Scratch {
  std::unique_ptr<UKey[]> keys;
  std::unique_ptr<Value[]> values;

  Scratch(const ScratchAllocator& allocator, std::uint64_t n)
      : keys(allocator.allocate<UKey>(n)),
        values(allocator.allocate<Value>(detail::has_values<Value> ? n : 1)) {}
};

/// Sorts the segments of one pair of arrays.
template <class UKey, class Value>
class SegmentSorter {
 public:
  SegmentSorter(UKey* keys, Value* values, KeyForm<UKey> form, const ScratchAllocator& allocator)
      : keys_(keys), values_(values), form_(form), allocator_(allocator) {}

  void sort(const Segments& segments) const {
    SegmentQueue queue(segments, threads());
    for (const std::uint64_t giant : queue.giants())
      sort_giant(segments.begins[giant], segments.length(giant));
    sort_queued(queue);
  }

 private:
  [[nodiscard]] Value* values_at(std::uint64_t i) const {
    return values_ + (detail::has_values<Value> ? i : 0);
  }

  void sort_queued(SegmentQueue& queue) const {
    const std::uint64_t longest = queue.longest();
    if (longest <= 1) return;
    const Scratch<UKey, Value> scratch(allocator_, longest * threads());
    const VectorUnit unit = vector_unit();
    const std::size_t longest_short = longest_short_segment<UKey, Value>(unit);
    parallel_for(threads(), [&](std::uint64_t thread) {
      SegmentTile<UKey, Value> tile;
      const auto sort_short = [&](const ShortSegments& short_segments) {
        sort_short_segments(keys_, values_, form_, short_segments, unit, tile);
      };
      const auto sort_long = [&](std::uint64_t begin, std::uint64_t length) {
        sort_alone(begin, length, scratch, longest * thread);
      };
      SegmentBatch batch(longest_short);
      const auto sort_batch = [&] { batch.sort(sort_short, sort_long); };
      const auto bring_near = [&](std::uint64_t begin) {
        __builtin_prefetch(keys_ + begin, 1);
        if constexpr (detail::has_values<Value>) __builtin_prefetch(values_at(begin), 1);
      };
      while (queue.work(batch, bring_near, sort_batch)) {
      }
    });
  }

  void sort_alone(std::uint64_t begin, std::uint64_t n, const Scratch<UKey, Value>& scratch,
                  std::uint64_t scratch_begin) const {
    UKey* const keys = keys_ + begin;
    form_.encode(keys, n);
    sort_segment(keys, values_at(begin), n, scratch.keys.get() + scratch_begin,
                 scratch.values.get() + (detail::has_values<Value> ? scratch_begin : 0));
    form_.decode(keys, n);
  }

  void sort_giant(std::uint64_t begin, std::uint64_t n) const {
    UKey* const keys = keys_ + begin;
    const Parts parts{n, threads()};
    parts.parallel_for_each(
        [&](std::uint64_t first, std::uint64_t count) { form_.encode(keys + first, count); });
    const GiantParts giant = split_giant(begin, n, parts);
    if (!giant.ends.empty())
      SegmentSorter(keys, values_at(begin), {}, allocator_)
          .sort({erase(std::span<const std::uint64_t>(giant.begins)),
                 erase(std::span<const std::uint64_t>(giant.ends)), n});
    parts.parallel_for_each(
        [&](std::uint64_t first, std::uint64_t count) { form_.decode(keys + first, count); });
  }

  /// Divides a giant into segments; none where nothing is left to be sorted.
  [[nodiscard]] GiantParts split_giant(std::uint64_t begin, std::uint64_t n,
                                       const Parts& parts) const {
    UKey* const keys = keys_ + begin;
    if constexpr (!detail::has_values<Value>) {
      if (has_vector_sort()) {
        const std::uint64_t longest = n / (parts_of_share * threads());
        return divide_giant(keys, n, std::max(longest, shortest_part));
      }
    }
    const Scratch<UKey, Value> scratch(allocator_, n);
    GiantParts giant;
    giant.ends =
        GiantSegment(keys, values_at(begin), parts).split(scratch.keys.get(), scratch.values.get());
    if (giant.ends.empty()) return giant;
    giant.begins.assign(giant.ends.size(), 0);
    std::copy(giant.ends.begin(), giant.ends.end() - 1, giant.begins.begin() + 1);
    return giant;
  }

  /// A quicksort divides a giant until a thread's share has so many parts: SegmentQueue takes none
  /// of them for a giant of its own.
  static constexpr std::uint64_t parts_of_share = 8;
  /// Less is sorted sooner than divided by several threads.
  static constexpr std::uint64_t shortest_part = std::uint64_t{1} << 14;

  UKey* keys_;
  Value* values_;
  KeyForm<UKey> form_;
  const ScratchAllocator& allocator_;
};

/// A whole key with its value, which travels with a part of that key.
template <class UKey, class Value>
struct KeyAndValue {
  UKey key;
  Value value;
};

/// Sorts by a part of the bits: that part becomes the key, and key and value become its value.
template <class UKey, class Value>
void sort_by_bits(UKey* keys, Value* values, const Request& request, const Segments& segments,
                  const ScratchAllocator& allocator) {
  constexpr std::uint64_t value_stride = detail::has_values<Value> ? 1 : 0;
  using Whole = KeyAndValue<UKey, Value>;
  const int bits = request.options.end_bit - request.options.begin_bit;
  const auto mask = static_cast<UKey>((UKey{1} << bits) - 1);
  const UKey flipped = request.options.order == Order::descending ? mask : 0;
  const auto parts = allocator.allocate<UKey>(request.num_items);
  const auto whole = allocator.allocate<Whole>(request.num_items);
  const Parts items{request.num_items, threads()};
  items.parallel_for_each([&](std::uint64_t first, std::uint64_t n) {
    for (std::uint64_t i = first; i < first + n; ++i) {
      parts[i] = ((keys[i] >> request.options.begin_bit) & mask) ^ flipped;
      whole[i] = {keys[i], values[i * value_stride]};
    }
  });
  SegmentSorter<UKey, Whole>(parts.get(), whole.get(), {}, allocator).sort(segments);
  items.parallel_for_each([&](std::uint64_t first, std::uint64_t n) {
    for (std::uint64_t i = first; i < first + n; ++i) {
      keys[i] = whole[i].key;
      if constexpr (detail::has_values<Value>) values[i] = whole[i].value;
    }
  });
}

template <class UKey, class Value>
void sort_typed(const Context& context, const Request& request) {
  auto* const keys = static_cast<UKey*>(request.keys);
  Value none;
  Value* const values = detail::has_values<Value> ? static_cast<Value*>(request.values) : &none;
  const Segments segments{request.begin_offsets, request.end_offsets, request.num_items};
  const ScratchAllocator allocator(context);
  const int bits = request.options.end_bit - request.options.begin_bit;
  if (bits == 0)  // all keys count as equal and keep their order
    return check_offsets(segments.begins, segments.ends, segments.num_items);
  if (bits < static_cast<int>(8 * sizeof(UKey))) {
    sort_by_bits(keys, values, request, segments, allocator);
  } else {
    const KeyForm<UKey> form(request.key_type, request.options.order);
    SegmentSorter(keys, values, form, allocator).sort(segments);
  }
}

template <class UKey>
void sort_keys_of(const Context& context, const Request& request) {
  switch (request.value_bytes) {
    case 0:
      return sort_typed<UKey, NoValue>(context, request);
    case 4:
      return sort_typed<UKey, Opaque<std::uint32_t>>(context, request);
    default:
      return sort_typed<UKey, Opaque<std::uint64_t>>(context, request);
  }
}

}  // namespace

void sort_on_host(const Context& context, const Request& request) {
  start_host_runtime(context.threads);
  const PhaseTimer timer(context, "segmented sort");
  if (key_bits(request.key_type) == 32) {
    sort_keys_of<std::uint32_t>(context, request);
  } else {
    sort_keys_of<std::uint64_t>(context, request);
  }
}

}  // namespace sortie::segsort
