// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/suffix_array/construction.hpp"

namespace sortie::suffix_array {

/// The skew algorithm of Karkkainen and Sanders (papers/dc3/device_dc3.hpp), to which the paper of
/// Hou et al. (ICS 2017, section 5.1) compares prefix doubling. Runs on CUDA. In device memory it
/// has 32-bit positions only.
[[nodiscard]] ConstructionAlgorithm dc3();

}  // namespace sortie::suffix_array
