// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_top_k.hpp"

#include <algorithm>
#include <cstdint>

#include "core/cuda/device_pool.hpp"
#include "segsort/cuda/bounded_sort.hpp"
#include "segsort/cuda/device_request.hpp"
#include "segsort/cuda/launch_top_k.cuh"
#include "segsort/cuda/policy.cuh"
#include "segsort/cuda/top_k_plan.cuh"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::segsort {
namespace {

bool is_valid_selection(const DeviceTopKRequest& request) {
  const auto is_width = [](int bytes) { return bytes == 4 || bytes == 8; };
  return is_width(request.offset_bytes) &&
         (request.value_bytes == 0 || is_width(request.value_bytes)) && request.num_items >= 0 &&
         request.num_segments >= 0 && request.k >= 0 && request.num_outputs >= 0 &&
         (request.begin_offsets != nullptr || request.num_segments == 0 ||
          request.num_items % request.num_segments == 0);
}

/// How results come into order, and by which way segments are selected from.
enum class Plan {
  select,            ///< results unordered, or ordered by the kernels
  select_then_sort,  ///< more results than the kernels order
  sort_whole,        ///< more results than the kernels select
};

/// Whether the current GPU has the shared memory of the teams' tiles.
bool has_teams() {
  int device = 0;
  int bytes = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
             cudaSuccess &&
         static_cast<std::size_t>(bytes) >= shared_bytes_of_teams;
}

/// Segments up to this length are sorted by teams, if more than most_sorted_in_kernel items are
/// wanted, which no kernel but these orders; or as many, of short segments.
std::int64_t team_longest_of(std::int64_t k) {
  if (k < most_sorted_in_kernel || !has_teams()) return 0;
  if (k == most_sorted_in_kernel) return block_capacity(team_class(0));
  return std::clamp<std::int64_t>(8 * k, warp_tile, longest_of_teams);
}

/// Mean lengths of segments up to which sorting in tiles takes less time than selecting, in order,
/// by k.
std::int64_t longest_mean_of_tiles(std::int64_t k) {
  if (k > most_sorted_in_kernel) return std::max<std::int64_t>(team_longest_of(k), warp_tile);
  return k == 1 ? 16 : k < 32 ? 96 : 256;
}

/// Mean lengths of segments up to which, for k = 1, threads take less time than tiles. On an H100,
/// for keys of 4 bytes threads take 0.5 to 0.6 of the time of tiles for segments of 2 to 8 items,
/// and 1.5 times as long for 16. Narrower keys of longer segments fit a line.
std::int64_t longest_mean_of_threads(const DeviceTopKRequest& request) {
  return key_bytes(request.key_type) < 4 ? 2 * longest_of_any_thread : longest_of_any_thread;
}

/// The longest segment that is sorted in a tile, or, k = 1, that a thread reads; 0: neither. If the
/// kernels for longer segments do not order their results, tiles take all segments that fit.
int tile_longest_of(const DeviceTopKRequest& request) {
  constexpr int longest_of_few = 64;
  if (request.k == 1 && request.num_segments > 1 &&
      request.num_items / request.num_segments <= longest_mean_of_threads(request))
    return longest_of_least;
  if (!request.sorted || request.k > most_selected || request.num_segments <= 1 ||
      request.num_items / request.num_segments > longest_mean_of_tiles(request.k))
    return 0;
  if (team_longest_of(request.k) != 0) return longest_in_warp;
  if (request.k > most_sorted_in_kernel) return warp_tile;
  if (request.k < most_sorted_in_kernel) return longest_of_few;
  return static_cast<int>(longest_mean_of_tiles(request.k));
}

/// Warps read longer segments too if there are enough of them to occupy all warps.
std::uint64_t warp_longest_of(const DeviceTopKRequest& request) {
  constexpr std::int64_t least_segments = 1 << 14;
  return request.k <= most_sorted_in_kernel && request.num_segments >= least_segments
             ? longest_of_streaming_warp
             : longest_of_warp;
}

/// Whether one segment is read by all warps, unless it is shorter than the array.
bool is_streamed(const DeviceTopKRequest& request) {
  const auto items = static_cast<std::uint64_t>(request.num_items);
  return request.num_segments == 1 && items >= shortest_sampled && items <= longest_streamed;
}

Plan plan_of(const DeviceTopKRequest& request) {
  if (request.k > most_selected) return Plan::sort_whole;
  return request.sorted && request.k > most_sorted_in_kernel ? Plan::select_then_sort
                                                             : Plan::select;
}

/// Items of the longest segment that is sorted apart from the selection: of its results, or whole.
std::uint64_t longest_to_sort(const DeviceTopKRequest& request) {
  return plan_of(request) == Plan::select_then_sort ? static_cast<std::uint64_t>(request.k)
                                                    : any_length;
}

/// Whether whole segments may be sorted instead, if the device finds that few are long: the results are
/// where their segments are, so that they need not be copied, and most items are wanted.
bool may_sort_in_place(const DeviceTopKRequest& request) {
  // Of fewer items, launching both ways takes too large a part of the time.
  constexpr std::int64_t least_items = 1 << 22;
  const bool are_in_place =
      request.output_offsets != nullptr && request.output_offsets == request.begin_offsets &&
      request.end_offsets == static_cast<const char*>(request.begin_offsets) + request.offset_bytes;
  const bool are_apart = request.keys_out != nullptr && request.keys_out != request.keys_in &&
                         (request.value_bytes == 0 || (request.values_in != nullptr &&
                                                       request.values_in != request.values_out));
  return are_in_place && are_apart && request.sorted && request.k > 1 &&
         request.k <= most_selected && request.num_segments > 1 &&
         request.num_items >= least_items && request.num_items / request.num_segments < request.k;
}

/// Longer segments are better selected from than sorted. On an H100, k = 32: if their lengths follow
/// a power law up to 2000, 0.59 of the items in those of more than 256, sorting takes 0.84 of the time
/// of selecting.
std::uint64_t longest_sorted_of_plan(std::int64_t k) {
  constexpr std::int64_t of_many = 2048;
  return static_cast<std::uint64_t>(k < most_sorted_in_kernel ? 8 * k : std::max(8 * k, of_many));
}

/// | array            | elements           | for                                                  |
/// |------------------|--------------------|------------------------------------------------------|
/// | lists            | TopKLists          | segments of more than longest_of_warp items          |
/// | stream           | see TopKLists      | one long segment                                     |
/// | keys, values     | outputs or items   | selected items to be sorted, or all items sorted     |
/// | indices          | items              | sort_whole with positions: 0, 1, 2, ...              |
/// | unwanted_keys    | outputs            | select_then_sort, if the caller wants no keys        |
/// | extents          | 2 per segment      | select_then_sort: begins, then ends of the results;  |
/// |                  |                    | sort_whole without offsets: those of the rows        |
/// | sort             | bytes              | temporary storage of the segmented sort              |
/// | plan             | 1                  | may_sort_in_place                                    |
/// | whole_sort       | bytes              | temporary storage of the sort in place; shares that  |
/// |                  |                    | of keys and all that follows: one of the two has no  |
/// |                  |                    | segments                                             |
struct TopKStorage {
  TopKLists lists{};
  std::size_t zeroed_bytes = 0;
  std::uint64_t most_block_tasks = 0;
  bool sorts_results = false;
  char* keys = nullptr;
  char* values = nullptr;
  char* indices = nullptr;
  char* unwanted_keys = nullptr;
  std::uint64_t* extents = nullptr;
  char* sort = nullptr;
  std::size_t sort_bytes = 0;
  DeviceRequest sort_request;
  TopKPlan* plan = nullptr;
  char* whole_sort = nullptr;
  std::size_t whole_sort_bytes = 0;
  DeviceRequest whole_request;
  std::size_t bytes = 0;

