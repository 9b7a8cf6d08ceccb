// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "segsort/cuda/batch_sort.cuh"
#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/small_sort.cuh"

/// Launches of the kernels of a sort on a stream, for one width of keys and values. Those of the
/// partitions are in launch_partitions.cuh.
namespace sortie::segsort {

/// Attributes of the current device that a sort needs.
struct DeviceLimits {
  int multiprocessors = 0;
  int major = 0;         ///< of the compute capability
  int shared_bytes = 0;  ///< most per block

  cudaError_t query() {
    int device = 0;
    cudaError_t status = cudaGetDevice(&device);
    const auto attribute = [&](int& value, cudaDeviceAttr name) {
      if (status == cudaSuccess) status = cudaDeviceGetAttribute(&value, name, device);
    };
    attribute(multiprocessors, cudaDevAttrMultiProcessorCount);
    attribute(major, cudaDevAttrComputeCapabilityMajor);
    attribute(shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    return status;
  }
};

/// Properties of a sort that are known on the host.
struct LaunchPlan {
  std::uint64_t num_items;
  std::uint64_t num_segments;  ///< upper bound; below 2^32
  DeviceLimits limits;
  cudaStream_t stream;
  bool starts_early = false;  ///< kernels may start before their predecessors have ended

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

/// Launches `kernel` with dynamic shared memory, and with at most as many blocks as can be
/// resident.
template <class... Parameters, class... Values>
cudaError_t launch_resident(void (*kernel)(Parameters...), const LaunchPlan& plan,
                            std::uint64_t most_blocks, int most_a_multiprocessor, int threads,
                            std::size_t shared_bytes, bool cooperative, Values... values) {
  cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(shared_bytes));
  if (status != cudaSuccess) return status;
  int resident = 0;
  status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes);
  if (status != cudaSuccess) return status;
  const auto most_resident = static_cast<std::uint64_t>(std::min(resident, most_a_multiprocessor)) *
                             static_cast<std::uint64_t>(plan.limits.multiprocessors);
  cudaLaunchConfig_t config{};
  config.gridDim =
      static_cast<unsigned int>(std::clamp<std::uint64_t>(most_blocks, 1, most_resident));
  config.blockDim = static_cast<unsigned int>(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = plan.stream;
  cudaLaunchAttribute attribute{};
  if (cooperative) {
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  } else {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  config.attrs = &attribute;
  config.numAttrs = cooperative || plan.starts_early ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, values...);
}

/// Shared memory of a block of a class, if each of its teams has a tile.
template <class Word, int ValueBytes, int... Class>
constexpr std::array<std::size_t, block_classes> shared_bytes_of_classes(
    std::integer_sequence<int, Class...>) {
  return {(warps_of_block<Word>(Class) / team_warps(Class) *
           sizeof(TileOfClass<Word, ValueBytes, Class>))...};
}

/// Launches the kernel of the block classes whose blocks have BlockWarps warps, if any of the first
/// `used_classes` classes has. The kernel serves all rows of the policy: classes that are not used
/// have empty lists.
template <class Word, int ValueBytes, int BlockWarps>
cudaError_t launch_teams(const LaunchPlan& plan, const Arguments<Word>& arguments,
                         const WorkLists& lists, int used_classes) {
  constexpr auto has_blocks = [](int block_class) {
    return warps_of_block<Word>(block_class) == BlockWarps;
  };
  constexpr bool is_of_any = [&] {
    bool any = false;
    for (int i = 0; i < block_classes; ++i) any |= has_blocks(i);
    return any;
  }();
  if constexpr (is_of_any) {
    constexpr auto of_class =
        shared_bytes_of_classes<Word, ValueBytes>(std::make_integer_sequence<int, block_classes>{});
    std::size_t wanted = 0;
    for (int i = 0; i < used_classes; ++i)
      if (has_blocks(i)) wanted = std::max(wanted, of_class[static_cast<std::size_t>(i)]);
    if (wanted == 0) return cudaSuccess;
    const std::uint64_t most =
        std::max(plan.most_segments_from(shortest_of_block_class(0)), lists.group_capacity);
    const std::size_t bytes = std::min(wanted, static_cast<std::size_t>(plan.limits.shared_bytes));
    return launch_resident(block_sort_kernel<Word, ValueBytes, BlockWarps>, plan, most, no_limit,
                           32 * BlockWarps, bytes, false, arguments, lists,
                           static_cast<unsigned int>(bytes));
  } else {
    return cudaSuccess;
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

/// Divides the segments into chunks for the warps of the first kernel.
template <class Tiles, class Word, int ValueBytes>
ChunkPlan plan_chunks(const LaunchPlan& plan) {
  // A chunk has as many segments as average items_of_chunk items, but all multiprocessors should
  // receive chunks.
  const std::uint64_t average = std::max<std::uint64_t>(plan.num_items / plan.num_segments, 1);
  const std::uint64_t shares = static_cast<std::uint64_t>(plan.limits.multiprocessors) * 16;
  const std::uint64_t size =
      std::clamp<std::uint64_t>(std::min(std::max<std::uint64_t>(items_of_chunk / average, 16),
                                         (plan.num_segments - 1) / shares + 1),
                                1, most_segments_of_chunk);
  const std::uint64_t chunks = (plan.num_segments - 1) / size + 1;
  const std::uint64_t warps = static_cast<std::uint64_t>(plan.limits.multiprocessors) *
                              resident_batch_blocks<Tiles, Word, ValueBytes> *
                              (Tiles::batch_threads / 32);
  // While half of the warps process a whole chunk, the others process the divided ones.
  const std::uint64_t divided = chunks < 2 * warps ? 0 : warps / 2;
  return {static_cast<unsigned int>(chunks - divided), static_cast<unsigned int>(size),
          (static_cast<unsigned int>(size) - 1) / parts_of_last_chunks + 1};
}

/// Launches the kernel that lists long segments, for one width of indices.
template <class Word, int ValueBytes, class Index, int Longest = longest_in_warp,
          class Tiles = LargeTiles>
cudaError_t launch_batches(const LaunchPlan& plan, const Arguments<Word>& arguments,
                           const WorkLists& lists) {
  constexpr unsigned int warps = Tiles::batch_threads / 32;
  const ChunkPlan chunks = plan_chunks<Tiles, Word, ValueBytes>(plan);
  LaunchPlan first = plan;
  first.starts_early = false;  // the preceding work on the stream is not ours
  return launch_resident(batch_sort_kernel<Word, ValueBytes, Index, Longest, Tiles>, first,
                         (chunks.large_chunks - 1) / warps + 1, no_limit, Tiles::batch_threads,
                         warps * sizeof(BatchShared<Word, ValueBytes, Index>), false, arguments,
                         lists, chunks);
}

/// Launches the kernel for short segments, which lists the others.
template <class Tiles, class Word, int ValueBytes>
cudaError_t launch_short(const LaunchPlan& plan, const Arguments<Word>& arguments,
                         const WorkLists& lists) {
  if constexpr (Tiles::has_narrow_indices) {
    if (plan.num_items <= ~std::uint32_t{0})
      return launch_batches<Word, ValueBytes, std::uint32_t, longest_in_warp, Tiles>(
          plan, arguments, lists);
  }
  return launch_batches<Word, ValueBytes, std::uint64_t, longest_in_warp, Tiles>(plan, arguments,
                                                                                 lists);
}

/// Launches a small sort.
template <class Word, int ValueBytes>
cudaError_t launch_small_sort(const LaunchPlan& plan, const Arguments<Word>& arguments) {
  const std::uint64_t warps =
      static_cast<std::uint64_t>(plan.limits.multiprocessors) * small_sort_warps;
  const std::uint64_t chunk =
      std::clamp<std::uint64_t>((plan.num_segments - 1) / warps + 1, 1, most_segments_of_chunk);
  LaunchPlan alone = plan;
  alone.starts_early = false;
  return launch_resident(small_sort_kernel<Word, ValueBytes>, alone,
                         (plan.num_segments - 1) / (chunk * small_sort_warps) + 1, no_limit,
                         small_partition_shape.threads, sizeof(SmallSortShared<Word, ValueBytes>),
                         false, arguments, static_cast<int>(chunk));
}

}  // namespace sortie::segsort
