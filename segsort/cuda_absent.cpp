// SPDX-License-Identifier: Apache-2.0

// Replaces cuda/ in a build without CUDA.

#include "segsort/backends.hpp"
#include "sortie/error.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::segsort {

void sort_on_cuda(const Context&, const Request&) {
  throw Error(ErrorKind::unavailable, "segmented_sort: this build of Sortie has no CUDA");
}

}  // namespace sortie::segsort
