// SPDX-License-Identifier: Apache-2.0
#include "segsort/cuda/ordered_input.cuh"

#include <algorithm>

#include "primitives/cuda/launch.cuh"
#include "segsort/cuda/counting_sort.cuh"
#include "segsort/cuda/radix_passes.cuh"

namespace sortie::segsort {
namespace {

constexpr unsigned int sample_threads = 1024;
constexpr unsigned int copy_threads = few::threads;
/// Distinct keys of a sample up to which an array may have few of them.
constexpr unsigned int few_in_sample = 256;
constexpr unsigned int few_in_sample_with_values = 192;
constexpr unsigned int sample_slots = 4 * sample_threads;
constexpr int copy_words = 4;  ///< of 16 bytes, per thread in a tile

/// Lists the array as one segment. Called by one thread.
template <class Tiles>
__device__ void list_array(const WorkListsOf<Tiles>& lists, std::uint64_t length) {
  const int listed = length > lists.longest() ? grid_partition_class
                     : length <= longest_of_group_class(0)
                         ? block_class_of_groups(0)
                         : block_class_of_groups(group_classes - 1);
  lists.segment(listed, 0) = 0;
  lists.counters->segments[listed] = 1;
}

/// Whether two neighbours contradict an order.
template <class Word>
__device__ bool contradicts(InputKind order, bool has_values, Word key, Word next) {
  if (order == InputKind::ascending) return next < key;
  return has_values ? next >= key : next > key;
}

/// Number of distinct keys of a sample, where 0, a free slot, counts as the greatest key. Called by
/// a block.
template <class Word>
__device__ unsigned int distinct_keys(few::AtomicWord<Word>* table, Word key) {
  for (unsigned int i = threadIdx.x; i < sample_slots; i += sample_threads) table[i] = 0;
  __syncthreads();
  if (key == 0) key = ~key;
  auto slot = static_cast<unsigned int>((std::uint64_t{key} * 0x9e3779b97f4a7c15ULL) >> 52);
  static_assert(sample_slots == 1 << 12);
  few::AtomicWord<Word> found = 0;
  do {
    found = atomicCAS(&table[slot], few::AtomicWord<Word>{0}, few::AtomicWord<Word>{key});
    slot = (slot + 1) % sample_slots;
  } while (found != 0 && found != key);
  return static_cast<unsigned int>(__syncthreads_count(found == 0));
}

/// Cells of equal width into which the range of a sample is divided, and the part of its keys that
/// one of them may have if the keys are evenly spread.
constexpr unsigned int spread_cells = 64;
constexpr unsigned int most_in_cell = sample_threads / 4;
/// The same for a sort by buckets, which may have 2.25 times as many items as the average one.
constexpr unsigned int most_in_cell_for_buckets = 36;
/// Keys of the sample that begin alike, by a hash of 12 bits, from which on a bucket may be too
/// large: evenly spread keys never have so many.
constexpr unsigned int least_heavy_bucket = 8;
/// Digits that differ up to which passes over digits take less time than any others.
constexpr int few_digits = 3;
/// Descents of a sample that is nearly in order.
constexpr unsigned int few_descents = sample_threads / 16;

/// Whether one cell of the range of a sample has more than `most` keys. Called by a block.
template <class Word>
__device__ bool is_uneven(Word key, few::AtomicWord<Word> (&range)[2],
                          unsigned int (&cells)[spread_cells], unsigned int most) {
  if (threadIdx.x < spread_cells) cells[threadIdx.x] = 0;
  if (threadIdx.x < 2) range[threadIdx.x] = threadIdx.x == 0 ? ~few::AtomicWord<Word>{0} : 0;
  __syncthreads();
  atomicMin(&range[0], few::AtomicWord<Word>{key});
  atomicMax(&range[1], few::AtomicWord<Word>{key});
  __syncthreads();
  const Word width = static_cast<Word>(range[1] - range[0]) / spread_cells + 1;
  const auto cell = static_cast<unsigned int>((key - static_cast<Word>(range[0])) / width);
  const unsigned int before = atomicAdd(&cells[cell], 1);
  return __syncthreads_or(before >= most ? 1 : 0) != 0;
}

/// Whether no bucket of an array seems to be much larger than the others, by a sample of which each
/// thread has a key. Called by a block.
template <class Word>
__device__ bool has_even_buckets(Word key, few::AtomicWord<Word>* table,
                                 few::AtomicWord<Word> (&range)[2],
                                 unsigned int (&cells)[spread_cells]) {
  __syncthreads();
  for (unsigned int i = threadIdx.x; i < sample_slots; i += sample_threads) table[i] = 0;
  const bool uneven = is_uneven(key, range, cells, most_in_cell_for_buckets);
  constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  const auto bucket =
      static_cast<unsigned int>(key >> (bits - radix::bucket_passes * radix::digit_bits));
  const auto before = atomicAdd(&table[bucket * 0x9e3779b1u >> 20], few::AtomicWord<Word>{1});
  const bool is_heavy = __syncthreads_or(before + 1 >= least_heavy_bucket ? 1 : 0) != 0;
  return !uneven && !is_heavy && static_cast<Word>(range[1] - range[0]) >> (bits - 1) != 0;
}

/// Whether the keys of a sample are spread over all octaves as evenly as those of even buckets over
/// their range. Called by a block.
template <class Word>
__device__ bool has_even_magnitudes(Word key, unsigned int (&cells)[spread_cells]) {
  constexpr unsigned int octaves = sizeof(Word) * 8;
  static_assert(spread_cells >= octaves);
  __syncthreads();
  if (threadIdx.x < spread_cells) cells[threadIdx.x] = 0;
  __syncthreads();
  const unsigned int octave =
      63 - static_cast<unsigned int>(__clzll(static_cast<long long>(std::uint64_t{key} | 1)));
  const unsigned int before = atomicAdd(&cells[octave], 1);
  constexpr unsigned int most = most_in_cell_for_buckets * spread_cells / octaves;
  return __syncthreads_or(before >= most ? 1 : 0) == 0;
}

/// How to sort an array of which thread t has key t of a sample, and the next. Called by a block.
template <class Word>
__device__ ArrayMethod method_of(DigitUse use, const BitRangeCodec<Word>& codec, Word key,
                                 Word first, Word next, unsigned int distinct,
                                 few::AtomicWord<Word>* table, few::AtomicWord<Word> (&range)[2],
                                 unsigned int (&cells)[spread_cells]) {
  if (use == DigitUse::never) return ArrayMethod::ranges;
  if (use == DigitUse::always) return ArrayMethod::digits;
  if (may_take_buckets(use)) {
    if (has_even_buckets(key, table, range, cells)) return ArrayMethod::buckets;
    if (has_even_magnitudes(key, cells)) return ArrayMethod::magnitudes;
  }
  if (use == DigitUse::buckets_or_digits) return ArrayMethod::digits;
  int differing = 0;
  for (int shift = codec.ignored_bits; shift < static_cast<int>(sizeof(Word)) * 8;
       shift += radix::digit_bits)
    differing += __syncthreads_or(((key ^ first) >> shift) % radix::digits != 0 ? 1 : 0) != 0;
  const int descents = __syncthreads_count(next < key ? 1 : 0);
  const bool uneven = is_uneven(key, range, cells, most_in_cell);
  const bool is_local = distinct <= few_in_sample || descents <= static_cast<int>(few_descents);
  if (differing <= few_digits) return ArrayMethod::digits;
  if (is_local) return ArrayMethod::ranges;
  return uneven ? ArrayMethod::digits : ArrayMethod::ranges;
}

/// One block clears the counters and samples the array: if neighbours at evenly spaced places are
/// all in order, the array may be; if the sample has few distinct keys, the array may have. If
/// neither, or if it is short, the array is left to one of the sorts.
template <class Word, class Tiles>
__global__ void __launch_bounds__(sample_threads)
    sample_order_kernel(Arguments<Word> arguments, WorkListsOf<Tiles> lists, ArrayStart* start,
                        radix::Passes* passes, std::uint64_t passes_bytes, DigitUse use,
                        FewKeysStorage few_keys, std::uint64_t length) {
  __shared__ Word sample[sample_threads + 1];
  __shared__ few::AtomicWord<Word> table[sample_slots];
  __shared__ few::AtomicWord<Word> range[2];
  __shared__ unsigned int cells[spread_cells];
  const unsigned int thread = threadIdx.x;
  for (unsigned int i = thread; i < sizeof(Counters) / 4; i += sample_threads)
    reinterpret_cast<std::uint32_t*>(lists.counters)[i] = 0;
  for (unsigned int i = thread; i < passes_bytes / 4; i += sample_threads)
    reinterpret_cast<std::uint32_t*>(passes)[i] = 0;
  ArrayMethod method = ArrayMethod::ranges;
  InputKind order = InputKind::other;
  if (is_examined(use, length)) {
    const bool ranks_values = few_keys.passes != nullptr;
    // Equal keys may not be exchanged if they have values, or differ in bits that are not compared.
    const bool is_strict = arguments.value_bytes != 0 || arguments.codec.ignored_bits != 0;
    const std::uint64_t place = (length - 1) / sample_threads * thread;
    const Word key = radix::compared_bits(arguments.codec, arguments.keys_in[place]);
    const Word next = radix::compared_bits(arguments.codec, arguments.keys_in[place + 1]);
    sample[thread] = key;
    if (thread + 1 == sample_threads) sample[sample_threads] = next;
    __syncthreads();
    const Word next_of_sample = sample[thread + 1];
    const auto agrees = [&](InputKind tried) {
      return __syncthreads_and(!contradicts(tried, is_strict, key, next) &&
                               !contradicts(tried, false, key, next_of_sample)) != 0;
    };
    if (agrees(InputKind::ascending)) {
      order = InputKind::ascending;
    } else if (agrees(InputKind::descending) && arguments.keys_in != arguments.keys_out) {
      order = InputKind::descending;
    }
    unsigned int distinct = sample_threads;
    const bool may_be_uneven = use == DigitUse::uneven || may_take_buckets(use);
    const bool may_be_few = !is_strict || ranks_values;
    if (order == InputKind::other && (may_be_few || may_be_uneven))
      distinct = distinct_keys(table, key);
    if (order == InputKind::other && may_be_few) {
      few::clear(*few_keys.table);
      if (distinct <= (ranks_values ? few_in_sample_with_values : few_in_sample))
        order = InputKind::few_keys;
    }
    method = method_of(use, arguments.codec, key, sample[0], next_of_sample, distinct, table, range,
                       cells);
  }
  __syncthreads();
  if (thread != 0) return;
  start->begin = 0;
  start->end = length;
  start->decision = {order, method, 0};
  start->blocks_done = 0;
  if (start->decision.is_due(ArrayMethod::ranges)) list_array(lists, length);
}

/// Items in a 16-byte word, in order or reversed.
template <class Item>
struct ItemVector {
  static constexpr int items = 16 / static_cast<int>(sizeof(Item));
  union {
    uint4 whole;
    Item item[items];
  };

