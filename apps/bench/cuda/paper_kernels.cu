// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/cuda/paper_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "apps/bench/cuda/paper_bindings.cuh"

namespace sortie::bench {

#define SORTIE_EXTERN_BINDINGS(kernel, threads) \
  extern template void add_bindings<Kernel::kernel, threads>(std::vector<CompiledBinding>&)
SORTIE_EXTERN_BINDINGS(reg_sort, 1);
SORTIE_EXTERN_BINDINGS(reg_sort, 2);
SORTIE_EXTERN_BINDINGS(reg_sort, 4);
SORTIE_EXTERN_BINDINGS(reg_sort, 8);
SORTIE_EXTERN_BINDINGS(reg_sort, 16);
SORTIE_EXTERN_BINDINGS(reg_sort, 32);
SORTIE_EXTERN_BINDINGS(smem_merge, 64);
SORTIE_EXTERN_BINDINGS(smem_merge, 128);
SORTIE_EXTERN_BINDINGS(smem_merge, 256);
SORTIE_EXTERN_BINDINGS(smem_merge, 512);
#undef SORTIE_EXTERN_BINDINGS

namespace {

const std::vector<CompiledBinding>& compiled() {
  static const std::vector<CompiledBinding> all = [] {
    std::vector<CompiledBinding> bindings;
    const auto add = [&]<Kernel Which, int... Threads>(std::integer_sequence<int, Threads...>) {
      (add_bindings<Which, Threads>(bindings), ...);
    };
    add.template operator()<Kernel::reg_sort>(std::integer_sequence<int, 1, 2, 4, 8, 16, 32>{});
    add.template operator()<Kernel::smem_merge>(std::integer_sequence<int, 64, 128, 256, 512>{});
    return bindings;
  }();
  return all;
}

}  // namespace

std::span<const PaperBinding> paper_bindings() {
  static const std::vector<PaperBinding> bindings = [] {
    std::vector<PaperBinding> all;
    for (const CompiledBinding& one : compiled()) all.push_back(one.binding);
    return all;
  }();
  return bindings;
}

cudaError_t sort_as_in_paper(std::size_t binding, int block_threads, void* temporary,
                             std::size_t& bytes, const segsort::DeviceRequest& request,
                             cudaStream_t stream) {
  if (!has_single_kernels(request)) return cudaErrorNotSupported;
  if (temporary == nullptr) {
    bytes = 1;  // not used, but a null pointer would request the size again
    return cudaSuccess;
  }
  const auto& [bound, kernel] = compiled()[binding];
  const bool in_registers = bound.kernel == Kernel::reg_sort;
  const int threads = in_registers ? block_threads : bound.threads;
  const auto segments = static_cast<std::uint64_t>(request.num_segments);
  const auto segments_a_block =
      static_cast<std::uint64_t>(in_registers ? threads / bound.threads : 1);
  int device = 0;
  int multiprocessors = 0;
  int resident = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, 0);
  if (status != cudaSuccess) return status;
  const auto most =
      static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(multiprocessors);
  const std::uint64_t blocks = (segments + segments_a_block - 1) / segments_a_block;
  kernel<<<static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, most)),
           static_cast<unsigned>(threads), 0, stream>>>(arguments_of(request));
  return cudaGetLastError();
}

}  // namespace sortie::bench
