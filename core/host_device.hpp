// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks functions that both host and device code call.
#ifdef __CUDACC__
#define SORTIE_HOST_DEVICE __host__ __device__
#else
#define SORTIE_HOST_DEVICE
#endif
