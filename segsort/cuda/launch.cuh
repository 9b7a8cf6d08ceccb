// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "primitives/cuda/kernel_image.hpp"
#include "primitives/cuda/launch.cuh"
#include "segsort/cuda/batch_sort.cuh"
#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/small_sort.cuh"

/// Launches of the kernels of a sort on a stream, for one width of keys and values. Those of the
/// partitions are in launch_partitions.cuh.
namespace sortie::segsort {

/// Attributes of the current device that a sort needs.
struct DeviceLimits {
  int device = 0;
  int multiprocessors = 0;
  int shared_bytes = 0;               ///< most per block
  bool has_dependent_launch = false;  ///< of the device and of the kernels

  cudaError_t query() {
    cudaError_t status = cudaGetDevice(&device);
    const auto attribute = [&](int& value, cudaDeviceAttr name) {
      if (status == cudaSuccess) status = cudaDeviceGetAttribute(&value, name, device);
    };
    attribute(multiprocessors, cudaDevAttrMultiProcessorCount);
    attribute(shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (status == cudaSuccess) status = query_dependent_launch(has_dependent_launch);
    return status;
  }
};

/// Properties of a sort that are known on the host.
struct LaunchPlan {
  std::uint64_t num_items;
  std::uint64_t num_segments;  ///< upper bound; below 2^32
  DeviceLimits limits;
  cudaStream_t stream;
  LaunchOrder order = LaunchOrder::after;  ///< of all kernels but the first
  bool is_array = false;                   ///< one segment has all items

