// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/baselines/cusparse.hpp"
#include "apps/spgemm/cuda/copied_operands.hpp"
#include "apps/spgemm/cuda/essc/chunked_product.hpp"
#include "apps/spgemm/cuda/essc/row_sorts.hpp"
#include "apps/spgemm/cuda/fused/fused_product.hpp"
#include "apps/spgemm/cuda/product_chunks.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// Returns finish(product) for the DeviceProduct of an algorithm of Sortie. `automatic` is fused if
/// it can compute C, otherwise essc.
/// \throws Error (unavailable) fused, and too many columns
template <class Value, class Column, class Finish>
auto with_product(const DeviceContext& context, const DeviceCsrView<Value, Column>& a,
                  const DeviceCsrView<Value, Column>& b, Algorithm algorithm,
                  const Finish& finish) {
  if (algorithm == Algorithm::automatic || algorithm == Algorithm::fused) {
    if constexpr (sizeof(Column) == sizeof(std::uint32_t)) {
      if (fits_fused_product<Value>(a.rows, b.cols))
        return finish(FusedProduct<Value>(context, a, b));
    }
    if (algorithm == Algorithm::fused) throw too_large_for_fused_product(a.rows, b.cols);
  }
  if (algorithm == Algorithm::esc)
    return finish(ChunkedProduct<Value, Column, GlobalSort>(context, a, b));
  return finish(ChunkedProduct<Value, Column, SegmentedRowSort<Column>>(context, a, b));
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                         Algorithm algorithm) {
  const DeviceCall call(context);
  return with_operands(call, a, b, [&](const auto& device_a, const auto& device_b) {
    if (is_cusparse(algorithm)) {
      const auto c = cusparse_on_device(call, device_a, device_b, algorithm);
      DevicePhase phase(call, "copy out");
      Csr<Value, Idx> host = to_host<Idx>(c);
      phase.stop();
      return host;
    }
    return with_product(call, device_a, device_b, algorithm, [&](auto&& product) {
      return product_on_host<Idx>(call, product, device_a, device_b);
    });
  });
}

template <Scalar Value, Index Idx>
void multiply_in_chunks(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                        const ProductSink<Value, Idx>& sink, Algorithm algorithm) {
  const DeviceCall call(context);
  with_operands(call, a, b, [&](const auto& device_a, const auto& device_b) {
    with_product(call, device_a, device_b, algorithm,
                 [&](auto&& product) { product_in_chunks(call, product, b.cols, sink); });
  });
}

template <class Value, class Column>
DeviceCsr<Value, Column> multiply_on_device(const Context& context,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& b,
                                            Algorithm algorithm, CUstream_st* stream) {
  if (a.cols != b.rows) throw shapes_error(a.rows, a.cols, b.rows, b.cols);
  const DeviceCall call(context, stream);
  if (is_cusparse(algorithm) && algorithm != Algorithm::cusp)
    return cusparse_on_device(call, a, b, algorithm);
  if (algorithm != Algorithm::automatic && algorithm != Algorithm::fused &&
      algorithm != Algorithm::essc && algorithm != Algorithm::esc) {
    throw Error(ErrorKind::unavailable,
                "SpGEMM: found algorithm " + std::string(name(algorithm)) +
                    ", expected one that runs on CUDA (fused, essc, esc, cusparse...)");
  }
  return with_product(call, a, b, algorithm,
                      [&](auto&& product) { return product_on_device(call, product, a, b); });
}

template <class Value, class Column>
DeviceCsr<Value, Column> multiply_on_device(const Context& context,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& b,
                                            CUstream_st* stream) {
  return multiply_on_device(context, a, b, Algorithm::automatic, stream);
}

#define SORTIE_INSTANTIATE(Value, Idx)                                                             \
  template Csr<Value, Idx> multiply(const Context&, const Csr<Value, Idx>&,                        \
                                    const Csr<Value, Idx>&, Algorithm);                            \
  template void multiply_in_chunks(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, \
                                   const ProductSink<Value, Idx>&, Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)                                                       \
  template DeviceCsr<Value, Column> multiply_on_device(                                         \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&, \
      Algorithm, CUstream_st*);                                                                 \
  template DeviceCsr<Value, Column> multiply_on_device(                                         \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&, \
      CUstream_st*);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
