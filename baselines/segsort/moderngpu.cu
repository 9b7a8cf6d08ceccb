// SPDX-License-Identifier: Apache-2.0
#include "baselines/segsort/moderngpu.hpp"

#include <cstdint>
#include <map>
#include <memory>

#if __has_include(<moderngpu/kernel_segsort.hxx>)
#define SORTIE_HAVE_MODERNGPU 1
#include <moderngpu/kernel_segsort.hxx>
#else
#define SORTIE_HAVE_MODERNGPU 0
#endif

namespace sortie::baselines {

#if SORTIE_HAVE_MODERNGPU
namespace {

/// Takes device memory from the pool of the device, as the sorts that it is compared with do.
class PoolContext : public mgpu::standard_context_t {
 public:
  explicit PoolContext(cudaStream_t stream) : mgpu::standard_context_t(false, stream) {}

  void* alloc(std::size_t size, mgpu::memory_space_t space) override {
    if (space != mgpu::memory_space_device) return mgpu::standard_context_t::alloc(size, space);
    void* memory = nullptr;
    if (size != 0) {
      const cudaError_t status = cudaMallocAsync(&memory, size, stream());
      if (status != cudaSuccess) throw mgpu::cuda_exception_t(status);
    }
    return memory;
  }
  void free(void* memory, mgpu::memory_space_t space) override {
    if (space != mgpu::memory_space_device) return mgpu::standard_context_t::free(memory, space);
    if (memory != nullptr) cudaFreeAsync(memory, stream());
  }
};

template <class Value>
void sort_in_place(const segsort::DeviceRequest& request, PoolContext& context) {
  mgpu::segmented_sort(
      static_cast<std::uint32_t*>(request.keys_out), static_cast<Value*>(request.values_out),
      static_cast<int>(request.num_items), static_cast<const int*>(request.begin_offsets),
      static_cast<int>(request.num_segments), mgpu::less_t<std::uint32_t>(), context);
}

}  // namespace
#endif

bool moderngpu_sorts(const segsort::DeviceRequest& request) {
  return SORTIE_HAVE_MODERNGPU && request.key_type == KeyType::u32 &&
         (request.value_bytes == 4 || request.value_bytes == 8) && request.offset_bytes == 4;
}

cudaError_t moderngpu_segmented_sort(void* temporary, std::size_t& bytes,
                                     const segsort::DeviceRequest& request, cudaStream_t stream) {
  if (!moderngpu_sorts(request)) return cudaErrorNotSupported;
  if (temporary == nullptr) {
    bytes = 1;  // not used, but a null pointer would request the size again
    return cudaSuccess;
  }
#if SORTIE_HAVE_MODERNGPU
  const auto items = static_cast<std::size_t>(request.num_items);
  cudaError_t status =
      cudaMemcpyAsync(request.keys_out, request.keys_in, items * sizeof(std::uint32_t),
                      cudaMemcpyDeviceToDevice, stream);
  if (status == cudaSuccess)
    status = cudaMemcpyAsync(request.values_out, request.values_in,
                             items * static_cast<std::size_t>(request.value_bytes),
                             cudaMemcpyDeviceToDevice, stream);
  if (status != cudaSuccess) return status;
  try {
    // Its creation takes longer than a sort.
    static std::map<cudaStream_t, std::unique_ptr<PoolContext>> contexts;
    std::unique_ptr<PoolContext>& context = contexts[stream];
    if (context == nullptr) context = std::make_unique<PoolContext>(stream);
    if (request.value_bytes == 8) {
      sort_in_place<std::uint64_t>(request, *context);
    } else {
      sort_in_place<std::uint32_t>(request, *context);
    }
  } catch (const mgpu::cuda_exception_t& error) {
    return error.result;
  }
  return cudaGetLastError();
#else
  static_cast<void>(stream);
  return cudaErrorNotSupported;
#endif
}

}  // namespace sortie::baselines
