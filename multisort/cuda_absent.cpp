// SPDX-License-Identifier: Apache-2.0

// Replaces cuda/ in a build without CUDA.

#include "multisort/backends.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::unavailable, "sort: this build of Sortie has no CUDA");
}

}  // namespace

void sort_on_cuda(const Context&, const Request&) {
  refuse();
}

void sort_chunks(const Context& context, const ChunkRequest& request) {
  check_chunks(context, request);
  if (!request.chunks.empty()) refuse();
}

std::span<const SortAlgorithm> cuda_sort_algorithms() {
  return {};
}

}  // namespace sortie::multisort