  cudaError_t carve(void* base, const DeviceTopKRequest& request, cudaStream_t stream) {
    const auto items = static_cast<std::uint64_t>(request.num_items);
    const auto segments = static_cast<std::uint64_t>(request.num_segments);
    const auto outputs = static_cast<std::uint64_t>(request.num_outputs);
    const auto key = static_cast<std::uint64_t>(key_bytes(request.key_type));
    const auto word = std::max<std::uint64_t>(key, sizeof(std::uint32_t));
    const auto value = static_cast<std::uint64_t>(request.value_bytes);
    const auto k = static_cast<std::uint64_t>(request.k);
    const Plan plan = plan_of(request);
    StorageCarver carver(base);
    const bool by_threads = word == 4 ? begins_with_threads<std::uint32_t>(items, segments, k)
                                      : begins_with_threads<std::uint64_t>(items, segments, k);
    const auto tile_longest = static_cast<std::uint64_t>(tile_longest_of(request));
    const bool by_tiles = tile_longest != 0;
    if (plan != Plan::sort_whole && (by_tiles || by_threads || items > longest_of_warp)) {
      const std::uint64_t of_block = std::min(segments, items / (longest_of_warp + 1));
      const std::uint64_t long_ones = std::min(segments, items / (longest_of_block + 1));
      const std::uint64_t parts = long_ones == 0 ? 0 : items / shortest_part + long_ones;
      const std::uint64_t groups = parts / parts_of_group + long_ones;
      lists.counters = carver.take<TopKCounters>(1);
      lists.parts_done = carver.take<unsigned int>(groups);
      lists.groups_done = carver.take<unsigned int>(long_ones);
      if (items >= shortest_sampled && request.k > most_sorted_in_kernel)
        lists.bounds = carver.take<unsigned long long>(long_ones);
      zeroed_bytes = carver.used();
      const std::uint64_t shortest = (by_tiles ? tile_longest : longest_of_any_thread) + 1;
      if (by_tiles || by_threads)
        lists.warp_segments = carver.take<std::uint64_t>(std::min(segments, items / shortest) + 1);
      lists.block_segments = carver.take<std::uint64_t>(of_block);
      lists.long_segments = carver.take<LongSegment>(long_ones);
      if (by_tiles && team_longest_of(request.k) != 0) {
        std::uint64_t shortest_of_team = tile_longest + 1;
        for (int list = 0; list < team_lists; ++list) {
          lists.team_segments[list] =
              carver.take<std::uint64_t>(std::min(segments, items / shortest_of_team));
          shortest_of_team = block_capacity(team_class(list)) + 1;
        }
      }
      lists.part_owner = carver.take<std::uint32_t>(parts);
      lists.candidates = carver.take<char>((parts + groups) * k * key);
      lists.positions = carver.take<std::uint64_t>((parts + groups) * k);
      lists.candidate_counts = carver.take<std::uint32_t>(parts + groups);
      lists.part_capacity = parts;
      most_block_tasks = of_block + parts;
      if (is_streamed(request)) {
        lists.stream_minima = carver.take<char>(stream_minima * word);
        lists.stream_words = carver.take<char>(stream_capacity * word);
        lists.stream_positions = carver.take<std::uint32_t>(stream_capacity);
      }
    }
    const bool in_place = may_sort_in_place(request);
    if (in_place) this->plan = carver.take<TopKPlan>(1);
    StorageCarver own = carver;
    if (in_place) {
      const cudaError_t status = carve_sort_in_place(own, request, stream);
      if (status != cudaSuccess) return status;
    }
    if (plan != Plan::select) {
      const bool whole = plan == Plan::sort_whole;
      const bool has_positions = value != 0 && request.values_in == nullptr;
      const bool has_rows = request.begin_offsets == nullptr;
      const std::uint64_t offsets_of_rows = has_rows ? segments + 1 : 0;
      const std::uint64_t sorted_segments =
          by_tiles ? std::min(segments, items / (tile_longest + 1)) : segments;
      sorts_results = sorted_segments != 0;
      const std::uint64_t count = whole ? items : sorts_results ? outputs : 0;
      extents = carver.take<std::uint64_t>(whole ? offsets_of_rows : 2 * sorted_segments);
      keys = carver.take<char>(count * key);
      values = carver.take<char>(count * value);
      if (whole && has_positions) indices = carver.take<char>(count * value);
      if (!whole && request.keys_out == nullptr) unwanted_keys = carver.take<char>(count * key);
      sort_request.key_type = request.key_type;
      sort_request.value_bytes = request.value_bytes;
      sort_request.num_items = static_cast<std::int64_t>(count);
      sort_request.num_segments = request.num_segments;
      sort_request.device_num_segments =
          this->plan == nullptr ? request.device_num_segments : &this->plan->selected;
      sort_request.order = request.order;
      sort_request.stable = true;
      if (whole) {
        sort_request.keys_in = request.keys_in;
        sort_request.keys_out = keys;
        sort_request.values_in = has_positions ? indices : request.values_in;
        sort_request.values_out = values;
      } else {
        lists.begins = extents;
        lists.ends = extents == nullptr ? nullptr : extents + sorted_segments;
        sort_request.num_segments = static_cast<std::int64_t>(sorted_segments);
        if (by_tiles && base != nullptr)
          sort_request.device_num_segments =
              reinterpret_cast<const std::int64_t*>(&lists.counters->results);
        sort_request.keys_in = keys;
        sort_request.keys_out = unwanted_keys != nullptr ? unwanted_keys : request.keys_out;
        sort_request.values_in = values;
        sort_request.values_out = request.values_out;
        sort_request.input_is_scratch = true;
      }
      const bool own_extents = !whole || has_rows;
      sort_request.offset_bytes = own_extents ? 8 : request.offset_bytes;
      sort_request.begin_offsets = own_extents ? extents : request.begin_offsets;
      sort_request.end_offsets =
          own_extents ? extents + (whole ? 1 : sorted_segments) : request.end_offsets;
      const cudaError_t status = sort_bounded_on_device(nullptr, sort_bytes, sort_request,
                                                        longest_to_sort(request), stream);
      if (status != cudaSuccess) return status;
      sort = carver.take<char>(sort_bytes);
    }
    bytes = std::max<std::size_t>(
        {carver.used(), own.used(), 1});  // a null pointer would query the size again
    return cudaSuccess;
  }

