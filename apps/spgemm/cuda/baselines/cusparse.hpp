// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/cuda/device_context.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::spgemm::cuda {

/// True for the cusparse_... algorithms and cusp.
[[nodiscard]] bool is_cusparse(Algorithm algorithm);

/// A product of another library: cuSPARSE, or CUSP in builds that found it. CusparseProduct allows
/// timing the library alone.
/// \param which  one of the cusparse_... algorithms, or cusp
/// \throws Error (unavailable) a size exceeds 2^31 - 1, or 64-bit columns
template <class Value, class Column>
[[nodiscard]] DeviceCsr<Value, Column> cusparse_on_device(const DeviceContext& context,
                                                          const DeviceCsrView<Value, Column>& a,
                                                          const DeviceCsrView<Value, Column>& b,
                                                          Algorithm which);

}  // namespace sortie::spgemm::cuda