  __device__ uint4 reversed() const {
    ItemVector other;
#pragma unroll
    for (int k = 0; k < items; ++k) other.item[k] = item[items - 1 - k];
    return other.whole;
  }
};

/// Whether arrays can be copied in 16-byte words.
template <class Item>
__device__ bool has_vectors(const Item* from, const Item* to, InputKind order,
                            std::uint64_t length) {
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
  return addresses % 16 == 0 &&
         (order == InputKind::ascending || length % ItemVector<Item>::items == 0);
}

/// Copies items in order or in reverse, in tiles of `copy_words` words of a thread, while `goes_on()`
/// returns true. Calls `examine(items, next, has_next)` for the items of each word, and the item
/// after them, if there is one.
template <class Item, class GoesOn, class Examine>
__device__ __forceinline__ void copy_items(const Item* from, Item* to, InputKind order,
                                           std::uint64_t length, const GoesOn& goes_on,
                                           const Examine& examine) {
  const auto place = [&](std::uint64_t i) {
    return order == InputKind::ascending ? i : length - 1 - i;
  };
  using Vector = ItemVector<Item>;
  const std::uint64_t vectors = has_vectors(from, to, order, length) ? length / Vector::items : 0;
  constexpr std::uint64_t tile = copy_threads * copy_words;
  for (std::uint64_t begin = blockIdx.x * tile; begin < vectors && goes_on();
       begin += gridDim.x * tile) {
    Vector loaded[copy_words];
    Item next[copy_words];
#pragma unroll
    for (int r = 0; r < copy_words; ++r) {
      const std::uint64_t v = begin + r * copy_threads + threadIdx.x;
      loaded[r].whole = reinterpret_cast<const uint4*>(from)[min(v, vectors - 1)];
      next[r] = examine.needs_next ? from[min((v + 1) * Vector::items, length - 1)] : Item{};
    }
#pragma unroll
    for (int r = 0; r < copy_words; ++r) {
      const std::uint64_t v = begin + r * copy_threads + threadIdx.x;
      if (v >= vectors) continue;
      examine(loaded[r].item, next[r], (v + 1) * Vector::items < length);
      if (from == to) continue;
      if (order == InputKind::ascending) {
        reinterpret_cast<uint4*>(to)[v] = loaded[r].whole;
      } else {
        reinterpret_cast<uint4*>(to)[vectors - 1 - v] = loaded[r].reversed();
      }
    }
  }
  for (std::uint64_t i = vectors * Vector::items + blockIdx.x * copy_threads + threadIdx.x;
       i < length && goes_on(); i += gridDim.x * copy_threads) {
    const Item items[1] = {from[i]};
    examine(items, from[min(i + 1, length - 1)], i + 1 < length);
    if (from != to) to[place(i)] = items[0];
  }
}

/// Compares the items of a word with their neighbours.
template <class Word>
struct CompareNeighbours {
  static constexpr bool needs_next = true;
  const BitRangeCodec<Word>& codec;
  InputKind order;
  bool is_strict;
  volatile std::uint32_t& disproved;

