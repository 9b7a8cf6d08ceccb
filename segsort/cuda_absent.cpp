// Stands in for cuda/ in a build without CUDA.

#include "sortie/core/error.hpp"
#include "sortie/segsort/segmented_sort.hpp"

namespace sortie::segsort {

void sort_on_cuda(const Context&, const Request&) {
  throw Error(ErrorKind::unavailable, "segmented_sort: this build of Sortie has no CUDA");
}

}  // namespace sortie::segsort
