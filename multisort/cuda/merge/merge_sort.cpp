// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/merge/merge_sort.hpp"

#include <fmt/format.h>

#include <bit>

#include "sortie/error.hpp"

namespace sortie::multisort {

namespace {

void sort_keys(const Context& context, const DeviceGroup& group, const ChunkRequest& request,
               merge::Method method) {
  switch (key_bytes(request.key_type)) {
    case 1:
      return merge::sort_keys8(context, group, request, method);
    case 2:
      return merge::sort_keys16(context, group, request, method);
    case 4:
      return merge::sort_keys32(context, group, request, method);
    default:
      return merge::sort_keys64(context, group, request, method);
  }
}

}  // namespace

void merge_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request) {
  sort_keys(context, group, request, merge::Method::one_exchange);
}

void tanasic_sort_chunks(const Context& context, const DeviceGroup& group,
                         const ChunkRequest& request) {
  if (!std::has_single_bit(request.chunks.size()))
    throw Error(ErrorKind::usage,
                fmt::format("sort: found {} chunks, expected a power of two: tanasic merges them "
                            "in pairs",
                            request.chunks.size()));
  sort_keys(context, group, request, merge::Method::stages);
}

}  // namespace sortie::multisort