  template <int Items>
  __device__ void operator()(const Word (&items)[Items], Word next, bool has_next) const {
    bool failed = false;
    Word key = radix::compared_bits(codec, items[0]);
#pragma unroll
    for (int k = 1; k < Items; ++k) {
      const Word following = radix::compared_bits(codec, items[k]);
      failed |= contradicts(order, is_strict, key, following);
      key = following;
    }
    failed |= has_next && contradicts(order, is_strict, key, radix::compared_bits(codec, next));
    if (failed) disproved = 1;
  }
};

struct CompareNothing {
  static constexpr bool needs_next = false;
  template <class Item, int Items>
  __device__ void operator()(const Item (&)[Items], Item, bool) const {}
};

/// Copies the keys that are in order, or counts few distinct ones, as the sample says. The block
/// that ends last lists the array for the sort if the keys were neither, and prepares the pass over
/// the ranks of few keys with values.
template <class Word, class Tiles>
__global__ void __launch_bounds__(copy_threads)
    examine_keys_kernel(Arguments<Word> arguments, WorkListsOf<Tiles> lists, ArrayStart* start,
                        FewKeysStorage few_keys, std::uint64_t length) {
  __shared__ few::Shared<Word> shared;
  __shared__ bool is_last;
  wait_for_preceding_kernels();
  const InputKind sampled = start->decision.sampled;
  if (sampled == InputKind::other) return;
  volatile std::uint32_t& disproved = start->decision.disproved;
  if (sampled == InputKind::few_keys) {
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * copy_threads + threadIdx.x;
         i < few_keys.words; i += std::uint64_t{gridDim.x} * copy_threads)
      few_keys.statuses[i] = 0;
    // One of the keys may be like a free slot.
    const unsigned int most =
        arguments.value_bytes == 0 ? few::most_keys : few::most_keys_with_values - 1;
    few::count(shared, arguments.keys_in, length, most, *few_keys.table, start->decision.disproved);
  } else {
    // As for the sample: equal keys may not be exchanged if something tells them apart.
    const bool is_strict = arguments.value_bytes != 0 || arguments.codec.ignored_bits != 0;
    copy_items(
        arguments.keys_in, arguments.keys_out, sampled, length, [&] { return disproved == 0; },
        CompareNeighbours<Word>{arguments.codec, sampled, is_strict, disproved});
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&start->blocks_done, 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  if (disproved != 0) {
    if (threadIdx.x == 0 && start->decision.method == ArrayMethod::ranges)
      list_array(lists, length);
  } else if (sampled == InputKind::few_keys) {
    few::order(shared, *few_keys.table, arguments.codec);
    if (arguments.value_bytes == 0) return;
    __syncthreads();
    const radix::StartsOfPass starts(few_keys.passes, 0, radix::has_wide_starts(length));
    for (unsigned int d = threadIdx.x; d < radix::digits; d += copy_threads)
      starts.store(d, d < few_keys.table->used ? few_keys.table->positions[d] : length);
    if (threadIdx.x == 0) few_keys.passes->count = 1;
  }
}

/// Writes the keys that have been counted.
template <class Word>
__global__ void __launch_bounds__(counting::fill_threads)
    fill_few_keys_kernel(Arguments<Word> arguments, const ArrayStart* start,
                         const few::FewKeys* few_keys, std::uint64_t length) {
  wait_for_preceding_kernels();
  if (!start->decision.has_few_keys()) return;
  const few::FewKeys& table = *few_keys;
  const auto key_of = [&](unsigned int value) {
    return arguments.codec.decode(static_cast<Word>(table.sorted[value]));
  };
  constexpr unsigned int vectors = 4;
  for (std::uint64_t tile = blockIdx.x; tile < counting::fill_tiles<Word>(length, vectors);
       tile += gridDim.x) {
    counting::fill_tile(tile, vectors, table.positions, table.used, key_of, arguments.keys_out,
                        length);
    __syncthreads();
  }
}

/// Copies the values if the keys have been copied.
template <class Value>
__global__ void __launch_bounds__(copy_threads)
    copy_ordered_values_kernel(const Value* from, Value* to, const ArrayStart* start,
                               std::uint64_t length) {
  wait_for_preceding_kernels();
  const InputKind order = start->decision.sampled;
  const bool is_ordered = order == InputKind::ascending || order == InputKind::descending;
  if (!is_ordered || start->decision.disproved != 0 || from == to) return;
  copy_items(
      from, to, order, length, [] { return true; }, CompareNothing{});
}

/// Copies values that have been moved by the ranks of few distinct keys.
template <class Value>
__global__ void __launch_bounds__(copy_threads)
    copy_ranked_values_kernel(const Value* from, Value* to, const ArrayStart* start,
                              std::uint64_t length) {
  wait_for_preceding_kernels();
  if (!start->decision.has_few_keys()) return;
  copy_items(
      from, to, InputKind::ascending, length, [] { return true; }, CompareNothing{});
}

/// Tiles of an array that is examined or copied.
std::uint64_t copied_tiles(std::uint64_t items) {
  return (items - 1) / copy_threads + 1;
}

/// Calls function(Value{}) for the width of the values.
template <class Function>
cudaError_t with_value(int value_bytes, const Function& function) {
  if (value_bytes == 1) return function(std::uint8_t{});
  if (value_bytes == 2) return function(std::uint16_t{});
  return value_bytes == 4 ? function(std::uint32_t{}) : function(std::uint64_t{});
}

template <class Word>
cudaError_t launch_fill(const LaunchPlan& plan, const Arguments<Word>& arguments,
                        const ArrayStart* start, const few::FewKeys* few_table) {
  return launch_resident(fill_few_keys_kernel<Word>, plan, plan.order,
                         counting::fill_tiles<Word>(plan.num_items, 4), no_limit,
                         counting::fill_threads, 0, arguments, start, few_table, plan.num_items);
}

}  // namespace

template <class Word>
cudaError_t launch_ranked_result(const LaunchPlan& plan, const Arguments<Word>& arguments,
                                 const ArrayStart* start, const few::FewKeys* few_table) {
  const cudaError_t status = launch_fill(plan, arguments, start, few_table);
  if (status != cudaSuccess) return status;
  return with_value(arguments.value_bytes, [&]<class Value>(Value) {
    return launch_resident(copy_ranked_values_kernel<Value>, plan, plan.order,
                           copied_tiles(plan.num_items), no_limit, copy_threads, 0,
                           static_cast<const Value*>(arguments.values_scratch),
                           static_cast<Value*>(arguments.values_out), start, plan.num_items);
  });
}

template <class Tiles, class Word>
cudaError_t launch_array_start(const LaunchPlan& plan, const Arguments<Word>& arguments,
                               const WorkListsOf<Tiles>& lists, ArrayStart* start,
                               radix::Passes* passes, std::uint64_t passes_bytes, DigitUse use,
                               const FewKeysStorage& few_keys) {
  const std::uint64_t n = plan.num_items;
  cudaError_t status =
      launch(sample_order_kernel<Word, Tiles>, 1, sample_threads, 0, plan.stream,
             LaunchOrder::after, arguments, lists, start, passes, passes_bytes, use, few_keys, n);
  if (status != cudaSuccess || !is_examined(use, n)) return status;
  const std::uint64_t tiles = copied_tiles(n);
  status = launch_resident(examine_keys_kernel<Word, Tiles>, plan, plan.order, tiles, no_limit,
                           copy_threads, 0, arguments, lists, start, few_keys, n);
  if (status != cudaSuccess) return status;
  if (arguments.value_bytes == 0) return launch_fill(plan, arguments, start, few_keys.table);
  return with_value(arguments.value_bytes, [&]<class Value>(Value) {
    return launch_resident(copy_ordered_values_kernel<Value>, plan, plan.order, tiles, no_limit,
                           copy_threads, 0, static_cast<const Value*>(arguments.values_in),
                           static_cast<Value*>(arguments.values_out),
                           static_cast<const ArrayStart*>(start), n);
  });
}

template cudaError_t launch_ranked_result(const LaunchPlan&, const Arguments<std::uint32_t>&,
                                          const ArrayStart*, const few::FewKeys*);
template cudaError_t launch_ranked_result(const LaunchPlan&, const Arguments<std::uint64_t>&,
                                          const ArrayStart*, const few::FewKeys*);

#define SORTIE_ARRAY_START(Tiles, Word)                                                  \
  template cudaError_t launch_array_start<Tiles, Word>(                                  \
      const LaunchPlan&, const Arguments<Word>&, const WorkListsOf<Tiles>&, ArrayStart*, \
      radix::Passes*, std::uint64_t, DigitUse, const FewKeysStorage&)
SORTIE_ARRAY_START(LargeTiles, std::uint32_t);
SORTIE_ARRAY_START(LargeTiles, std::uint64_t);
SORTIE_ARRAY_START(SmallTiles, std::uint32_t);
SORTIE_ARRAY_START(SmallTiles, std::uint64_t);
#undef SORTIE_ARRAY_START

}  // namespace sortie::segsort
