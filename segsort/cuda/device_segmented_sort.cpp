#include "sortie/segsort/device_segmented_sort.hpp"

#include "sortie/segsort/cuda/ics17/sort_ics17.hpp"

namespace sortie::segsort {

cudaError_t sort_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                           const DeviceRequest& request, cudaStream_t stream) {
  return ics17::sort_on_device(temp_storage, temp_storage_bytes, request, stream);
}

}  // namespace sortie::segsort
