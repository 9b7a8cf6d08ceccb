// SPDX-License-Identifier: Apache-2.0

// sort_chunks(): from the checked request to its algorithm.

#include "multisort/cuda/chunk_sort.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/phase_timer.hpp"
#include "primitives/key_dispatch.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

ChunkSort chunk_sort(SortAlgorithm algorithm) {
  if (algorithm == SortAlgorithm::automatic || algorithm == SortAlgorithm::radix)
    return [](const Context& context, const DeviceGroup& group, const ChunkRequest& request) {
      radix_sort_chunks(context, group, request);
    };
  if (algorithm == SortAlgorithm::merge) return merge_sort_chunks;
  const Algorithm* const other = registered_algorithm(algorithm);
  if (other != nullptr && other->sort_chunks != nullptr) return other->sort_chunks;
  throw Error(ErrorKind::usage,
              fmt::format("sort: found algorithm {}, expected one that sorts chunks in GPU memory",
                          name(algorithm)));
}

// Not inline: a source that sees the definition of merge_sort_typed() as well would compile the
// kernels of all widths.
void merge_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request) {
  with_key_word(key_bytes(request.key_type), [&]<class Word>(Word) {
    with_value_bytes(request.value_bytes, [&]<class Value>(Value) {
      merge_sort_typed<Word, Value>(context, group, request);
    });
  });
}

std::span<const SortAlgorithm> cuda_sort_algorithms() {
  static constexpr std::array algorithms = {SortAlgorithm::radix, SortAlgorithm::merge};
  return algorithms;
}

void sort_chunks(const Context& context, const ChunkRequest& request) {
  check_chunks(context, request);
  if (request.chunks.empty()) return;
  report_progress(context, "sort", 0, request.num_items());
  std::vector<int> ordinals;
  for (const DeviceChunk& chunk : request.chunks) ordinals.push_back(chunk.device);
  const DeviceGroup group(ordinals, request.options.transport);
  chunk_sort(request.options.algorithm)(context, group, request);
  report_progress(context, "sort", request.num_items(), request.num_items());
}

}  // namespace sortie::multisort
