// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <type_traits>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/baselines/cusp_product.hpp"
#include "apps/spgemm/cuda/baselines/cusparse.hpp"
#include "apps/spgemm/cuda/baselines/cusparse_product.hpp"
#include "apps/spgemm/cuda/baselines/cusparse_reuse.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {

namespace {

template <class Value>
DeviceCsr<Value> reuse_on_device(const DeviceContext& context, const DeviceCsrView<Value>& a,
                                 const DeviceCsrView<Value>& b) {
  CusparseReuse<Value> product(context, a, b);
  DevicePhase structure(context, "structure");
  product.analyse();
  structure.stop();
  DevicePhase values(context, "values");
  product.compute();
  values.stop();
  DevicePhase sorting(context, "sort");
  DeviceCsr<Value> c = product.take_result();
  sorting.stop();
  return c;
}

#ifdef SORTIE_HAVE_CUSP
/// CUSP.
template <class Value, class Column>
DeviceCsr<Value, Column> cusp_on_device(const DeviceContext& context,
                                        const DeviceCsrView<Value, Column>& a,
                                        const DeviceCsrView<Value, Column>& b) {
  if constexpr (std::is_same_v<Column, std::uint32_t> && std::is_floating_point_v<Value>) {
    CuspProduct<Value> product(context, a, b);
    DevicePhase multiplication(context, "cusp");
    product.multiply();
    multiplication.stop();
    return product.take_result();
  } else {
    throw Error(ErrorKind::unavailable,
                "CUSP: found complex values or more than 2^32 columns, expected f32 or f64 values "
                "and 32-bit indices, for which this baseline is built");
  }
}
#endif

}  // namespace

bool is_cusparse(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::cusparse_default:
    case Algorithm::cusparse_alg1:
    case Algorithm::cusparse_alg2:
    case Algorithm::cusparse_alg3:
    case Algorithm::cusparse_reuse:
    case Algorithm::cusp:
      return true;
    default:
      return false;
  }
}

template <class Value, class Column>
DeviceCsr<Value, Column> cusparse_on_device(const DeviceContext& context,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& b,
                                            Algorithm which) {
#ifdef SORTIE_HAVE_CUSP
  if (which == Algorithm::cusp) return cusp_on_device(context, a, b);
#endif
  if constexpr (std::is_same_v<Column, std::uint32_t>) {
    if (which == Algorithm::cusparse_reuse) return reuse_on_device(context, a, b);
    CusparseProduct<Value> product(context, a, b);
    DevicePhase multiplication(context, "cusparse");
    product.multiply(which);
    multiplication.stop();
    DevicePhase sorting(context, "sort");
    DeviceCsr<Value, Column> c = product.take_result();
    sorting.stop();
    return c;
  } else {
    throw Error(ErrorKind::unavailable,
                "cuSPARSE SpGEMM: found a matrix of " + std::to_string(std::max(a.cols, b.cols)) +
                    " columns, expected at most 2147483647: it takes 32-bit indices only");
  }
}

#define SORTIE_INSTANTIATE(Value, Column)                        \
  template DeviceCsr<Value, Column> cusparse_on_device(          \
      const DeviceContext&, const DeviceCsrView<Value, Column>&, \
      const DeviceCsrView<Value, Column>&, Algorithm);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
