#include <cstdint>

#include "sortie/apps/spgemm/backends.hpp"
#include "sortie/apps/spgemm/cuda/device_multiply.hpp"
#include "sortie/apps/spgemm/cuda/fused/fused_product.hpp"
#include "sortie/apps/spgemm/cuda/operands.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

template <class Column>
constexpr bool is_narrow = sizeof(Column) == sizeof(std::uint32_t);

}  // namespace

template <class Value, class Column>
DeviceCsr<Value, Column> fused_on_device(const Context& context,
                                         const DeviceCsrView<Value, Column>& a,
                                         const DeviceCsrView<Value, Column>& b) {
  if constexpr (is_narrow<Column>) {
    if (fits_fused_product<Value>(a.rows, b.cols))
      return product_on_device(context, FusedProduct<Value>(context, a, b), a, b);
  }
  throw too_large_for_fused_product(a.rows, b.cols);
}

template <class Value, class Column>
DeviceCsr<Value, Column> automatic_on_device(const Context& context,
                                             const DeviceCsrView<Value, Column>& a,
                                             const DeviceCsrView<Value, Column>& b) {
  if constexpr (is_narrow<Column>) {
    if (fits_fused_product<Value>(a.rows, b.cols)) return fused_on_device(context, a, b);
  }
  return essc_on_device(context, a, b);
}

namespace {

/// finish(product, A, B) for operands that are brought to the device.
template <class Result, Scalar Value, Index Idx, class Finish>
Result with_product(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                    const Finish& finish) {
  return with_operands(context, a, b,
                       [&]<class Column>(const DeviceCsr<Value, Column>& device_a,
                                         const DeviceCsr<Value, Column>& device_b) -> Result {
                         if constexpr (is_narrow<Column>) {
                           const auto view_a = view(device_a);
                           const auto view_b = view(device_b);
                           if (fits_fused_product<Value>(a.rows, b.cols)) {
                             FusedProduct<Value> product(context, view_a, view_b);
                             return finish(product, view_a, view_b);
                           }
                         }
                         throw too_large_for_fused_product(a.rows, b.cols);
                       });
}

/// \return true when fused_on_device() can make the product
template <Scalar Value, Index Idx>
bool can_be_fused(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  const DeviceScope scope(context);
  return !needs_wide_columns(a.cols) && fits_fused_product<Value>(a.rows, b.cols);
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_fused(const Context& context, const Csr<Value, Idx>& a,
                               const Csr<Value, Idx>& b) {
  return with_product<Csr<Value, Idx>>(
      context, a, b, [&](auto& product, const auto& view_a, const auto& view_b) {
        return product_on_host<Idx>(context, product, view_a, view_b);
      });
}

template <Scalar Value, Index Idx>
void multiply_fused_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                              const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink) {
  with_product<void>(context, a, b, [&](auto& product, const auto&, const auto&) {
    product_in_chunks(context, product, b.cols, sink);
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

#define SORTIE_INSTANTIATE(Value, Column)                                                        \
  template DeviceCsr<Value, Column> fused_on_device(                                             \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&); \
  template DeviceCsr<Value, Column> automatic_on_device(                                         \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
