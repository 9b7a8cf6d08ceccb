// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/tune.hpp"

#include <algorithm>
#include <utility>

#include "apps/bench/cuda/segsort_workload.hpp"
#include "apps/bench/cuda/tune_kernels.hpp"
#include "core/cuda/device_context.hpp"

namespace sortie::bench {
namespace {

// Lengths at which only batches are measured: too short for blocks.
constexpr std::uint64_t short_lengths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

CandidateTime time_candidate(SegsortWorkload& work, std::uint64_t length, const TileShape& shape,
                             const TwoPhaseSort& sort, int repetitions) {
  CandidateTime time;
  time.shape = shape;
  time_kernel(time, work, length, sort, repetitions);
  return time;
}

bool is_for_shape(const TileShape& shape, std::uint64_t length) {
  return length <= shape.capacity() && shape.capacity() <= most_segments_a_tile * length;
}

}  // namespace

Tuning tune_on_cuda(const Context& context, const TuneOptions& options) {
  const DeviceCall call(context);
  SegsortWorkload work({options.items, KeyType::u32, 4, options.seed}, call.stream);
  const auto shapes = candidate_shapes();
  const std::vector<std::uint64_t> block_lengths = tuning_lengths(shapes);
  std::vector<std::uint64_t> lengths(std::begin(short_lengths), std::end(short_lengths));
  lengths.insert(lengths.end(), block_lengths.begin(), block_lengths.end());

  Tuning tuning;
  tuning.items = options.items;
  tuning.present = present_table();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::uint64_t length = lengths[i];
    if (context.progress) context.progress("tuning", i, lengths.size());
    work.set_segments({.kind = SegmentShape::Kind::equal, .length = length});
    if (length <= longest_of_batches()) {
      tuning.times.push_back(
          time_candidate(work, length, TileShape{}, sort_by_batches, options.repetitions));
    }
    if (i < std::size(short_lengths)) continue;
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      if (!is_for_shape(shapes[k], length)) continue;
      const TwoPhaseSort sort = [k](void* temporary, std::size_t& bytes,
                                    const segsort::DeviceRequest& request, cudaStream_t stream) {
        return sort_by_teams(k, temporary, bytes, request, stream);
      };
      tuning.times.push_back(time_candidate(work, length, shapes[k], sort, options.repetitions));
    }
  }
  return tuning;
}

}  // namespace sortie::bench
