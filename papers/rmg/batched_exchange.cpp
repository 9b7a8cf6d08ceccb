// SPDX-License-Identifier: Apache-2.0
#include "papers/rmg/batched_exchange.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/cuda/check.hpp"
#include "sortie/error.hpp"

namespace sortie::papers {

using multisort::DeviceGroup;
using multisort::plan::Transfer;

namespace {

struct Batch {
  std::vector<void*> destinations;
  std::vector<const void*> sources;
  std::vector<std::size_t> sizes;

  void add(std::byte* destination, const std::byte* source, std::uint64_t bytes) {
    if (bytes == 0) return;
    destinations.push_back(destination);
    sources.push_back(source);
    sizes.push_back(bytes);
  }

  void copy(cudaStream_t stream) {
    if (sizes.empty()) return;
#if CUDART_VERSION >= 13000
    cudaMemcpyAttributes in_stream_order{};
    in_stream_order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    check_cuda(cudaMemcpyBatchAsync(destinations.data(), sources.data(), sizes.data(), sizes.size(),
                                    &in_stream_order, &first, 1, stream));
#else
    static_cast<void>(stream);
    throw Error(ErrorKind::unavailable, "--rmg batch-copies: found CUDA 12, expected CUDA 13");
#endif
  }
};

}  // namespace

void exchange_in_batches(const DeviceGroup& group,
                         const std::vector<std::vector<Transfer>>& by_source,
                         std::uint64_t key_bytes, std::uint64_t value_bytes,
                         const std::vector<RawItems>& from, const std::vector<RawItems>& to) {
  group.barrier();
  for (std::size_t d = 0; d < group.size(); ++d) {
    const CurrentDevice current = group.current(d);
    group.wait(group.stream_out(d), d, group.stream(d));
    Batch batch;
    for (const Transfer& transfer : by_source[d]) {
      const RawItems& source = from[transfer.source];
      const RawItems& destination = to[transfer.destination];
      batch.add(destination.keys + transfer.destination_begin * key_bytes,
                source.keys + transfer.source_begin * key_bytes, transfer.size * key_bytes);
      if (value_bytes != 0)
        batch.add(destination.values + transfer.destination_begin * value_bytes,
                  source.values + transfer.source_begin * value_bytes, transfer.size * value_bytes);
    }
    batch.copy(group.stream_out(d));
  }
  for (std::size_t d = 0; d < group.size(); ++d)
    for (std::size_t source = 0; source < group.size(); ++source) {
      const CurrentDevice current = group.current(source);
      group.wait(group.stream(d), source, group.stream_out(source));
    }
}

}  // namespace sortie::papers
