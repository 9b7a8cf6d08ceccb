// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sortie/device_segmented_sort.hpp"

namespace sortie::papers {

/// The design of the paper, as a policy of DeviceSegmentedSort: bins, reg-sort, smem-merge, grid
/// merges. register_all() registers it.
inline constexpr segsort::Policy ics17{1};

}  // namespace sortie::papers

/// Design of the paper (Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs, ICS 2017), for
/// comparison with the tuned policy.
namespace sortie::segsort::ics17 {

/// Implements papers::ics17 of sort_on_device(), with the same conventions, except that the number of
/// segments must be known on the host: otherwise it returns cudaErrorNotSupported. Only stable sorts
/// keep equal keys in order; the others are deterministic too.
cudaError_t sort_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                           const DeviceRequest& request, cudaStream_t stream);

/// The first part of the same alone: lists the segments of each bin in the temporary storage and
/// copies those of one item. For measurements.
cudaError_t bin_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                          const DeviceRequest& request, cudaStream_t stream);

}  // namespace sortie::segsort::ics17
