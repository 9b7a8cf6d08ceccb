// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/copied_operands.hpp"
#include "apps/spgemm/cuda/essc/chunked_product.hpp"
#include "apps/spgemm/cuda/products.hpp"
#include "core/cuda/device_context.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::cuda {
namespace {

/// Number of bits of the numbers 0 .. count - 1.
int bits_of_numbers_below(std::int64_t count) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 0)));
}

/// Sorts all products of a chunk at once by (row, column), packed in 64 bits.
struct GlobalSort {
  using Key = std::uint64_t;

  static KeyLayout layout(std::int64_t cols) { return {std::max(bits_of_numbers_below(cols), 1)}; }
  /// Rows are numbered with the bits that the column leaves, at most 32.
  static std::int64_t max_rows(KeyLayout layout) {
    return std::int64_t{1} << std::min(64 - layout.column_bits, 32);
  }

  template <class Payload>
  static void sort(DoubleBuffer<Key>& keys, DoubleBuffer<Payload>& payloads, const RowChunk& chunk,
                   const std::uint32_t* /*row_offsets*/, KeyLayout layout, cudaStream_t stream) {
    // Only the bits in use are sorted.
    const int end_bit = layout.column_bits + bits_of_numbers_below(chunk.rows);
    RadixBuffers buffers{keys.Current(), keys.Alternate(), payloads.Current(),
                         payloads.Alternate()};
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return device_radix_sort(scratch, bytes, buffers, static_cast<std::uint64_t>(chunk.products),
                               sizeof(Key), sizeof(Payload), 0, end_bit, stream);
    });
    if (buffers.keys == keys.Current()) return;
    keys.selector ^= 1;
    payloads.selector ^= 1;
  }
};

}  // namespace

template <class Value, class Column>
DeviceCsr<Value, Column> esc_on_device(const DeviceContext& context,
                                       const DeviceCsrView<Value, Column>& a,
                                       const DeviceCsrView<Value, Column>& b) {
  return product_on_device(context, ChunkedProduct<Value, Column, GlobalSort>(context, a, b), a, b);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_esc(const Context& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b) {
  const DeviceCall call(context);
  return with_operands(call, a, b,
                       [&]<class Column>(const DeviceCsrView<Value, Column>& device_a,
                                         const DeviceCsrView<Value, Column>& device_b) {
                         using Product = ChunkedProduct<Value, Column, GlobalSort>;
                         return product_on_host<Idx>(call, Product(call, device_a, device_b),
                                                     device_a, device_b);
                       });
}

#define SORTIE_INSTANTIATE(Value, Idx)                                          \
  template Csr<Value, Idx> multiply_esc(const Context&, const Csr<Value, Idx>&, \
                                        const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)                                              \
  template DeviceCsr<Value, Column> esc_on_device(const DeviceContext&,                \
                                                  const DeviceCsrView<Value, Column>&, \
                                                  const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
