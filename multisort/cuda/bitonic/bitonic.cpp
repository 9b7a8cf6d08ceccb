// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/bitonic/bitonic.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "multisort/cuda/bitonic/sort_typed.hpp"
#include "multisort/plan/bitonic_passes.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

namespace {

/// Index of the only chunk with items; 0 if all are empty.
std::size_t only_chunk(const ChunkRequest& request) {
  std::size_t only = 0;
  int filled = 0;
  for (std::size_t i = 0; i < request.chunks.size(); ++i) {
    if (request.chunks[i].size == 0) continue;
    only = i;
    ++filled;
  }
  if (filled > 1)
    throw Error(ErrorKind::usage,
                fmt::format("sort: found {} chunks with items, expected one: the bitonic network "
                            "sorts in place on one device",
                            filled));
  return only;
}

void sort_keys(const bitonic::Request& request, cudaStream_t stream) {
  switch (key_bytes(request.key_type)) {
    case 1:
      return bitonic::sort_keys8(request, stream);
    case 2:
      return bitonic::sort_keys16(request, stream);
    case 4:
      return bitonic::sort_keys32(request, stream);
    default:
      return bitonic::sort_keys64(request, stream);
  }
}

}  // namespace

void bitonic_sort_chunks(const Context& context, const DeviceGroup& group,
                         const ChunkRequest& request) {
  const std::size_t device = only_chunk(request);
  const DeviceChunk& chunk = request.chunks[device];
  const CurrentDevice current = group.current(device);
  GroupPhase phase(context, group, "local sort");
  sort_keys({chunk.keys, chunk.values, chunk.size, request.key_type, request.value_bytes,
             request.options.order},
            group.stream(device));
  group.synchronise();
  phase.stop();
}

}  // namespace sortie::multisort
