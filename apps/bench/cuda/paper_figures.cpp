// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/paper_figures.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "apps/bench/cuda/paper_kernels.hpp"
#include "apps/bench/cuda/segsort_workload.hpp"
#include "core/cuda/device_context.hpp"

namespace sortie::bench {
namespace {

constexpr int reg_sort_blocks[] = {64, 128, 256, most_block_threads};
/// Lengths at which the division into chunks is measured, in eighths of the capacity. A bin starts
/// beyond half of it.
constexpr std::uint64_t eighths_of_chunks[] = {5, 6, 7, 8};

// Sorted by length, so that the segments of each length are generated once.
std::vector<std::size_t> in_order_of_length(std::span<const PaperBinding> bindings) {
  std::vector<std::size_t> order(bindings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto place = [&](std::size_t i) {
      return std::tuple(bindings[i].length(), bindings[i].threads, bindings[i].striped, i);
    };
    return place(a) < place(b);
  });
  return order;
}

PaperTime time_binding(SegsortWorkload& work, std::size_t binding, std::uint64_t length,
                       int block_threads, int repetitions) {
  PaperTime time;
  time.binding = paper_bindings()[binding];
  time.block_threads = block_threads;
  const TwoPhaseSort sort = [=](void* temporary, std::size_t& bytes,
                                const segsort::DeviceRequest& request, cudaStream_t stream) {
    return sort_as_in_paper(binding, block_threads, temporary, bytes, request, stream);
  };
  time_kernel(time, work, length, sort, repetitions);
  return time;
}

/// The shared-memory bins with both divisions, for segments of a part of their capacity.
void time_chunks(PaperFigures& figures, SegsortWorkload& work, int repetitions) {
  const auto bindings = paper_bindings();
  for (const PaperBinding& uneven : bindings) {
    if (!uneven.uneven) continue;
    for (const std::uint64_t eighths : eighths_of_chunks) {
      const std::uint64_t length = uneven.length() * eighths / 8;
      work.set_segments({.kind = SegmentShape::Kind::equal, .length = length});
      for (std::size_t i = 0; i < bindings.size(); ++i) {
        const PaperBinding& binding = bindings[i];
        if (binding.kernel != uneven.kernel || binding.threads != uneven.threads ||
            binding.items != uneven.items || !binding.striped)
          continue;
        figures.chunks.push_back(time_binding(work, i, length, binding.threads, repetitions));
      }
    }
  }
}

}  // namespace

PaperFigures paper_figures_on_cuda(const Context& context, const TuneOptions& options) {
  const DeviceCall call(context);
  SegsortWorkload work({options.items, KeyType::u32, 4, options.seed}, call.stream);
  const auto bindings = paper_bindings();
  const std::vector<std::size_t> order = in_order_of_length(bindings);

  PaperFigures figures;
  figures.items = options.items;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const PaperBinding& binding = bindings[order[i]];
    if (context.progress) context.progress("paper", i, order.size());
    if (binding.uneven) continue;
    if (binding.length() != length) {
      length = binding.length();
      work.set_segments({.kind = SegmentShape::Kind::equal, .length = length});
    }
    if (binding.kernel == PaperBinding::Kernel::smem_merge) {
      figures.smem_merge.push_back(
          time_binding(work, order[i], length, binding.threads, options.repetitions));
      continue;
    }
    for (const int block_threads : reg_sort_blocks) {
      figures.reg_sort.push_back(
          time_binding(work, order[i], length, block_threads, options.repetitions));
    }
  }
  time_chunks(figures, work, options.repetitions);
  return figures;
}

}  // namespace sortie::bench
