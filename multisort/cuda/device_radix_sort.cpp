#include "sortie/multisort/cuda/device_radix_sort.hpp"

namespace sortie::multisort {

// Compiled in cuda/instances/.
template <class Key>
cudaError_t radix_sort_of(void* temp, std::size_t& temp_bytes, RadixBuffers& buffers,
                          std::uint64_t n, int value_bytes, int begin_bit, int end_bit,
                          cudaStream_t stream);

cudaError_t device_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                              RadixBuffers& buffers, std::uint64_t n, int key_bytes,
                              int value_bytes, int begin_bit, int end_bit, cudaStream_t stream) {
  const auto sort = key_bytes == 1   ? radix_sort_of<std::uint8_t>
                    : key_bytes == 2 ? radix_sort_of<std::uint16_t>
                    : key_bytes == 4 ? radix_sort_of<std::uint32_t>
                                     : radix_sort_of<std::uint64_t>;
  return sort(temp_storage, temp_storage_bytes, buffers, n, value_bytes, begin_bit, end_bit,
              stream);
}

}  // namespace sortie::multisort
