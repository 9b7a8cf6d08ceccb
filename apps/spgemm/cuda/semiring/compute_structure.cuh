// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "apps/spgemm/cuda/semiring/structure_values.cuh"
#include "core/cuda/check.hpp"
#include "core/cuda/device_pool.hpp"
#include "primitives/cuda/kernel_image.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_buffer.hpp"

/// Compiled once for each semiring: CMakeLists.txt lists the instances.
namespace sortie::spgemm::cuda {

template <class Semiring>
void compute_structure_sums(std::int64_t rows, std::int64_t entries, const StructureRows& a,
                            const StructureRows& b, const StructureRows& structure,
                            const typename Semiring::Operand* a_values,
                            const typename Semiring::Operand* b_values,
                            typename Semiring::Sum* sums, std::uint8_t* hits, cudaStream_t stream) {
  if (entries == 0) return;
  // The largest table of a block: two blocks share a multiprocessor where there is enough memory.
  constexpr std::uint32_t most_part_entries = 1 << 12;
  const auto available = static_cast<std::size_t>(max_shared_bytes()) / 2;
  std::uint32_t part_entries = most_part_entries;
  while (structure_table_bytes<Semiring>(part_entries) > available) part_entries /= 2;
  const std::size_t bytes = structure_table_bytes<Semiring>(part_entries);
  check_cuda(allow_shared_memory(compute_long_rows_kernel<Semiring>, bytes));

  // A row has a part for each part_entries entries, and one more at most.
  const auto most_parts =
      static_cast<std::size_t>(rows) + entries / part_entries + most_extra_slices;
  StructureArguments<Semiring> args{.rows = rows,
                                    .a = a,
                                    .b = b,
                                    .structure = structure,
                                    .a_values = a_values,
                                    .b_values = b_values,
                                    .part_entries = part_entries,
                                    .sums = sums,
                                    .hits = adds_in_any_order<Semiring> ? nullptr : hits};
  const auto carve = [&](std::byte* base) {
    StorageCarver carver(base);
    args.counters = carver.take<StructureCounters>(1);
    args.parts = carver.take<StructurePart>(most_parts);
    if (adds_in_any_order<Semiring>) args.warp_rows = carver.take<std::uint32_t>(rows);
    return carver.used();
  };
  DeviceBuffer<std::byte> lists(carve(nullptr), stream);
  carve(lists.data());
  check_cuda(cudaMemsetAsync(args.counters, 0, sizeof(StructureCounters), stream));
  int device = 0;
  int multiprocessors = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const std::size_t short_bytes =
      structure_warps * structure_table_bytes<Semiring>(short_row_entries);
  unsigned int blocks = blocks_for(rows, structure_warps);
  bool may_overlap = false;
  check_cuda(query_dependent_launch(may_overlap));
  const LaunchOrder order = may_overlap ? LaunchOrder::overlapping : LaunchOrder::after;
  if constexpr (adds_in_any_order<Semiring>) {
    args.limits = *std::ranges::find_if(
        count_limits, [&](const CountLimits& limits) { return entries < limits.entries; });
    check_cuda(launch(count_tiny_rows_kernel<Semiring>,
                      blocks_for(rows, structure_threads / tiny_row_lanes), structure_threads, 0,
                      stream, LaunchOrder::after, args));
    blocks = std::min(blocks, 8u * static_cast<unsigned int>(multiprocessors));
  }
  check_cuda(launch(compute_short_rows_kernel<Semiring>, blocks, structure_threads, short_bytes,
                    stream, adds_in_any_order<Semiring> ? order : LaunchOrder::after, args));
  check_cuda(launch(compute_long_rows_kernel<Semiring>,
                    2 * static_cast<unsigned int>(multiprocessors), structure_threads, bytes,
                    stream, order, args));
}

}  // namespace sortie::spgemm::cuda