  /// Most segments of at least `shortest` items.
  [[nodiscard]] std::uint64_t most_segments_from(std::uint64_t shortest) const {
    return std::min(num_segments, num_items / shortest);
  }
};

/// Items that a warp of the first kernel claims at a time: enough to fill several tiles, and to
/// find segments that fill a tile together.
inline constexpr std::uint64_t items_of_chunk = 16384;
/// The last chunks are divided into so many parts, so that all warps end at about the same time.
inline constexpr unsigned int parts_of_last_chunks = 4;

inline constexpr int no_limit = 1 << 20;

/// Blocks of a kernel that a multiprocessor can have at once. Answers are kept: a short sort would spend
/// a good part of its time on these questions.
inline cudaError_t query_resident_blocks(int& blocks, const void* kernel, int device, int threads,
                                         std::size_t shared_bytes) {
  using Question = std::tuple<const void*, int, int, std::size_t>;
  thread_local std::map<Question, int> answers;
  const Question question(kernel, device, threads, shared_bytes);
  if (const auto known = answers.find(question); known != answers.end()) {
    blocks = known->second;
    return cudaSuccess;
  }
  const cudaError_t status =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes);
  if (status == cudaSuccess) answers.emplace(question, blocks);
  return status;
}

/// Launches `kernel` with dynamic shared memory, and with at most as many blocks as can be
/// resident.
template <class... Parameters, class... Values>
cudaError_t launch_resident(void (*kernel)(Parameters...), const LaunchPlan& plan,
                            LaunchOrder order, std::uint64_t most_blocks, int most_a_multiprocessor,
                            int threads, std::size_t shared_bytes, const Values&... values) {
  constexpr std::size_t always_allowed = 48 * 1024;
  cudaError_t status = cudaSuccess;
  if (shared_bytes > always_allowed) status = allow_shared_memory(kernel, shared_bytes);
  if (status != cudaSuccess) return status;
  int resident = 0;
  status = query_resident_blocks(resident, reinterpret_cast<const void*>(kernel),
                                 plan.limits.device, threads, shared_bytes);
  if (status != cudaSuccess) return status;
  const auto most_resident = static_cast<std::uint64_t>(std::min(resident, most_a_multiprocessor)) *
                             static_cast<std::uint64_t>(plan.limits.multiprocessors);
  const auto blocks = std::clamp<std::uint64_t>(most_blocks, 1, most_resident);
  return launch(kernel, static_cast<unsigned int>(blocks), static_cast<unsigned int>(threads),
                shared_bytes, plan.stream, order, values...);
}

/// Launches the kernel of those of the first `used_classes` block classes whose blocks have
/// BlockWarps warps. It serves all rows of the policy: classes that are not used have empty lists.
template <class Word, int ValueBytes, int BlockWarps>
cudaError_t launch_teams(const LaunchPlan& plan, const Arguments<Word>& arguments,
                         const WorkLists& lists, int used_classes) {
  constexpr auto all_classes = std::make_integer_sequence<int, block_classes>{};
  constexpr bool has_classes = []<int... Class>(std::integer_sequence<int, Class...>) {
    return ((warps_of_block<Word>(Class) == BlockWarps) || ...);
  }
  (all_classes);
  constexpr bool has_groups = []<int... Class>(std::integer_sequence<int, Class...>) {
    return ((warps_of_block<Word>(Class) == BlockWarps &&
             (group_class_of(Class) != group_classes || Class == block_class_of_runs)) ||
            ...);
  }
  (all_classes);
  if constexpr (!has_classes || (is_of_arrays<ValueBytes> && !has_groups)) {
    return cudaSuccess;
  } else {
    // Shared memory of a block, if each of its teams has a tile.
    const std::size_t wanted = [&]<int... Class>(std::integer_sequence<int, Class...>) {
      return std::max(
          {(warps_of_block<Word>(Class) == BlockWarps && Class < used_classes
                ? BlockWarps / team_warps(Class) * sizeof(TileOfClass<Word, ValueBytes, Class>)
                : 0)...});
    }
    (all_classes);
    if (wanted == 0 || (plan.is_array && !has_groups)) return cudaSuccess;
    const std::uint64_t most =
        std::max(plan.most_segments_from(shortest_of_block_class(0)), lists.group_capacity);
    const std::size_t bytes = std::min(wanted, static_cast<std::size_t>(plan.limits.shared_bytes));
    return launch_resident(block_sort_kernel<Word, ValueBytes, BlockWarps>, plan, plan.order, most,
                           no_limit, 32 * BlockWarps, bytes, arguments, lists,
                           static_cast<unsigned int>(bytes));
  }
}

/// Launches the first `used_classes` block classes.
template <class Word, int ValueBytes>
cudaError_t launch_block_classes(const LaunchPlan& plan, const Arguments<Word>& arguments,
                                 const WorkLists& lists, int used_classes) {
  cudaError_t status = cudaSuccess;
  [&]<int... FewerWarps>(std::integer_sequence<int, FewerWarps...>) {
    static_cast<void>(((status = launch_teams<Word, ValueBytes, resident_warps - FewerWarps>(
                            plan, arguments, lists, used_classes),
                        status == cudaSuccess) &&
                       ...));
  }
  (std::make_integer_sequence<int, resident_warps>{});
  return status;
}

/// Divides the segments into chunks for the warps of the first kernel, of which a multiprocessor
/// has `resident_warps`.
inline ChunkPlan plan_chunks(const LaunchPlan& plan, int resident_warps, int most_segments) {
  // A chunk has as many segments as average items_of_chunk items, but all multiprocessors should
  // receive chunks.
  const std::uint64_t average = std::max<std::uint64_t>(plan.num_items / plan.num_segments, 1);
  const std::uint64_t shares = static_cast<std::uint64_t>(plan.limits.multiprocessors) * 16;
  const std::uint64_t size =
      std::clamp<std::uint64_t>(std::min(std::max<std::uint64_t>(items_of_chunk / average, 16),
                                         (plan.num_segments - 1) / shares + 1),
                                1, static_cast<std::uint64_t>(most_segments));
  const std::uint64_t chunks = (plan.num_segments - 1) / size + 1;
  const std::uint64_t warps = static_cast<std::uint64_t>(plan.limits.multiprocessors) *
                              static_cast<std::uint64_t>(resident_warps);
  // While half of the warps process a whole chunk, the others process the divided ones.
  const std::uint64_t divided = chunks < 2 * warps ? 0 : warps / 2;
  return {static_cast<unsigned int>(chunks - divided), static_cast<unsigned int>(size),
          (static_cast<unsigned int>(size) - 1) / parts_of_last_chunks + 1};
}

/// Launches a kernel whose warps take chunks of segments; Shared is the shared memory of a warp.
template <class Tiles, class Shared, class... Parameters, class... Values>
cudaError_t launch_chunks(void (*kernel)(Parameters...), const LaunchPlan& plan,
                          const Values&... values) {
  constexpr int warps = Tiles::batch_threads / 32;
  constexpr int resident =
      warps * resident_batch_blocks<Tiles, typename Shared::Word, Shared::T::value_bytes>;
  const ChunkPlan chunks = plan_chunks(plan, resident, Shared::most_segments);
  // The preceding work on the stream is not ours.
  return launch_resident(kernel, plan, LaunchOrder::after, (chunks.large_chunks - 1) / warps + 1,
                         no_limit, Tiles::batch_threads, warps * sizeof(Shared), values..., chunks);
}

/// Launches the kernel that lists long segments, for one width of indices.
template <class Word, int ValueBytes, class Index, int Longest = longest_in_warp,
          class Tiles = LargeTiles>
cudaError_t launch_batches(const LaunchPlan& plan, const Arguments<Word>& arguments,
                           const WorkLists& lists) {
  return launch_chunks<Tiles, BatchShared<Word, ValueBytes, Index>>(
      batch_sort_kernel<Word, ValueBytes, Index, Longest, Tiles>, plan, arguments, lists);
}

/// Launches the kernel for short segments, which lists the others.
template <class Tiles, class Word, int ValueBytes>
cudaError_t launch_short(const LaunchPlan& plan, const Arguments<Word>& arguments,
                         const WorkLists& lists) {
  const auto launch = [&]<class Index>(Index) {
    return launch_batches<Word, ValueBytes, Index, longest_in_warp, Tiles>(plan, arguments, lists);
  };
  if constexpr (Tiles::has_narrow_indices)
    if (plan.num_items <= ~std::uint32_t{0}) return launch(std::uint32_t{});
  return launch(std::uint64_t{});
}

template <class Word, int ValueBytes>
cudaError_t launch_small_sort(const LaunchPlan& plan, const Arguments<Word>& arguments) {
  const std::uint64_t warps =
      static_cast<std::uint64_t>(plan.limits.multiprocessors) * small_sort_warps;
  const std::uint64_t chunk =
      std::clamp<std::uint64_t>((plan.num_segments - 1) / warps + 1, 1, most_segments_of_chunk);
  return launch_resident(small_sort_kernel<Word, ValueBytes>, plan, LaunchOrder::after,
                         (plan.num_segments - 1) / (chunk * small_sort_warps) + 1, no_limit,
                         small_partition_shape.threads, sizeof(SmallSortShared<Word, ValueBytes>),
                         arguments, static_cast<int>(chunk));
}

}  // namespace sortie::segsort
