// SPDX-License-Identifier: Apache-2.0
#include "segsort/cuda/narrow_keys.cuh"

#include <cstdint>

#include "core/cuda/device_pool.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/key_codec.hpp"
#include "segsort/cuda/counting_sort.cuh"
#include "segsort/cuda/launch.cuh"
#include "segsort/cuda/launch_radix.cuh"
#include "segsort/cuda/narrow_long.cuh"
#include "segsort/cuda/narrow_threads.cuh"

namespace sortie::segsort {

/// Defined in launch_narrow_tiles.cuh.
template <class Narrow>
cudaError_t launch_narrow_teams(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments);
extern template cudaError_t launch_narrow_teams(const LaunchPlan&,
                                                const NarrowArguments<std::uint16_t>&);
template <class Narrow>
cudaError_t launch_narrow_tiles(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments);
extern template cudaError_t launch_narrow_tiles(const LaunchPlan&,
                                                const NarrowArguments<std::uint8_t>&);
extern template cudaError_t launch_narrow_tiles(const LaunchPlan&,
                                                const NarrowArguments<std::uint16_t>&);

namespace {

/// Word in the place of an item outside of all segments, which the sort does not write. Those of
/// keys have lower bits 0.
constexpr std::uint32_t no_key = 1;

constexpr unsigned int keys_of_thread = 4;

template <class Narrow>
constexpr int unused_bits = 32 - 8 * static_cast<int>(sizeof(Narrow));

/// Neighbouring keys that are loaded and stored together where their address allows.
template <class Narrow>
struct alignas(keys_of_thread * sizeof(Narrow)) KeyGroup {
  Narrow keys[keys_of_thread];
};
template <class Narrow>
__device__ bool has_groups(const Narrow* keys) {
  return reinterpret_cast<std::uintptr_t>(keys) % sizeof(KeyGroup<Narrow>) == 0;
}

/// words[i] = key i encoded; sorted[i] = no_key. Each thread handles keys_of_thread keys.
template <class Narrow>
__global__ void __launch_bounds__(element_threads)
    widen_kernel(const Narrow* keys, std::uint32_t* words, std::uint32_t* sorted, std::uint64_t n,
                 KeyCodec<Narrow> codec) {
  const std::uint64_t group = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const std::uint64_t first = group * keys_of_thread;
  if (first >= n) return;
  const auto word_of = [&](Narrow key) {
    return std::uint32_t{codec.encoded(key)} << unused_bits<Narrow>;
  };
  if (has_groups(keys) && first + keys_of_thread <= n) {
    const KeyGroup<Narrow> loaded = reinterpret_cast<const KeyGroup<Narrow>*>(keys)[group];
    reinterpret_cast<uint4*>(words)[group] = {word_of(loaded.keys[0]), word_of(loaded.keys[1]),
                                              word_of(loaded.keys[2]), word_of(loaded.keys[3])};
    reinterpret_cast<uint4*>(sorted)[group] = {no_key, no_key, no_key, no_key};
    return;
  }
  for (std::uint64_t i = first; i < min(first + keys_of_thread, n); ++i) {
    words[i] = word_of(keys[i]);
    sorted[i] = no_key;
  }
}

/// Writes the keys of the words that the sort has written. Each thread handles keys_of_thread
/// words.
template <class Narrow>
__global__ void __launch_bounds__(element_threads)
    narrow_kernel(const std::uint32_t* sorted, Narrow* keys, std::uint64_t n,
                  KeyCodec<Narrow> codec) {
  const std::uint64_t group = std::uint64_t{blockIdx.x} * element_threads + threadIdx.x;
  const std::uint64_t first = group * keys_of_thread;
  if (first >= n) return;
  const auto key_of = [&](std::uint32_t word) {
    return codec.decoded(static_cast<Narrow>(word >> unused_bits<Narrow>));
  };
  if (has_groups(keys) && first + keys_of_thread <= n) {
    const uint4 words = reinterpret_cast<const uint4*>(sorted)[group];
    if (words.x != no_key && words.y != no_key && words.z != no_key && words.w != no_key) {
      reinterpret_cast<KeyGroup<Narrow>*>(keys)[group] = {
          {key_of(words.x), key_of(words.y), key_of(words.z), key_of(words.w)}};
      return;
    }
  }
  for (std::uint64_t i = first; i < min(first + keys_of_thread, n); ++i)
    if (sorted[i] != no_key) keys[i] = key_of(sorted[i]);
}

template <class Narrow>
cudaError_t sort_keys_of(void* temp_storage, std::size_t& temp_storage_bytes,
                         const DeviceRequest& request, cudaStream_t stream) {
  const auto n = static_cast<std::uint64_t>(request.num_items);
  const KeyCodec<Narrow> codec(
      request.is_half ? KeyKind::floating_point : kind_of(request.key_type), request.order);
  StorageCarver carver(temp_storage);
  auto* const words = carver.take<std::uint32_t>(n);
  auto* const sorted = carver.take<std::uint32_t>(n);
  DeviceRequest wide = request;
  wide.key_type = KeyType::u32;
  wide.is_half = false;
  wide.order = Order::ascending;
  wide.keys_in = words;
  wide.keys_out = sorted;
  wide.input_is_scratch = request.input_is_scratch || request.value_bytes == 0;
  const int end_bit = request.end_bit < 0 ? codec.bits : request.end_bit;
  // Below the compared bits of whole keys, all words agree.
  const bool compares_all = request.begin_bit == 0 && end_bit == codec.bits;
  wide.begin_bit = compares_all ? 0 : request.begin_bit + unused_bits<Narrow>;
  wide.end_bit = end_bit + unused_bits<Narrow>;
  std::size_t sort_bytes = 0;
  cudaError_t status = sort_on_device(nullptr, sort_bytes, wide, stream);
  if (status != cudaSuccess) return status;
  void* const storage = carver.take<char>(sort_bytes);
  if (temp_storage == nullptr) {
    temp_storage_bytes = carver.used();
    return cudaSuccess;
  }
  if (temp_storage_bytes < carver.used()) return cudaErrorInvalidValue;
  if (n == 0 || request.num_segments == 0) return cudaSuccess;
  const unsigned int blocks = blocks_for(n, std::uint64_t{element_threads} * keys_of_thread);
  status = launch(widen_kernel<Narrow>, blocks, element_threads, 0, stream, LaunchOrder::after,
                  static_cast<const Narrow*>(request.keys_in), words, sorted, n, codec);
  if (status == cudaSuccess) status = sort_on_device(storage, sort_bytes, wide, stream);
  if (status != cudaSuccess) return status;
  return launch(narrow_kernel<Narrow>, blocks, element_threads, 0, stream, LaunchOrder::after,
                static_cast<const std::uint32_t*>(sorted), static_cast<Narrow*>(request.keys_out),
                n, codec);
}

/// Whether the kernels for narrow keys sort the segments: they compare whole keys. Otherwise all
/// keys are widened.
bool compares_whole_keys(const DeviceRequest& request) {
  const int bits = key_bits(request.key_type);
  const int end_bit = request.end_bit < 0 ? bits : request.end_bit;
  return request.num_segments != 0 && end_bit - request.begin_bit == bits;
}

/// Launches the kernel that sorts segments of up to longest_narrow_tile items, and lists the others.
template <class Narrow>
cudaError_t launch_short(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments) {
  const std::uint64_t mean = plan.num_items / plan.num_segments;
  if (arguments.value_bytes != 0 || mean < shortest_mean_of_narrow_threads ||
      mean > longest_mean_of_narrow_threads)
    return launch_narrow_tiles(plan, arguments);
  return launch_resident(narrow_thread_kernel<Narrow>, plan, LaunchOrder::after,
                         (plan.num_segments - 1) / narrow_thread_block + 1, no_limit,
                         static_cast<int>(narrow_thread_block), 0, arguments);
}

/// Launches the kernels that sort by digits the segments of the lists of teams, from List on.
template <class Narrow, int List = 0>
cudaError_t launch_digits(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments) {
  constexpr int warps = 2 << List;
  constexpr int teams = digit_block_warps / warps;
  const std::uint64_t most = plan.most_segments_from(longest_of_digit_list(List - 1) + 1);
  if (most == 0) return cudaSuccess;
  const cudaError_t status = launch_resident(
      narrow_digits_kernel<Narrow, warps>, plan, LaunchOrder::after, (most - 1) / teams + 1,
      no_limit, 32 * digit_block_warps, teams * sizeof(DigitTile<warps>), arguments, List);
  if constexpr (List + 1 < digit_lists)
    if (status == cudaSuccess) return launch_digits<Narrow, List + 1>(plan, arguments);
  return status;
}

/// Keys of 2 bytes are sorted as words if the GPU has the shared memory: one sort takes less time
/// than the passes of two digits.
template <class Narrow>
cudaError_t launch_listed(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments) {
  if constexpr (sizeof(Narrow) == 2)
    if (static_cast<std::size_t>(plan.limits.shared_bytes) >= shared_bytes_of_narrow_teams)
      return launch_narrow_teams(plan, arguments);
  return launch_digits(plan, arguments);
}

/// Launches the kernels for the segments that exceed teams.
template <class Narrow>
cudaError_t launch_long(const LaunchPlan& plan, const NarrowArguments<Narrow>& arguments,
                        Narrow* keys_scratch, void* values_scratch, std::uint64_t pieces) {
  const auto launch = [&](auto kernel, std::uint64_t blocks, unsigned int threads,
                          std::size_t shared_bytes, const auto&... values) {
    return launch_resident(kernel, plan, LaunchOrder::after, blocks, no_limit,
                           static_cast<int>(threads), shared_bytes, values...);
  };
  cudaError_t status = launch(count_narrow_kernel<Narrow>, pieces, narrow_block, 0, arguments);
  if (status == cudaSuccess)
    status = launch(narrow_starts_kernel<Narrow>,
                    plan.most_segments_from(longest_of_digit_teams + 1) * sizeof(Narrow),
                    narrow_digits, 0, arguments);
  if constexpr (sizeof(Narrow) == 1) {
    if (status == cudaSuccess && arguments.value_bytes == 0)
      return launch(fill_narrow_kernel<Narrow>, pieces, narrow_block, 0, arguments);
  }
  for (std::uint32_t pass = 0; pass < sizeof(Narrow) && status == cudaSuccess; ++pass) {
    const bool from_input = pass == 0;
    const bool to_output = pass + 1 == sizeof(Narrow);
    const NarrowPass<Narrow> arrays{pass, from_input ? arguments.keys_in : keys_scratch,
                                    to_output ? arguments.keys_out : keys_scratch,
                                    from_input ? arguments.values_in : values_scratch,
                                    to_output ? arguments.values_out : values_scratch};
    status = launch(narrow_pass_kernel<Narrow>, pieces, narrow_block,
                    sizeof(DigitTile<digit_block_warps>), arguments, arrays);
  }
  return status;
}

/// | array                      | elements        | for                                        |
/// |----------------------------|-----------------|--------------------------------------------|
/// | counters                   | NarrowCounters  |                                            |
/// | starts                     | 256 per digit   | of each segment that exceeds teams         |
/// | statuses                   | 256 per piece   | of these segments                          |
/// | of_team                    | segments        | of more than longest_narrow_tile           |
/// | begins, ends, first_piece  | segments        | of more than longest_of_digit_teams items  |
/// | owner                      | pieces          | of these segments                          |
/// | keys, values               | items           | 2-byte keys: between the passes            |
template <class Narrow>
cudaError_t sort_in_tiles_of(void* temp_storage, std::size_t& temp_storage_bytes,
                             const DeviceRequest& request, std::uint64_t longest,
                             cudaStream_t stream) {
  const auto n = static_cast<std::uint64_t>(request.num_items);
  const auto segments = static_cast<std::uint64_t>(request.num_segments);
  const auto most_beyond = [&](std::uint64_t length) {
    return longest <= length ? 0 : std::min(segments, n / (length + 1));
  };
  const std::uint64_t listed = most_beyond(longest_of_digit_teams);
  const std::uint64_t pieces = listed == 0 ? 0 : n / narrow_piece + listed;
  const auto offsets = [&](const void* data) {
    return DeviceOffsets{data, request.offset_bytes == 8};
  };
  StorageCarver carver(temp_storage);
  NarrowLists lists{};
  lists.counters = carver.take<NarrowCounters>(1);
  lists.starts = carver.take<unsigned long long>(listed * sizeof(Narrow) * narrow_digits);
  if (sizeof(Narrow) != 1 || request.value_bytes != 0)
    lists.statuses = carver.take<unsigned long long>(pieces * narrow_digits);
  const std::size_t zeroed_bytes = carver.used();
  for (int list = 0; list < digit_lists; ++list)
    lists.of_team[list] = carver.take<SegmentExtent>(most_beyond(longest_of_digit_list(list - 1)));
  lists.begins = carver.take<std::uint64_t>(listed);
  lists.ends = carver.take<std::uint64_t>(listed);
  lists.first_piece = carver.take<std::uint64_t>(listed);
  lists.owner = carver.take<std::uint32_t>(pieces);
  const std::uint64_t moved = sizeof(Narrow) == 1 || listed == 0 ? 0 : n;
  auto* const keys_scratch = carver.take<Narrow>(moved);
  auto* const values_scratch =
      carver.take<char>(moved * static_cast<std::uint64_t>(request.value_bytes));
  if (temp_storage == nullptr) {
    temp_storage_bytes = carver.used();
    return cudaSuccess;
  }
  if (temp_storage_bytes < carver.used()) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;

  DeviceLimits limits;
  cudaError_t status = limits.query();
  if (status != cudaSuccess) return status;
  NarrowArguments<Narrow> arguments{
      .keys_in = static_cast<const Narrow*>(request.keys_in),
      .keys_out = static_cast<Narrow*>(request.keys_out),
      .values_in = request.values_in,
      .values_out = request.values_out,
      .value_bytes = request.value_bytes,
      .begin_offsets = offsets(request.begin_offsets),
      .end_offsets = offsets(request.end_offsets),
      .num_segments = segments,
      .device_num_segments = request.device_num_segments,
      .codec = KeyCodec<Narrow>(
          request.is_half ? KeyKind::floating_point : kind_of(request.key_type), request.order),
      .lists = lists};
  const LaunchPlan plan{n, segments, limits, stream, LaunchOrder::after, false};
  status = cudaMemsetAsync(lists.counters, 0, zeroed_bytes, stream);
  if (status == cudaSuccess) status = launch_short(plan, arguments);
  if (status == cudaSuccess && longest > longest_narrow_tile)
    status = launch_listed(plan, arguments);
  if (status != cudaSuccess || listed == 0) return status;
  return launch_long(plan, arguments, keys_scratch, values_scratch, pieces);
}

/// Whether one segment is sorted as an array, by kernels that read where it begins and ends.
bool is_sorted_as_array(const DeviceRequest& request) {
  return request.num_segments == 1 &&
         static_cast<std::uint64_t>(request.num_items) > longest_of_digit_teams;
}

/// Keys alone are counted if there are enough; other items take a pass for each digit.
///
/// | array           | elements               | for                                              |
/// |-----------------|------------------------|--------------------------------------------------|
/// | counters        | 2 per value of a key   | keys that are counted                            |
/// | passes          | radix::Passes          | items that are sorted by digits                  |
/// | keys, values    | items                  | 2-byte keys: between the passes                  |
/// | statuses        | radix::status_words()  |                                                  |
template <class Narrow, int ValueBytes>
cudaError_t sort_one_of(void* temp_storage, std::size_t& temp_storage_bytes,
                        const DeviceRequest& request, cudaStream_t stream) {
  const auto n = static_cast<std::uint64_t>(request.num_items);
  const auto offsets = [&](const void* data) {
    return DeviceOffsets{data, request.offset_bytes == 8};
  };
  const KeyKind kind = request.is_half ? KeyKind::floating_point : kind_of(request.key_type);
  const bool counts = ValueBytes == 0 && n >= counting::least_counted<Narrow>;
  StorageCarver carver(temp_storage);
  void* const counters = counts ? carver.take<char>(counting::storage_bytes<Narrow>) : nullptr;
  Arguments<Narrow> arguments{};
  RadixStorage storage;
  if (!counts) {
    storage.passes = reinterpret_cast<radix::Passes*>(
        carver.take<char>(radix::passes_bytes(radix::all_passes<Narrow>, n)));
    storage.passes_bytes = radix::passes_bytes(radix::all_passes<Narrow>, n);
    const std::uint64_t moved = sizeof(Narrow) == 1 ? 0 : n;
    arguments.keys_scratch = carver.take<Narrow>(moved);
    arguments.values_scratch = carver.take<char>(moved * ValueBytes);
    storage.statuses = carver.take<radix::Status>(radix::status_words<Narrow, ValueBytes>(n));
  }
  if (temp_storage == nullptr) {
    temp_storage_bytes = carver.used();
    return cudaSuccess;
  }
  if (temp_storage_bytes < carver.used()) return cudaErrorInvalidValue;

  DeviceLimits limits;
  cudaError_t status = limits.query();
  if (status != cudaSuccess) return status;
  arguments.keys_in = static_cast<const Narrow*>(request.keys_in);
  arguments.keys_out = static_cast<Narrow*>(request.keys_out);
  if (counts) {
    const counting::CountedRange range{n, offsets(request.begin_offsets),
                                       offsets(request.end_offsets), request.device_num_segments};
    return counting::sort(arguments.keys_in, arguments.keys_out, range,
                          KeyCodec<Narrow>(kind, request.order), counters, limits, stream);
  }
  arguments.values_in = request.values_in;
  arguments.values_out = request.values_out;
  arguments.value_bytes = ValueBytes;
  arguments.begin_offsets = offsets(request.begin_offsets);
  arguments.end_offsets = offsets(request.end_offsets);
  arguments.num_segments = 1;
  arguments.device_num_segments = request.device_num_segments;
  arguments.codec = BitRangeCodec<Narrow>::make(kind, request.order, 0, 8 * sizeof(Narrow));
  const LaunchPlan plan{n,
                        1,
                        limits,
                        stream,
                        limits.has_dependent_launch ? LaunchOrder::overlapping : LaunchOrder::after,
                        true};
  status = cudaMemsetAsync(storage.passes, 0, storage.passes_bytes, stream);
  if (status != cudaSuccess) return status;
  return launch_radix<Narrow, ValueBytes>(plan, arguments, storage, nullptr, ArrayMethod::digits);
}

/// Sorts segments by all bits of their keys.
template <class Narrow>
cudaError_t sort_by_whole_keys(void* temp_storage, std::size_t& temp_storage_bytes,
                               const DeviceRequest& request, std::uint64_t longest,
                               cudaStream_t stream) {
  const auto with = [&](auto sort) {
    return sort(temp_storage, temp_storage_bytes, request, stream);
  };
  if (!is_sorted_as_array(request))
    return sort_in_tiles_of<Narrow>(temp_storage, temp_storage_bytes, request, longest, stream);
  return request.value_bytes == 0   ? with(sort_one_of<Narrow, 0>)
         : request.value_bytes == 4 ? with(sort_one_of<Narrow, 4>)
                                    : with(sort_one_of<Narrow, 8>);
}

}  // namespace

cudaError_t sort_narrow_keys(void* temp_storage, std::size_t& temp_storage_bytes,
                             const DeviceRequest& request, std::uint64_t longest,
                             cudaStream_t stream) {
  const int bits = key_bits(request.key_type);
  const int end_bit = request.end_bit < 0 ? bits : request.end_bit;
  const auto is_width = [](int bytes) { return bytes == 4 || bytes == 8; };
  if ((request.value_bytes != 0 && !is_width(request.value_bytes)) ||
      !is_width(request.offset_bytes) || request.num_segments < 0)
    return cudaErrorInvalidValue;
  if (request.num_items < 0 || request.is_array || request.ranges != nullptr ||
      request.begin_bit < 0 || request.begin_bit > end_bit || end_bit > bits)
    return cudaErrorInvalidValue;
  if (compares_whole_keys(request))
    return bits == 8 ? sort_by_whole_keys<std::uint8_t>(temp_storage, temp_storage_bytes, request,
                                                        longest, stream)
                     : sort_by_whole_keys<std::uint16_t>(temp_storage, temp_storage_bytes, request,
                                                         longest, stream);
  return bits == 8 ? sort_keys_of<std::uint8_t>(temp_storage, temp_storage_bytes, request, stream)
                   : sort_keys_of<std::uint16_t>(temp_storage, temp_storage_bytes, request, stream);
}

}  // namespace sortie::segsort
