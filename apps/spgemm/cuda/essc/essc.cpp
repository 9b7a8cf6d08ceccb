// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/copied_operands.hpp"
#include "apps/spgemm/cuda/essc/chunked_product.hpp"
#include "apps/spgemm/cuda/products.hpp"
#include "primitives/cuda/launch.cuh"
#include "core/cuda/device_context.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// Segments are rows, keys are columns.
template <class Column>
struct SegmentedRowSort {
  using Key = Column;

  static KeyLayout layout(std::int64_t /*cols*/) { return {}; }
  static std::int64_t max_rows(KeyLayout /*layout*/) {
    return std::numeric_limits<std::int64_t>::max();
  }

  template <class Payload>
  static void sort(DoubleBuffer<Key>& keys, DoubleBuffer<Payload>& payloads, const RowChunk& chunk,
                   const std::uint32_t* row_offsets, KeyLayout /*layout*/, cudaStream_t stream) {
    // An unstable sort suffices: it is deterministic, so the order of equal columns, and with it
    // the order of summation, is reproducible.
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return DeviceSegmentedSort::SortPairs(scratch, bytes, keys, payloads, chunk.products,
                                            chunk.rows, row_offsets, row_offsets + 1, stream);
    });
  }
};

}  // namespace

template <class Value, class Column>
DeviceCsr<Value, Column> essc_on_device(const DeviceContext& context,
                                        const DeviceCsrView<Value, Column>& a,
                                        const DeviceCsrView<Value, Column>& b) {
  return product_on_device(
      context, ChunkedProduct<Value, Column, SegmentedRowSort<Column>>(context, a, b), a, b);
}

namespace {

/// Copies the operands to the device and returns finish(product, A, B).
template <Scalar Value, Index Idx, class Finish>
auto with_product(const DeviceContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                  const Finish& finish) {
  return with_operands(context, a, b,
                       [&]<class Column>(const DeviceCsrView<Value, Column>& device_a,
                                         const DeviceCsrView<Value, Column>& device_b) {
                         ChunkedProduct<Value, Column, SegmentedRowSort<Column>> product(
                             context, device_a, device_b);
                         return finish(product, device_a, device_b);
                       });
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_essc(const Context& context, const Csr<Value, Idx>& a,
                              const Csr<Value, Idx>& b) {
  const DeviceCall call(context);
  return with_product(call, a, b, [&](auto& product, const auto& device_a, const auto& device_b) {
    return product_on_host<Idx>(call, product, device_a, device_b);
  });
}

template <Scalar Value, Index Idx>
void multiply_essc_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink) {
  const DeviceCall call(context);
  with_product(call, a, b, [&](auto& product, const auto&, const auto&) {
    product_in_chunks(call, product, b.cols, sink);
  });
}

#define SORTIE_INSTANTIATE(Value, Idx)                                           \
  template Csr<Value, Idx> multiply_essc(const Context&, const Csr<Value, Idx>&, \
                                         const Csr<Value, Idx>&);                \
  template void multiply_essc_in_chunks(const Context&, const Csr<Value, Idx>&,  \
                                        const Csr<Value, Idx>&, const ProductSink<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)                                               \
  template DeviceCsr<Value, Column> essc_on_device(const DeviceContext&,                \
                                                   const DeviceCsrView<Value, Column>&, \
                                                   const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
