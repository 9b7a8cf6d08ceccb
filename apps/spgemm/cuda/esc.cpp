#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "sortie/apps/spgemm/backends.hpp"
#include "sortie/apps/spgemm/cuda/chunked_product.hpp"
#include "sortie/apps/spgemm/cuda/device_multiply.hpp"
#include "sortie/apps/spgemm/cuda/operands.hpp"
#include "sortie/apps/spgemm/cuda/radix_sort.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// Bits of the numbers 0 .. count - 1.
int bits_of_numbers_below(std::int64_t count) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 0)));
}

/// All products of a chunk are sorted at once by (row, column), packed in 64 bits.
struct GlobalSort {
  using Key = std::uint64_t;

  static KeyLayout layout(std::int64_t cols) { return {std::max(bits_of_numbers_below(cols), 1)}; }
  /// As many as the bits that the column leaves can count; numbers of rows have 32 bits at most.
  static std::int64_t max_rows(KeyLayout layout) {
    return std::int64_t{1} << std::min(64 - layout.column_bits, 32);
  }

  template <class Payload>
  static void sort(DoubleBuffer<Key>& keys, DoubleBuffer<Payload>& payloads, const RowChunk& chunk,
                   const std::uint32_t* /*row_offsets*/, KeyLayout layout, cudaStream_t stream) {
    // Only the bits that differ are sorted.
    const int end_bit = layout.column_bits + bits_of_numbers_below(chunk.rows);
    DoubleBuffer<void> untyped(payloads.Current(), payloads.Alternate());
    radix_sort_pairs(keys, untyped, sizeof(Payload), chunk.products, end_bit, stream);
    payloads.selector ^= untyped.selector;
  }
};

}  // namespace

template <class Value, class Column>
DeviceCsr<Value, Column> esc_on_device(const Context& context,
                                       const DeviceCsrView<Value, Column>& a,
                                       const DeviceCsrView<Value, Column>& b) {
  return product_on_device(context, ChunkedProduct<Value, Column, GlobalSort>(context, a, b), a, b);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_esc(const Context& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b) {
  return with_operands(context, a, b,
                       [&]<class Column>(const DeviceCsr<Value, Column>& device_a,
                                         const DeviceCsr<Value, Column>& device_b) {
                         const auto view_a = view(device_a);
                         const auto view_b = view(device_b);
                         using Product = ChunkedProduct<Value, Column, GlobalSort>;
                         return product_on_host<Idx>(context, Product(context, view_a, view_b),
                                                     view_a, view_b);
                       });
}

#define SORTIE_INSTANTIATE(Value, Idx)                                          \
  template Csr<Value, Idx> multiply_esc(const Context&, const Csr<Value, Idx>&, \
                                        const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)          \
  template DeviceCsr<Value, Column> esc_on_device( \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
