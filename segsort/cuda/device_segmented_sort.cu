// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_segmented_sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "core/cuda/device_pool.hpp"
#include "segsort/cuda/bounded_sort.hpp"
#include "segsort/cuda/device_request.hpp"
#include "segsort/cuda/double_buffers.hpp"
#include "segsort/cuda/launch_partitions.cuh"
#include "segsort/cuda/launch_radix.cuh"
#include "segsort/cuda/launch_short_digits.cuh"
#include "segsort/cuda/narrow_keys.cuh"
#include "segsort/cuda/ordered_input.cuh"

namespace sortie::segsort {

// Each is instantiated in a source file that CMake generates.
#define SORTIE_EXTERN_LAUNCH(Tiles, Word, value_bytes)                     \
  extern template cudaError_t launch_short<Tiles, Word, value_bytes>(      \
      const LaunchPlan&, const Arguments<Word>&, const WorkLists&);        \
  extern template cudaError_t launch_partitions<Tiles, Word, value_bytes>( \
      const LaunchPlan&, const Arguments<Word>&, const WorkLists&)
#define SORTIE_EXTERN_LAUNCHES(Word, value_bytes)                                           \
  SORTIE_EXTERN_LAUNCH(LargeTiles, Word, value_bytes);                                      \
  SORTIE_EXTERN_LAUNCH(SmallTiles, Word, value_bytes);                                      \
  extern template cudaError_t launch_block_classes<Word, value_bytes>(                      \
      const LaunchPlan&, const Arguments<Word>&, const WorkLists&, int);                    \
  extern template cudaError_t launch_small_sort<Word, value_bytes>(const LaunchPlan&,       \
                                                                   const Arguments<Word>&); \
  extern template cudaError_t launch_radix<Word, value_bytes>(                              \
      const LaunchPlan&, const Arguments<Word>&, const RadixStorage&, const ArrayDecision*, \
      ArrayMethod)
SORTIE_EXTERN_LAUNCHES(std::uint32_t, 0);
SORTIE_EXTERN_LAUNCHES(std::uint32_t, 4);
SORTIE_EXTERN_LAUNCHES(std::uint32_t, 8);
SORTIE_EXTERN_LAUNCHES(std::uint64_t, 0);
SORTIE_EXTERN_LAUNCHES(std::uint64_t, 4);
SORTIE_EXTERN_LAUNCHES(std::uint64_t, 8);
extern template cudaError_t launch_runs(const LaunchPlan&, const Arguments<std::uint32_t>&,
                                        const WorkLists&, ArrayDecision*);
extern template cudaError_t launch_runs(const LaunchPlan&, const Arguments<std::uint64_t>&,
                                        const WorkLists&, ArrayDecision*);
#define SORTIE_EXTERN_RANK_PASS(Word, value_bytes)                                          \
  extern template cudaError_t launch_rank_pass<Word, value_bytes>(                          \
      const LaunchPlan&, const Arguments<Word>&, const RadixStorage&, const ArrayDecision*, \
      const few::FewKeys*)
SORTIE_EXTERN_RANK_PASS(std::uint32_t, 4);
SORTIE_EXTERN_RANK_PASS(std::uint32_t, 8);
SORTIE_EXTERN_RANK_PASS(std::uint64_t, 4);
SORTIE_EXTERN_RANK_PASS(std::uint64_t, 8);
#define SORTIE_EXTERN_ARRAY(Word, value_bytes)                                              \
  SORTIE_EXTERN_RANK_PASS(Word, value_bytes);                                               \
  extern template cudaError_t launch_block_classes<Word, value_bytes>(                      \
      const LaunchPlan&, const Arguments<Word>&, const WorkLists&, int);                    \
  extern template cudaError_t launch_radix<Word, value_bytes>(                              \
      const LaunchPlan&, const Arguments<Word>&, const RadixStorage&, const ArrayDecision*, \
      ArrayMethod)
SORTIE_EXTERN_ARRAY(std::uint32_t, 1);
SORTIE_EXTERN_ARRAY(std::uint32_t, 2);
SORTIE_EXTERN_ARRAY(std::uint64_t, 1);
SORTIE_EXTERN_ARRAY(std::uint64_t, 2);
#undef SORTIE_EXTERN_ARRAY
#undef SORTIE_EXTERN_RANK_PASS
#define SORTIE_EXTERN_SHORT_DIGITS(value_bytes)                                       \
  extern template cudaError_t launch_short_digits<std::uint64_t, value_bytes, false>( \
      const LaunchPlan&, const Arguments<std::uint64_t>&, const ArrayDecision*,       \
      radix::ShortPasses<std::uint64_t>*, radix::Status*)
SORTIE_EXTERN_SHORT_DIGITS(0);
SORTIE_EXTERN_SHORT_DIGITS(1);
SORTIE_EXTERN_SHORT_DIGITS(2);
SORTIE_EXTERN_SHORT_DIGITS(4);
SORTIE_EXTERN_SHORT_DIGITS(8);
#undef SORTIE_EXTERN_SHORT_DIGITS
#undef SORTIE_EXTERN_LAUNCHES
#undef SORTIE_EXTERN_LAUNCH

namespace {

std::map<Policy, RegisteredSort>& registered_policies() {
  static std::map<Policy, RegisteredSort> policies;
  return policies;
}

int shared_bytes_limit = 0;  // 0: none
std::optional<DigitUse> preset_digit_use;

/// Least numbers of items (keys of 4 bytes alone, others) at which evenly spread keys are sorted by
/// buckets, and the largest: a bucket of 2.25 times the average size then still fits a tile. On an
/// H100, pairs of 4 bytes take 0.57 ms (2^24), 2.0 (2^26) and 8.6 (2^28) by buckets, by digits 0.71,
/// 2.6 and 10.6.
constexpr std::int64_t least_by_buckets[] = {1 << 22, static_cast<std::int64_t>(least_examined)};
constexpr std::int64_t most_by_buckets = 1 << 28;

/// A request whose array may be sorted by passes that alternate between the input and the output.
struct TiledRequest : DeviceRequest {
  bool alternates = false;
  std::uint64_t longest = any_length;  ///< no segment has more items
};

/// Whether an array is sorted in place. A query of the size may be without arrays: then it is not.
bool is_in_place(const DeviceRequest& request) {
  return request.keys_in != nullptr && request.keys_in == request.keys_out;
}

/// Number of bits that are compared.
int compared_bits(const DeviceRequest& request) {
  const int end_bit = request.end_bit < 0 ? key_bits(request.key_type) : request.end_bit;
  return end_bit - request.begin_bit;
}

/// Which arrays that can are sorted by digits.
DigitUse digit_use_by_size(const DeviceRequest& request) {
  const bool takes_all_bits = compared_bits(request) == key_bits(request.key_type);
  const bool is_short_key = key_bits(request.key_type) == 32;
  if (request.num_items < static_cast<std::int64_t>(least_examined))
    return is_short_key || !takes_all_bits ? DigitUse::never : DigitUse::buckets_or_digits;
  // Ranges do not carry values of 1 or 2 bytes.
  if (request.value_bytes == 1 || request.value_bytes == 2)
    return takes_all_bits && request.num_items <= most_by_buckets ? DigitUse::buckets_or_digits
                                                                  : DigitUse::always;
  const DigitUse buckets = is_short_key ? DigitUse::buckets_or_digits : DigitUse::buckets;
  if (preset_digit_use == DigitUse::buckets) return takes_all_bits ? buckets : DigitUse::always;
  if (preset_digit_use.has_value()) return *preset_digit_use;
  // One pass, which needs no copy of the items.
  if (compared_bits(request) <= radix::digit_bits) return DigitUse::always;
  const bool is_short_item = is_short_key && request.value_bytes == 0;
  if (request.num_items > most_by_buckets)
    return is_short_item ? DigitUse::always : DigitUse::uneven;
  if (takes_all_bits && request.num_items >= least_by_buckets[is_short_item ? 0 : 1])
    return buckets;
  // Their passes are few.
  if (is_short_key) return DigitUse::always;
  return DigitUse::uneven;
}

/// Which arrays are sorted by digits. The input must stay as it is, since passes alternate between
/// the output and the scratch, unless one of these is the input.
template <class Tiles>
DigitUse digit_use(const TiledRequest& request) {
  const bool keeps_input =
      !request.input_is_scratch && !request.value_input_is_scratch && !is_in_place(request);
  if (!Tiles::has_small_sort || !request.is_array || !(request.alternates || keeps_input) ||
      request.num_items < static_cast<std::int64_t>(least_long_keys_examined))
    return DigitUse::never;
  const DigitUse use = digit_use_by_size(request);
  if (!request.alternates || use == DigitUse::never) return use;
  // Ranges would need more storage.
  return may_take_buckets(use) ? DigitUse::buckets_or_digits : DigitUse::always;
}

/// Whether the kernels that sort by ranges are launched for an array.
bool may_take_ranges(DigitUse use) {
  return use == DigitUse::never || use == DigitUse::uneven || use == DigitUse::buckets;
}

/// Returns function.operator()<Word, value bytes>() for the widths of a valid request.
template <class Function>
auto with_widths(const DeviceRequest& request, const Function& function) {
  const auto with_word = [&]<class Word>(Word) {
    if (request.value_bytes == 0) return function.template operator()<Word, 0>();
    if (request.value_bytes == 1) return function.template operator()<Word, 1>();
    if (request.value_bytes == 2) return function.template operator()<Word, 2>();
    if (request.value_bytes == 4) return function.template operator()<Word, 4>();
    return function.template operator()<Word, 8>();
  };
  return key_bits(request.key_type) == 32 ? with_word(std::uint32_t{}) : with_word(std::uint64_t{});
}

/// Whether the fallback of a sort by buckets is that of short arrays.
bool takes_short_digits(DigitUse use, std::uint64_t items) {
  return use == DigitUse::buckets_or_digits && items < least_examined;
}

/// Whether no segment can exceed the tiles of blocks.
template <class Tiles>
bool are_in_blocks(const TiledRequest& request) {
  return !request.is_array && request.longest <= longest_in_block<Tiles>;
}

/// Number of the block classes that segments may take.
template <class Tiles>
int block_classes_of(const TiledRequest& request) {
  if (request.longest <= longest_in_warp) return 0;
  return std::min(block_class(request.longest) + 1, Tiles::used_block_classes);
}

template <class Tiles>
struct TemporaryStorage {
  WorkLists lists{};
  Scratch scratch;
  ArrayStart* array = nullptr;  ///< set if one segment has all items
  RadixStorage radix;  ///< for arrays that may be sorted by digits; shares that of the lists
  few::FewKeys* own_few_keys = nullptr;  ///< set if there is no scratch buffer
  std::size_t bytes = 0;

