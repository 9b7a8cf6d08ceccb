// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/kernels/on_host/cuda_on_host.hpp"

/// Replaces CUDA's header of this name on the host: the types that headers of kernels name.
using cudaStream_t = struct CUstream_st*;
enum cudaError_t { cudaSuccess };
