// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/links_bench.hpp"

#include "sortie/error.hpp"

namespace sortie::bench {

std::vector<Row> links(const Context& context, const LinksOptions& options, const RowSink& sink) {
  if (options.bytes == 0)
    throw Error(ErrorKind::usage, "bench links: found copies of 0 bytes, expected at least 1");
  if (resolve_backend(context) != Backend::cuda)
    throw Error(ErrorKind::unavailable, "bench links: found the host backend, expected CUDA");
#ifdef SORTIE_HAVE_CUDA
  return links_on_cuda(context, options, sink);
#else
  static_cast<void>(sink);
  return {};
#endif
}

}  // namespace sortie::bench
