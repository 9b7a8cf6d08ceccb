// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "multisort/cuda/merge/devices_sort.cuh"
#include "multisort/cuda/merge/merge_sort.hpp"
#include "multisort/cuda/merge/stages_sort.cuh"

namespace sortie::multisort::merge {

template <class Key, class Value>
void sort_pairs(const Context& context, const DeviceGroup& group, const ChunkRequest& request,
                Method method) {
  std::vector<Chunk<Key, Value>> chunks;
  for (const DeviceChunk& chunk : request.chunks)
    chunks.push_back(
        {{static_cast<Key*>(chunk.keys), static_cast<Value*>(chunk.values)}, chunk.size});
  const WordOrder<Key> order(KeyOrder::of(request.key_type, request.options.order));
  if (method == Method::one_exchange) {
    sort_over_devices(context, group, chunks, order);
  } else {
    sort_in_stages(context, group, chunks, order);
  }
}

/// Sorts keys of one width, with values of any size. \pre request.value_bytes is 0, 4 or 8
template <class Key>
void sort_typed(const Context& context, const DeviceGroup& group, const ChunkRequest& request,
                Method method) {
  if (request.value_bytes == 0) {
    sort_pairs<Key, NoValue>(context, group, request, method);
  } else if (request.value_bytes == 4) {
    sort_pairs<Key, std::uint32_t>(context, group, request, method);
  } else {
    sort_pairs<Key, std::uint64_t>(context, group, request, method);
  }
}

}  // namespace sortie::multisort::merge