  TemporaryStorage(void* base, const TiledRequest& request) {
    const auto items = static_cast<std::uint64_t>(request.num_items);
    const auto segments =
        static_cast<std::uint64_t>(std::min(request.num_segments, segments_per_pass));
    const std::uint64_t key_bytes = static_cast<std::uint64_t>(key_bits(request.key_type)) / 8;
    StorageCarver carver(base);
    const auto take_scratch = [&] {
      if (request.alternates) {
        scratch = {request.keys_out, request.values_out};
        return;
      }
      if (digit_use<Tiles>(request) == DigitUse::always &&
          compared_bits(request) <= radix::digit_bits)
        return;
      if (!request.input_is_scratch) scratch.keys = carver.take<char>(items * key_bytes);
      if (!request.input_is_scratch && !request.value_input_is_scratch)
        scratch.values = carver.take<char>(items * static_cast<std::uint64_t>(request.value_bytes));
    };
    const DigitUse use = digit_use<Tiles>(request);
    if (request.is_array) {
      array = carver.take<ArrayStart>(1);
      if (request.input_is_scratch && is_examined(use, items))
        own_few_keys = carver.take<few::FewKeys>(1);
    }
    if (use != DigitUse::never) {
      take_passes(carver, use, request);
      lists.counters = carver.take<Counters>(1);
      take_scratch();
      if (may_take_buckets(use)) {
        lists.group_capacity = buckets::runs(items);
        if (may_take_ranges(use))
          lists.group_capacity = std::max(lists.group_capacity, most_groups(request, key_bytes));
        // The statuses of short_digits_kernel do not take the place of lists.
        if (takes_short_digits(use, items)) lists.groups = carver.take<Group>(lists.group_capacity);
      }
      StorageCarver own = carver;
      radix.statuses =
          own.take<radix::Status>(with_widths(request, [&]<class Word, int ValueBytes>() {
            std::uint64_t words = radix::status_words<Word, ValueBytes>(items);
            if (takes_short_digits(use, items))
              words = std::max(words, radix::short_status_words<Word, ValueBytes>(items));
            return words;
          }));
      if (may_take_buckets(use) && !takes_short_digits(use, items)) {
        lists.groups = carver.take<Group>(lists.group_capacity);
        radix.counters = lists.counters;
      }
      bytes = std::max(own.used(), carver.used());
      if (!may_take_ranges(use)) return;
    }
    if (!request.is_array && Tiles::has_small_sort && items <= most_items_of_small_sort) {
      // No lists; scratch only if a segment can exceed the tile.
      if (items > longest_of_small_tile) take_scratch();
      bytes = std::max<std::size_t>(carver.used(), 1);  // a null pointer would query the size again
      return;
    }
    if (use == DigitUse::never) lists.counters = carver.take<Counters>(1);
    lists.cuts_may_float = !request.is_array;
    for (int pair = 0; pair < long_classes / 2; ++pair) {
      const std::uint64_t shortest = shortest_of_long_class<Tiles>(2 * pair);
      const bool is_empty = shortest == 0 || shortest > request.longest;
      const std::uint64_t capacity = request.is_array ? 1
                                     : is_empty       ? 0
                                                      : std::min(segments, items / shortest);
      lists.capacity[pair] = static_cast<std::uint32_t>(capacity);
      lists.segments[pair] = carver.take<std::uint32_t>(capacity);
    }
    const bool in_blocks = are_in_blocks<Tiles>(request);
    const std::uint64_t parts = in_blocks ? 0 : items / (longest_in_block<Tiles> + 1);
    if (parts != 0) {
      if (!may_take_buckets(use)) {
        lists.group_capacity = most_groups(request, key_bytes);
        lists.groups = carver.take<Group>(lists.group_capacity);
      }
      lists.parts = carver.take<Part>(most_parts(items));
      if (use == DigitUse::never) take_scratch();
    }
    const std::uint64_t shared_parts =
        in_blocks ? 0 : most_shared_parts(items, request.is_array, Tiles::longest_group);
    if (shared_parts != 0) {
      for (SharedPart*& list : lists.shared_parts) list = carver.take<SharedPart>(shared_parts);
      const std::uint64_t tiles = items / Tiles::smallest_partition_tile + 1;
      if (Tiles::has_small_sort && request.is_array && !request.input_is_scratch &&
          !is_in_place(request)) {
        const ArrayRows rows(items, tiles);
        lists.part_capacity = rows.parts;
        lists.chunk_capacity = rows.chunks;
        lists.histograms = carver.take<std::uint64_t>(rows.histograms * most_buckets);
        lists.tile_group_rows_in_scratch = true;
        lists.tile_group_row_capacity = rows.tile_groups;
        lists.tile_group_rows = carver.take<std::uint32_t>(rows.tile_groups * most_buckets);
        // Behind the rows of the tile groups.
        if (scratch.keys != nullptr)
          lists.input_histograms =
              static_cast<std::uint64_t*>(scratch.keys) + tiles * most_buckets / 2;
        bytes = std::max<std::size_t>(bytes, carver.used());
        return;
      }
      lists.histograms = carver.take<std::uint64_t>(
          most_histogram_rows<Tiles>(items, shared_parts) * most_buckets);
      // Without a scratch buffer, the list has rows for the greatest possible number of tile
      // groups.
      const std::uint64_t rows = items / Tiles::smallest_partition_tile + shared_parts;
      lists.tile_group_rows_in_scratch = !request.input_is_scratch;
      lists.tile_group_row_capacity =
          request.input_is_scratch ? rows : std::min(rows, most_tile_group_rows);
      lists.tile_group_rows =
          carver.take<std::uint32_t>(lists.tile_group_row_capacity * most_buckets);
    }
    bytes = std::max<std::size_t>(bytes, carver.used());
  }