 private:
  cudaError_t carve_sort_in_place(StorageCarver& carver, const DeviceTopKRequest& request,
                                  cudaStream_t stream) {
    whole_request.key_type = request.key_type;
    whole_request.value_bytes = request.value_bytes;
    whole_request.offset_bytes = request.offset_bytes;
    whole_request.keys_in = request.keys_in;
    whole_request.keys_out = request.keys_out;
    whole_request.values_in = request.values_in;
    whole_request.values_out = request.values_out;
    whole_request.num_items = request.num_items;
    whole_request.num_segments = request.num_segments;
    whole_request.device_num_segments = plan == nullptr ? nullptr : &plan->sorted;
    whole_request.begin_offsets = request.begin_offsets;
    whole_request.end_offsets = request.end_offsets;
    whole_request.order = request.order;
    whole_request.stable = true;
    const cudaError_t status = sort_on_device(nullptr, whole_sort_bytes, whole_request, stream);
    if (status == cudaSuccess) whole_sort = carver.take<char>(whole_sort_bytes);
    return status;
  }
};

/// \tparam Key  unsigned, of the width of the keys
template <class Key>
cudaError_t select_keys(const DeviceTopKRequest& request, TopKStorage& storage,
                        cudaStream_t stream) {
  const Plan plan = plan_of(request);
  const auto offsets = [&](const void* data) {
    return DeviceOffsets{data, request.offset_bytes == 8};
  };
  TopKArguments<Key> arguments{
      .keys_in = static_cast<const Key*>(request.keys_in),
      .keys_out = static_cast<Key*>(request.keys_out),
      .values_in = request.values_in,
      .values_out = request.values_out,
      .value_bytes = request.value_bytes,
      .begin_offsets = offsets(request.begin_offsets),
      .end_offsets = offsets(request.end_offsets),
      .output_offsets = offsets(request.output_offsets),
      .num_items = static_cast<std::uint64_t>(request.num_items),
      .num_segments = static_cast<std::uint64_t>(request.num_segments),
      .num_outputs = static_cast<std::uint64_t>(request.num_outputs),
      .row_length = static_cast<std::uint64_t>(request.num_items / request.num_segments),
      .device_num_segments =
          storage.plan == nullptr ? request.device_num_segments : &storage.plan->selected,
      .k = static_cast<std::uint64_t>(request.k),
      .codec = {KeyCodec<Key>(kind_of(request.key_type), request.order)},
      .sorted = request.sorted && request.k <= most_sorted_in_kernel,
      .chunk = 1,
      .capacity = buffer_capacity(request.k),
      .lists = storage.lists,
      .warp_longest = warp_longest_of(request),
      .tile_longest = tile_longest_of(request),
      .team_longest = static_cast<std::uint64_t>(team_longest_of(request.k))};
  const TopKArguments<Key> of_tiles = arguments;
  cudaError_t status = cudaSuccess;
  if (plan == Plan::sort_whole) {
    std::uint64_t* const offsets = request.begin_offsets == nullptr ? storage.extents : nullptr;
    if (offsets != nullptr || storage.indices != nullptr)
      status = number_items(storage.indices, request.value_bytes, arguments.num_items, offsets,
                            arguments.num_segments, arguments.row_length, stream);
    if (status == cudaSuccess)
      status = sort_on_device(storage.sort, storage.sort_bytes, storage.sort_request, stream);
    if (status != cudaSuccess) return status;
    arguments.keys_in = reinterpret_cast<const Key*>(storage.keys);
    arguments.values_in = storage.values;
    return launch_copy_first(arguments, stream);
  }
  if (plan == Plan::select_then_sort) {
    arguments.keys_out = reinterpret_cast<Key*>(storage.keys);
    arguments.values_out = storage.values;
  }
  ZeroedByPlan zeroed{};
  if (storage.plan != nullptr) {
    const std::uint64_t numbers = storage.zeroed_bytes / sizeof(std::uint32_t);
    if (storage.lists.counters != nullptr && numbers <= most_zeroed_by_plan)
      zeroed = {reinterpret_cast<std::uint32_t*>(storage.lists.counters), numbers};
    const PlannedSegments segments{offsets(request.begin_offsets),
                                   offsets(request.end_offsets),
                                   arguments.num_segments,
                                   request.device_num_segments,
                                   arguments.num_items,
                                   longest_sorted_of_plan(request.k)};
    status = launch(top_k_plan_kernel, 1, plan_threads, 0, stream, LaunchOrder::after, segments,
                    storage.plan, zeroed);
    // Before the selection, whose launches then take no time of a sort.
    if (status == cudaSuccess)
      status = sort_on_device(storage.whole_sort, storage.whole_sort_bytes, storage.whole_request,
                              stream);
  }
  if (status == cudaSuccess && storage.lists.counters != nullptr && zeroed.count == 0)
    status = cudaMemsetAsync(storage.lists.counters, 0, storage.zeroed_bytes, stream);
  if (status == cudaSuccess)
    status = launch_top_k(arguments, of_tiles, storage.most_block_tasks, stream);
  if (status == cudaSuccess && plan == Plan::select_then_sort && storage.sorts_results)
    status = sort_bounded_on_device(storage.sort, storage.sort_bytes, storage.sort_request,
                                    longest_to_sort(request), stream);
  return status;
}

}  // namespace

cudaError_t top_k_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                            const DeviceTopKRequest& request, cudaStream_t stream) {
  if (!is_valid_selection(request) || !is_aligned_storage(temp_storage))
    return cudaErrorInvalidValue;
  TopKStorage storage;
  const cudaError_t status = storage.carve(temp_storage, request, stream);
  if (status != cudaSuccess) return status;
  if (temp_storage == nullptr) {
    temp_storage_bytes = storage.bytes;
    return cudaSuccess;
  }
  if (temp_storage_bytes < storage.bytes) return cudaErrorInvalidValue;
  if (request.num_items == 0 || request.num_segments == 0 || request.k == 0) return cudaSuccess;
  switch (key_bytes(request.key_type)) {
    case 1:
      return select_keys<std::uint8_t>(request, storage, stream);
    case 2:
      return select_keys<std::uint16_t>(request, storage, stream);
    case 4:
      return select_keys<std::uint32_t>(request, storage, stream);
    default:
      return select_keys<std::uint64_t>(request, storage, stream);
  }
}

}  // namespace sortie::segsort
