// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/copied_operands.hpp"
#include "apps/spgemm/cuda/fused/fused_product.hpp"
#include "apps/spgemm/cuda/products.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_scope.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

template <class Column>
constexpr bool is_narrow = sizeof(Column) == sizeof(std::uint32_t);

}  // namespace

template <class Value, class Column>
DeviceCsr<Value, Column> fused_on_device(const DeviceContext& context,
                                         const DeviceCsrView<Value, Column>& a,
                                         const DeviceCsrView<Value, Column>& b) {
  if constexpr (is_narrow<Column>) {
    if (fits_fused_product<Value>(a.rows, b.cols))
      return product_on_device(context, FusedProduct<Value>(context, a, b), a, b);
  }
  throw too_large_for_fused_product(a.rows, b.cols);
}

template <class Value, class Column>
DeviceCsr<Value, Column> automatic_on_device(const DeviceContext& context,
                                             const DeviceCsrView<Value, Column>& a,
                                             const DeviceCsrView<Value, Column>& b) {
  if constexpr (is_narrow<Column>) {
    if (fits_fused_product<Value>(a.rows, b.cols)) return fused_on_device(context, a, b);
  }
  return essc_on_device(context, a, b);
}

namespace {

/// Copies the operands to the device and returns finish(product, A, B).
template <class Result, Scalar Value, Index Idx, class Finish>
Result with_product(const DeviceContext& context, const Csr<Value, Idx>& a,
                    const Csr<Value, Idx>& b, const Finish& finish) {
  return with_operands(context, a, b,
                       [&]<class Column>(const DeviceCsrView<Value, Column>& device_a,
                                         const DeviceCsrView<Value, Column>& device_b) -> Result {
                         if constexpr (is_narrow<Column>) {
                           if (fits_fused_product<Value>(a.rows, b.cols)) {
                             FusedProduct<Value> product(context, device_a, device_b);
                             return finish(product, device_a, device_b);
                           }
                         }
                         throw too_large_for_fused_product(a.rows, b.cols);
                       });
}

/// \return true if fused_on_device() can compute the product
template <Scalar Value, Index Idx>
bool can_be_fused(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  const DeviceScope scope(context);
  return !needs_wide_columns(a.cols) && fits_fused_product<Value>(a.rows, b.cols);
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_fused(const Context& context, const Csr<Value, Idx>& a,
                               const Csr<Value, Idx>& b) {
  const DeviceCall call(context);
  return with_product<Csr<Value, Idx>>(
      call, a, b, [&](auto& product, const auto& device_a, const auto& device_b) {
        return product_on_host<Idx>(call, product, device_a, device_b);
      });
}

template <Scalar Value, Index Idx>
void multiply_fused_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                              const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink) {
  const DeviceCall call(context);
  with_product<void>(call, a, b, [&](auto& product, const auto&, const auto&) {
    product_in_chunks(call, product, b.cols, sink);
  });
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_automatic(const Context& context, const Csr<Value, Idx>& a,
                                   const Csr<Value, Idx>& b) {
  return can_be_fused(context, a, b) ? multiply_fused(context, a, b) : multiply_essc(context, a, b);
}

template <Scalar Value, Index Idx>
void multiply_automatic_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                                  const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink) {
  can_be_fused(context, a, b) ? multiply_fused_in_chunks(context, a, b, sink)
                              : multiply_essc_in_chunks(context, a, b, sink);
}

#define SORTIE_INSTANTIATE(Value, Idx)                                                            \
  template Csr<Value, Idx> multiply_fused(const Context&, const Csr<Value, Idx>&,                 \
                                          const Csr<Value, Idx>&);                                \
  template Csr<Value, Idx> multiply_automatic(const Context&, const Csr<Value, Idx>&,             \
                                              const Csr<Value, Idx>&);                            \
  template void multiply_fused_in_chunks(const Context&, const Csr<Value, Idx>&,                  \
                                         const Csr<Value, Idx>&, const ProductSink<Value, Idx>&); \
  template void multiply_automatic_in_chunks(const Context&, const Csr<Value, Idx>&,              \
                                             const Csr<Value, Idx>&,                              \
                                             const ProductSink<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)                                                    \
  template DeviceCsr<Value, Column> fused_on_device(const DeviceContext&,                    \
                                                    const DeviceCsrView<Value, Column>&,     \
                                                    const DeviceCsrView<Value, Column>&);    \
  template DeviceCsr<Value, Column> automatic_on_device(const DeviceContext&,                \
                                                        const DeviceCsrView<Value, Column>&, \
                                                        const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