  /// Of an array that is examined by all bits: its items are not in the scratch buffer yet.
  [[nodiscard]] few::FewKeys* few_keys() const {
    static_assert(sizeof(few::FewKeys) <= 4 * least_examined &&
                  sizeof(few::FewKeys) <= 8 * least_long_keys_examined);
    return own_few_keys != nullptr ? own_few_keys : static_cast<few::FewKeys*>(scratch.keys);
  }

 private:
  void take_passes(StorageCarver& carver, DigitUse use, const DeviceRequest& request) {
    const auto items = static_cast<std::uint64_t>(request.num_items);
    const int passes = std::max((compared_bits(request) - 1) / radix::digit_bits + 1, 1);
    const std::uint64_t of_buckets = radix::passes_bytes(radix::bucket_passes, items);
    std::uint64_t own = radix::passes_bytes(passes, items);
    if (takes_short_digits(use, items)) {
      own = radix::short_passes_bytes<std::uint64_t>(passes);
      radix.passes_bytes = std::max(own, of_buckets);
    } else {
      radix.passes_bytes = own + (may_take_buckets(use) ? of_buckets : 0);
    }
    auto* const all = carver.take<char>(radix.passes_bytes);
    radix.passes = reinterpret_cast<radix::Passes*>(all);
    // A null pointer has no neighbour.
    if (all != nullptr)
      radix.bucket_passes =
          reinterpret_cast<radix::Passes*>(takes_short_digits(use, items) ? all : all + own);
  }
  static std::uint64_t most_parts(std::uint64_t items) { return items / Tiles::longest_group + 1; }
  /// Two neighbouring groups of a part together exceed a tile, unless a large bucket separates
  /// them; each pass takes at least four bits off such a bucket, except for one with a floating cut.
  /// Arrays have none, so that they need no more storage than cub::DeviceRadixSort.
  static std::uint64_t most_groups(const DeviceRequest& request, std::uint64_t key_bytes) {
    const auto items = static_cast<std::uint64_t>(request.num_items);
    const std::uint64_t passes = 2 * key_bytes + (request.is_array ? 0 : 1);
    return 2 * (items / longest_of_group_class(0) + 1) + 2 * passes * most_parts(items);
  }
};

/// Launches all kernels of a sort. \pre the counters are zeroed, if there are lists and no array
template <class Tiles, class Word, int ValueBytes>
cudaError_t launch_sort(const LaunchPlan& plan, const Arguments<Word>& arguments,
                        const TemporaryStorage<Tiles>& temporary, const TiledRequest& request) {
  const WorkLists& lists = temporary.lists;
  const RadixStorage& storage = temporary.radix;
  ArrayStart* const array = temporary.array;
  few::FewKeys* const few_table = temporary.few_keys();
  const DigitUse use = digit_use<Tiles>(request);
  if constexpr (!is_of_arrays<ValueBytes>)
    if (lists.counters == nullptr) return launch_small_sort<Word, ValueBytes>(plan, arguments);
  FewKeysStorage few_keys{few_table};
  if (use != DigitUse::never && can_rank_values<Word, ValueBytes>(plan.num_items, arguments.codec))
    few_keys = {few_table, storage.passes, storage.statuses,
                radix::status_words<Word, ValueBytes>(plan.num_items)};
  cudaError_t status = cudaSuccess;
  if (plan.is_array)
    status = launch_array_start(plan, arguments, WorkListsOf<Tiles>{lists}, array, storage.passes,
                                storage.passes_bytes, use, few_keys);
  if constexpr (!is_of_arrays<ValueBytes>)
    if (!plan.is_array) status = launch_short<Tiles, Word, ValueBytes>(plan, arguments, lists);
  if constexpr (ValueBytes != 0) {
    if (status == cudaSuccess && few_keys.passes != nullptr)
      status =
          launch_rank_pass<Word, ValueBytes>(plan, arguments, storage, &array->decision, few_table);
    if (status == cudaSuccess && few_keys.passes != nullptr && ends_in_input(arguments))
      status = launch_ranked_result(plan, arguments, array, few_table);
  }
  const auto launch_passes = [&](ArrayMethod method) {
    return launch_radix<Word, ValueBytes>(plan, arguments, storage, &array->decision, method);
  };
  if (status == cudaSuccess && may_take_buckets(use)) {
    status = launch_passes(ArrayMethod::buckets);
    if (status == cudaSuccess) status = launch_runs(plan, arguments, lists, &array->decision);
  }
  if (takes_short_digits(use, plan.num_items)) {
    if constexpr (sizeof(Word) == 8) {
      if (status == cudaSuccess)
        status = launch_short_digits<Word, ValueBytes>(
            plan, arguments, &array->decision,
            reinterpret_cast<radix::ShortPasses<Word>*>(storage.passes), storage.statuses);
    }
  } else if (status == cudaSuccess && use != DigitUse::never) {
    status = launch_passes(ArrayMethod::digits);
  }
  if (use == DigitUse::always) return status;
  if constexpr (!is_of_arrays<ValueBytes>)
    if (status == cudaSuccess && may_take_ranges(use) && !are_in_blocks<Tiles>(request))
      status = launch_partitions<Tiles, Word, ValueBytes>(plan, arguments, lists);
  if (status != cudaSuccess) return status;
  // Runs of short arrays take the smaller tiles of groups only.
  return launch_block_classes<Word, ValueBytes>(plan, arguments, lists,
                                                takes_short_digits(use, plan.num_items)
                                                    ? block_class_of_groups(0) + 1
                                                    : block_classes_of<Tiles>(request));
}

/// Makes the input the output or the scratch buffer, of which the other is the output of the request.
template <class Word>
void let_alternate(Arguments<Word>& arguments) {
  auto* const keys = const_cast<Word*>(arguments.keys_in);
  auto* const values = const_cast<void*>(arguments.values_in);
  if (passes_end_in_input(BitRangeCodec<Word>::bits - arguments.codec.ignored_bits)) {
    arguments.keys_out = keys;
    arguments.values_out = values;
  } else {
    arguments.keys_scratch = keys;
    arguments.values_scratch = values;
  }
}

/// Sorts with the tiles of one row of the policy.
template <class Tiles>
cudaError_t sort_in_tiles(void* temp_storage, std::size_t& temp_storage_bytes,
                          const TiledRequest& request, const DeviceLimits& limits,
                          cudaStream_t stream) {
  const TemporaryStorage<Tiles> storage(temp_storage, request);
  if (temp_storage == nullptr) {
    temp_storage_bytes = storage.bytes;
    return cudaSuccess;
  }
  if (temp_storage_bytes < storage.bytes) return cudaErrorInvalidValue;
  if (request.num_items == 0 || request.num_segments == 0) return cudaSuccess;

  cudaError_t status = cudaSuccess;
  for (std::int64_t first = 0; first < request.num_segments; first += segments_per_pass) {
    const std::int64_t segments = std::min(segments_per_pass, request.num_segments - first);
    const LaunchPlan plan{
        static_cast<std::uint64_t>(request.num_items),
        static_cast<std::uint64_t>(segments),
        limits,
        stream,
        limits.has_dependent_launch ? LaunchOrder::overlapping : LaunchOrder::after,
        request.is_array};
    if (storage.lists.counters != nullptr && !plan.is_array)
      status = cudaMemsetAsync(storage.lists.counters, 0, sizeof(Counters), stream);
    if (status != cudaSuccess) return status;
    status = with_widths(request, [&]<class Word, int ValueBytes>() {
      Arguments<Word> arguments = arguments_of<Word>(request, storage.scratch, first, segments);
      if (plan.is_array) {
        arguments.begin_offsets = {&storage.array->begin, true};
        arguments.end_offsets = {&storage.array->end, true};
      }
      if (request.alternates) let_alternate(arguments);
      return launch_sort<Tiles, Word, ValueBytes>(plan, arguments, storage, request);
    });
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

/// Largest shared memory per block, over all kernels.
template <class Tiles, class Word, int ValueBytes>
constexpr std::size_t most_shared_bytes() {
  // Tiles of arrays are less than those with values of 4 bytes.
  if constexpr (is_of_arrays<ValueBytes>) return most_shared_bytes<Tiles, Word, 4>();
  using Single =
      PartitionShared<Word, ValueBytes, Tiles::template single_block_shape<Word, ValueBytes>>;
  constexpr std::size_t large =
      std::max({Tiles::batch_threads / 32 * sizeof(BatchShared<Word, ValueBytes, std::uint64_t>),
                sizeof(TileOfClass<Word, ValueBytes, Tiles::used_block_classes - 1>),
                sizeof(GridShared<Word, ValueBytes, Tiles>), sizeof(Single)});
  if constexpr (Tiles::has_small_sort) {
    return std::max(large, sizeof(SmallSortShared<Word, ValueBytes>));
  } else {
    return std::max(large, sizeof(Single) + sizeof(PendingParts<Tiles>));
  }
}
static_assert(most_shared_bytes<SmallTiles, std::uint64_t, 8>() <= 48 * 1024);

bool fits_large_tiles(const DeviceRequest& request, const DeviceLimits& limits) {
  const std::size_t wanted = with_widths(request, [&]<class Word, int ValueBytes>() {
    return most_shared_bytes<LargeTiles, Word, ValueBytes>();
  });
  return wanted <= static_cast<std::size_t>(limited_shared_bytes(limits.shared_bytes));
}

/// Sorts whole or narrower keys with the largest tiles that fit the shared memory of the GPU.
/// \param alternates  takes and returns whether passes alternate between the input and the output
cudaError_t sort_in_fitting_tiles(void* temp_storage, std::size_t& temp_storage_bytes,
                                  const DeviceRequest& request, std::uint64_t longest,
                                  bool& alternates, cudaStream_t stream) {
  if (!is_valid(request)) return cudaErrorInvalidValue;
  DeviceLimits limits;
  const cudaError_t queried = limits.query();
  // The size may be queried without a GPU.
  if (queried != cudaSuccess && temp_storage != nullptr) return queried;
  limits.shared_bytes = limited_shared_bytes(limits.shared_bytes);
  // The large tiles are sized for data-centre GPUs, which have about twice as much shared memory as
  // others.
  const bool has_room = queried != cudaSuccess || fits_large_tiles(request, limits);
  if (!has_room && (request.value_bytes == 1 || request.value_bytes == 2))
    return cudaErrorNotSupported;
  TiledRequest tiled{request, alternates, longest};
  alternates = alternates && has_room && digit_use<LargeTiles>(tiled) != DigitUse::never;
  tiled.alternates = alternates;
  if (alternates) tiled.input_is_scratch = tiled.value_input_is_scratch = false;
  return has_room
             ? sort_in_tiles<LargeTiles>(temp_storage, temp_storage_bytes, tiled, limits, stream)
             : sort_in_tiles<SmallTiles>(temp_storage, temp_storage_bytes, tiled, limits, stream);
}

}  // namespace

bool is_valid(const DeviceRequest& request) {
  const int bits = key_bits(request.key_type);
  const int end_bit = request.end_bit < 0 ? bits : request.end_bit;
  const bool all_bits = end_bit - request.begin_bit == bits;
  if (bits != 32 && bits != 64) return false;
  if (request.num_items < 0 || request.num_segments < 0) return false;
  if (request.begin_bit < 0 || request.begin_bit > end_bit || end_bit > bits) return false;
  if (!all_bits && request.ranges != nullptr) return false;
  const bool is_carried =
      request.is_array && (request.value_bytes == 1 || request.value_bytes == 2);
  if (request.value_bytes != 0 && request.value_bytes != 4 && request.value_bytes != 8 &&
      !is_carried)
    return false;
  return request.offset_bytes == 4 || request.offset_bytes == 8;
}

bool has_large_tiles(const DeviceRequest& request) {
  DeviceLimits limits;
  return limits.query() != cudaSuccess || fits_large_tiles(request, limits);
}

void register_policy(Policy policy, RegisteredSort sort) {
  registered_policies().emplace(policy, sort);
}

void preset_use_of_digits(std::optional<DigitUse> use) {
  preset_digit_use = use;
}

bool has_preset_use_of_digits() {
  return preset_digit_use.has_value();
}

void limit_shared_bytes(int bytes) {
  shared_bytes_limit = bytes;
}
int limited_shared_bytes(int bytes) {
  return shared_bytes_limit == 0 ? bytes : std::min(bytes, shared_bytes_limit);
}

cudaError_t sort_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                           const DeviceRequest& request, cudaStream_t stream) {
  if (!is_aligned_storage(temp_storage)) return cudaErrorInvalidValue;
  if (request.policy != Policy::tuned) {
    const auto known = registered_policies().find(request.policy);
    if (known == registered_policies().end()) return cudaErrorNotSupported;
    return known->second(temp_storage, temp_storage_bytes, request, stream);
  }
  return sort_bounded_on_device(temp_storage, temp_storage_bytes, request, any_length, stream);
}

cudaError_t sort_bounded_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                   const DeviceRequest& request, std::uint64_t longest,
                                   cudaStream_t stream) {
  if (!is_aligned_storage(temp_storage)) return cudaErrorInvalidValue;
  if (key_bytes(request.key_type) < 4)
    return sort_narrow_keys(temp_storage, temp_storage_bytes, request, longest, stream);
  bool alternates = false;
  return sort_in_fitting_tiles(temp_storage, temp_storage_bytes, request, longest, alternates,
                               stream);
}

cudaError_t sort_double_buffers_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                          const DeviceRequest& request, bool& is_in_input,
                                          cudaStream_t stream) {
  if (!is_aligned_storage(temp_storage)) return cudaErrorInvalidValue;
  bool alternates = true;
  const cudaError_t status = sort_in_fitting_tiles(temp_storage, temp_storage_bytes, request,
                                                   any_length, alternates, stream);
  is_in_input = alternates && passes_end_in_input(compared_bits(request));
  return status;
}

}  // namespace sortie::segsort
