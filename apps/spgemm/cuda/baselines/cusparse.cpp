// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <type_traits>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/baselines/cusp_product.hpp"
#include "apps/spgemm/cuda/baselines/cusparse_product.hpp"
#include "apps/spgemm/cuda/baselines/cusparse_reuse.hpp"
#include "apps/spgemm/cuda/copied_operands.hpp"
#include "apps/spgemm/cuda/products.hpp"
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

}  // namespace

template <class Value, class Column>
DeviceCsr<Value, Column> cusparse_on_device(const DeviceContext& context,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& b,
                                            Algorithm which) {
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

#ifdef SORTIE_HAVE_CUSP
/// Like cusparse_on_device(), with CUSP.
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

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_cusparse(const Context& context, const Csr<Value, Idx>& a,
                                  const Csr<Value, Idx>& b, Algorithm which) {
  const DeviceCall call(context);
  return with_operands(call, a, b, [&](const auto& device_a, const auto& device_b) {
#ifdef SORTIE_HAVE_CUSP
    const auto c = which == Algorithm::cusp ? cusp_on_device(call, device_a, device_b)
                                            : cusparse_on_device(call, device_a, device_b, which);
#else
    const auto c = cusparse_on_device(call, device_a, device_b, which);
#endif
    DevicePhase phase(call, "copy out");
    Csr<Value, Idx> host = to_host<Idx>(c);
    phase.stop();
    return host;
  });
}

#define SORTIE_INSTANTIATE(Value, Idx)                                               \
  template Csr<Value, Idx> multiply_cusparse(const Context&, const Csr<Value, Idx>&, \
                                             const Csr<Value, Idx>&, Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)                        \
  template DeviceCsr<Value, Column> cusparse_on_device(          \
      const DeviceContext&, const DeviceCsrView<Value, Column>&, \
      const DeviceCsrView<Value, Column>&, Algorithm);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
