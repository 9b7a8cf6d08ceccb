#pragma once

#include "sortie/segsort/device_segmented_sort.hpp"

/// The paper's own design (Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs, ICS 2017), kept so
/// that its figures can be reproduced beside those of the tuned policy.
namespace sortie::segsort::ics17 {

/// Policy::ics17 of sort_on_device(): same conventions, except that the numbers of segments and
/// items must be known on the host.
cudaError_t sort_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                           const DeviceRequest& request, cudaStream_t stream);

}  // namespace sortie::segsort::ics17
