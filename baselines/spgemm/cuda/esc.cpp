// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/essc/chunked_product.hpp"
#include "core/cuda/device_context.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::spgemm::baselines {

using cuda::DeviceCsr;
using cuda::DeviceCsrView;
using cuda::RowChunk;

namespace {

/// Number of bits of the numbers 0 .. count - 1.
int bits_of_numbers_below(std::int64_t count) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 0)));
}

/// Sorts all products of a chunk at once by (row, column), packed in 64 bits.
struct GlobalSort {
  using Key = std::uint64_t;

  static int column_bits(std::int64_t cols) { return std::max(bits_of_numbers_below(cols), 1); }
  /// Rows are numbered with the bits that the column leaves, at most 32.
  static std::int64_t max_rows(int column_bits) {
    return std::int64_t{1} << std::min(64 - column_bits, 32);
  }

  template <class Payload>
  static void sort(DoubleBuffer<Key>& keys, DoubleBuffer<Payload>& payloads, const RowChunk& chunk,
                   const std::uint32_t* /*row_offsets*/, cudaStream_t stream) {
    // Only the bits in use are sorted.
    const int end_bit = chunk.column_bits + bits_of_numbers_below(chunk.rows);
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

template <class Value, class Column>
using EscProduct = cuda::ChunkedProduct<Value, Column, GlobalSort>;

template <class Value, class Column>
class Esc : public DeviceBaseline<Value, Column> {
 public:
  Esc(const DeviceContext& context, const DeviceCsrView<Value, Column>& a,
      const DeviceCsrView<Value, Column>& b)
      : context_(context), a_(a), b_(b) {}

  void compute() override {
    EscProduct<Value, Column> product(context_, a_, b_);
    c_ = cuda::product_on_device(context_, product, a_, b_);
  }
  DeviceCsr<Value, Column> take_result() override { return std::move(c_); }

 private:
  const DeviceContext& context_;
  DeviceCsrView<Value, Column> a_;
  DeviceCsrView<Value, Column> b_;
  DeviceCsr<Value, Column> c_;
};

}  // namespace

/// C is copied to the host in chunks, so that it may exceed the device memory.
template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_esc(const Context& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b) {
  const DeviceCall call(context);
  return cuda::with_operands(call, a, b,
                             [&]<class Column>(const DeviceCsrView<Value, Column>& device_a,
                                               const DeviceCsrView<Value, Column>& device_b) {
                               EscProduct<Value, Column> product(call, device_a, device_b);
                               return cuda::product_on_host<Idx>(call, product, device_a, device_b);
                             });
}

template <Scalar Value, Index Idx>
WorkSpace esc_work_space(const Context& context, const ProductSize& size) {
  const DeviceScope scope(context);
  return cuda::wide_columns<Idx>(size.cols)
             ? EscProduct<Value, std::uint64_t>::work_space(context, size)
             : EscProduct<Value, std::uint32_t>::work_space(context, size);
}

template <class Value, class Column>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare_esc(const DeviceContext& context,
                                                           const DeviceCsrView<Value, Column>& a,
                                                           const DeviceCsrView<Value, Column>& b) {
  return std::make_unique<Esc<Value, Column>>(context, a, b);
}

#define SORTIE_INSTANTIATE(Value, Idx)                                          \
  template Csr<Value, Idx> multiply_esc(const Context&, const Csr<Value, Idx>&, \
                                        const Csr<Value, Idx>&);                \
  template WorkSpace esc_work_space<Value, Idx>(const Context&, const ProductSize&);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)                              \
  template std::unique_ptr<DeviceBaseline<Value, Column>> prepare_esc( \
      const DeviceContext&, const DeviceCsrView<Value, Column>&,       \
      const DeviceCsrView<Value, Column>&);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::baselines
