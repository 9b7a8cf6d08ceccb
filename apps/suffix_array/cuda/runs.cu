#include "sortie/apps/suffix_array/cuda/runs.hpp"

#include "sortie/apps/suffix_array/cuda/scan.cuh"
#include "sortie/apps/suffix_array/cuda/sizes.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// A run segment for each letter.
constexpr std::size_t most_run_segments = 256;

// Thread s looks at segment s and appends it to the list, in no order, when its suffixes start with
// a run. The words of a segment are equal, so that of its first slot speaks for all.
template <class Index>
__global__ void __launch_bounds__(block_threads)
    find_run_segments_kernel(PackingPlan plan, const std::uint64_t* words,
                             const Index* segment_slots, const Index* offsets,
                             std::uint64_t segments, Index* begins, Index* ends, unsigned* count) {
  const std::uint64_t s = std::uint64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (s >= segments) return;
  const Index begin = offsets[s];
  const Index end = offsets[s + 1];
  if (end - begin < least_run_members || !plan.is_run(words[segment_slots[begin]])) return;
  const unsigned at = atomicAdd(count, 1U);
  begins[at] = begin;
  ends[at] = end;
}

}  // namespace

template <Position Index>
RunSegments<Index> find_run_segments(const PackingPlan& plan, const std::uint64_t* words,
                                     const Index* segment_slots, const Index* offsets,
                                     std::uint64_t segments, cudaStream_t stream) {
  RunSegments<Index> runs;
  if (segments == 0) return runs;
  runs.begins = {most_run_segments, stream};
  runs.ends = {most_run_segments, stream};
  DeviceBuffer<unsigned> device_count(1, stream);
  check_cuda(cudaMemsetAsync(device_count.data(), 0, device_count.bytes(), stream));
  find_run_segments_kernel<<<blocks_for(segments), block_threads, 0, stream>>>(
      plan, words, segment_slots, offsets, segments, runs.begins.data(), runs.ends.data(),
      device_count.data());
  check_cuda(cudaGetLastError());
  unsigned count = 0;
  device_count.copy_to({&count, 1});
  check_cuda(cudaStreamSynchronize(stream));
  runs.count = count;
  return runs;
}

template <Position Index>
void write_run_keys(const RunKeys<Index>& run_keys, cudaStream_t stream) {
  std::size_t bytes = 0;
  scan_items<Index>(nullptr, bytes, run_keys, Greatest{}, run_keys.count, stream);
  DeviceBuffer<std::byte> scratch(bytes, stream);
  scan_items<Index>(scratch.data(), bytes, run_keys, Greatest{}, run_keys.count, stream);
}

template RunSegments<std::uint32_t> find_run_segments(const PackingPlan&, const std::uint64_t*,
                                                      const std::uint32_t*, const std::uint32_t*,
                                                      std::uint64_t, cudaStream_t);
template RunSegments<std::uint64_t> find_run_segments(const PackingPlan&, const std::uint64_t*,
                                                      const std::uint64_t*, const std::uint64_t*,
                                                      std::uint64_t, cudaStream_t);
template void write_run_keys(const RunKeys<std::uint32_t>&, cudaStream_t);
template void write_run_keys(const RunKeys<std::uint64_t>&, cudaStream_t);

}  // namespace sortie::suffix_array::cuda
