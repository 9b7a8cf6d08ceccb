#include <cstdint>
#include <limits>

#include "sortie/apps/spgemm/backends.hpp"
#include "sortie/apps/spgemm/cuda/chunked_product.hpp"
#include "sortie/apps/spgemm/cuda/device_multiply.hpp"
#include "sortie/apps/spgemm/cuda/operands.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// The rows are the segments, the columns the keys.
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
    // Equal columns come out in some order, yet in the same one on every run, and that is all that
    // reproducible sums need; so the faster sort that is not stable will do.
    std::size_t bytes = 0;
    check_cuda(DeviceSegmentedSort::SortPairs(nullptr, bytes, keys, payloads, chunk.products,
                                              chunk.rows, row_offsets, row_offsets + 1, stream));
    DeviceBuffer<char> scratch(bytes, stream);
    check_cuda(DeviceSegmentedSort::SortPairs(scratch.data(), bytes, keys, payloads, chunk.products,
                                              chunk.rows, row_offsets, row_offsets + 1, stream));
  }
};

}  // namespace

template <class Value, class Column>
DeviceCsr<Value, Column> essc_on_device(const Context& context,
                                        const DeviceCsrView<Value, Column>& a,
                                        const DeviceCsrView<Value, Column>& b) {
  return product_on_device(
      context, ChunkedProduct<Value, Column, SegmentedRowSort<Column>>(context, a, b), a, b);
}

namespace {

/// finish(product, A, B) for operands that are brought to the device.
template <Scalar Value, Index Idx, class Finish>
auto with_product(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                  const Finish& finish) {
  return with_operands(context, a, b,
                       [&]<class Column>(const DeviceCsr<Value, Column>& device_a,
                                         const DeviceCsr<Value, Column>& device_b) {
                         const auto view_a = view(device_a);
                         const auto view_b = view(device_b);
                         ChunkedProduct<Value, Column, SegmentedRowSort<Column>> product(
                             context, view_a, view_b);
                         return finish(product, view_a, view_b);
                       });
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_essc(const Context& context, const Csr<Value, Idx>& a,
                              const Csr<Value, Idx>& b) {
  return with_product(context, a, b, [&](auto& product, const auto& view_a, const auto& view_b) {
    return product_on_host<Idx>(context, product, view_a, view_b);
  });
}

template <Scalar Value, Index Idx>
void multiply_essc_in_chunks(const Context& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b, const ProductSink<Value, Idx>& sink) {
  with_product(context, a, b, [&](auto& product, const auto&, const auto&) {
    product_in_chunks(context, product, b.cols, sink);
  });
}

#define SORTIE_INSTANTIATE(Value, Idx)                                           \
  template Csr<Value, Idx> multiply_essc(const Context&, const Csr<Value, Idx>&, \
                                         const Csr<Value, Idx>&);                \
  template void multiply_essc_in_chunks(const Context&, const Csr<Value, Idx>&,  \
                                        const Csr<Value, Idx>&, const ProductSink<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)           \
  template DeviceCsr<Value, Column> essc_on_device( \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
