#include "sortie/apps/bench/cuda/tune_kernels.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include "sortie/apps/bench/cuda/kernel_arguments.cuh"
#include "sortie/segsort/cuda/block_sort.cuh"
#include "sortie/segsort/cuda/launch.cuh"

namespace sortie::bench {
namespace {

using segsort::Arguments;
using Word = std::uint32_t;

constexpr int value_bytes = 4;
constexpr std::array warp_counts = {1, 2, 3, 4, 6, 8, 12, 16};
constexpr std::array item_counts = {8, 16};
constexpr std::size_t shape_count = warp_counts.size() * item_counts.size();

constexpr TileShape shape_at(std::size_t candidate) {
  return {warp_counts[candidate % warp_counts.size()], item_counts[candidate / warp_counts.size()]};
}

/// One block, one segment at a time, as block_sort_kernel; segments are taken in order and not from
/// a list, since all of them are for this block.
template <int Warps, int Items>
__global__ void __launch_bounds__(32 * Warps, segsort::resident_blocks(Warps))
    equal_blocks_kernel(Arguments<Word> arguments) {
  using T = segsort::Tile<Word, value_bytes, Warps, Items>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T& tile = *reinterpret_cast<T*>(shared_bytes);
  segsort::sort_each_in_block(tile, arguments, arguments.num_segments,
                              [&](std::uint64_t i) { return extent(arguments, i); });
}

struct Candidate {
  TileShape shape;
  void (*kernel)(Arguments<Word>);
  std::size_t shared_bytes;
};

template <std::size_t Index>
Candidate make_candidate() {
  constexpr TileShape shape = shape_at(Index);
  return {shape, equal_blocks_kernel<shape.warps, shape.items>,
          sizeof(segsort::Tile<Word, value_bytes, shape.warps, shape.items>)};
}

template <std::size_t... Index>
std::array<Candidate, shape_count> make_candidates(std::index_sequence<Index...>) {
  return {make_candidate<Index>()...};
}

template <std::size_t... Index>
constexpr std::array<TileShape, shape_count> make_shapes(std::index_sequence<Index...>) {
  return {shape_at(Index)...};
}

}  // namespace

std::span<const TileShape> candidate_shapes() {
  static constexpr auto shapes = make_shapes(std::make_index_sequence<shape_count>{});
  return shapes;
}

cudaError_t sort_by_blocks(std::size_t candidate, void* temporary, std::size_t& bytes,
                           const segsort::DeviceRequest& request, cudaStream_t stream) {
  if (!has_single_kernels(request)) return cudaErrorNotSupported;
  if (temporary == nullptr) {
    bytes = 1;  // none is used, but null would ask for the size again
    return cudaSuccess;
  }
  static const auto candidates = make_candidates(std::make_index_sequence<shape_count>{});
  const Candidate& chosen = candidates[candidate];
  int device = 0;
  int multiprocessors = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  }
  if (status != cudaSuccess) return status;
  const segsort::LaunchPlan plan{static_cast<std::uint64_t>(request.num_items),
                                 static_cast<std::uint64_t>(request.num_segments), multiprocessors,
                                 stream};
  return segsort::launch_resident(chosen.kernel, plan, plan.num_segments, segsort::no_limit,
                                  32 * chosen.shape.warps, chosen.shared_bytes, false,
                                  arguments_of(request));
}

BlockTable present_table() {
  BlockTable table;
  table.longest_in_warp = segsort::longest_in_warp;
  for (int i = 0; i < segsort::block_classes; ++i) {
    table.shapes.push_back({segsort::block_warps(i), segsort::block_items(i)});
  }
  return table;
}

std::uint64_t longest_of_batches() {
  return segsort::warp_tile;
}

}  // namespace sortie::bench
