// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "apps/spgemm/cuda/cusparse_functions.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "matrices/generators.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/spgemm_check.hpp"
#include "tests/spgemm/products.hpp"

/// Products of matrices in device memory that belong to others: raw pointers, and cuSPARSE's
/// descriptors.
namespace sortie::test {
namespace {

using spgemm::cuda::BorrowedCsr;
using spgemm::cuda::DeviceCsr;
using spgemm::cuda::multiply_on_device;
using spgemm::cuda::to_host;

/// The arrays of a caller, from its own allocations.
template <class Value, class Offset, class ColumnIndex>
struct Arrays {
  DeviceBuffer<Offset> row_ptr;
  DeviceBuffer<ColumnIndex> col_idx;
  DeviceBuffer<Value> values;

  template <class Idx>
  Arrays(const Csr<Value, Idx>& matrix, cudaStream_t stream) {
    const std::vector<Offset> offsets(matrix.row_ptr.begin(), matrix.row_ptr.end());
    const std::vector<ColumnIndex> columns(matrix.col_idx.begin(), matrix.col_idx.end());
    row_ptr = DeviceBuffer<Offset>(std::span(offsets), stream);
    col_idx = DeviceBuffer<ColumnIndex>(std::span(columns), stream);
    values = DeviceBuffer<Value>(std::span(matrix.values), stream);
    check_cuda(cudaStreamSynchronize(stream));
  }
};

template <class ValueType>
class Borrowed : public testing::Test {
 protected:
  using Value = ValueType;
  using Matrix = Csr<Value, std::int64_t>;

  DeviceScope scope_{context()};
  CudaStream own_stream_ = make_stream();
  cudaStream_t stream_ = own_stream_.get();
  Context context_ = context();
  Matrix a_ = matrices::power_law<Value, std::int64_t>(500, 400, 1.5, 90, 1);
  Matrix b_ = matrices::erdos_renyi<Value, std::int64_t>(400, 300, 9, 2);

  template <class Column>
  void expect_products(const BorrowedCsr<Value, Column>& a, const BorrowedCsr<Value, Column>& b) {
    // `wanted` by the call that names the algorithm or, for automatic, by the one that does not.
    const auto expect = [&](Algorithm wanted, Algorithm algorithm) {
      SCOPED_TRACE(std::string(spgemm::name(wanted)));
      const DeviceCsr<Value, Column> c =
          wanted == Algorithm::automatic
              ? multiply_on_device(context_, a.view(), b.view(), stream_)
              : multiply_on_device(context_, a.view(), b.view(), wanted, stream_);
      EXPECT_EQ(c.values.stream(), stream_);
      const Matrix host = to_host<std::int64_t>(c);
      EXPECT_NO_THROW(matrices::validate(host));
      if constexpr (sizeof(Column) == sizeof(std::uint32_t)) {
        EXPECT_TRUE(same_bits(host, spgemm::multiply(test::context(), a_, b_, algorithm)));
      } else {  // keys of another width are sorted by other kernels, equal ones in another order
        EXPECT_NO_THROW(spgemm::compare(host, reference_product(a_, b_), a_, b_,
                                        rounding_tolerance<Value>(longest_row(a_))));
      }
    };
    expect(Algorithm::essc, Algorithm::essc);
    expect(baseline("esc"), baseline("esc"));
    if constexpr (sizeof(Column) == sizeof(std::uint32_t)) {
      expect(Algorithm::automatic, Algorithm::automatic);
      expect(Algorithm::fused, Algorithm::fused);
      const auto library =
          multiply_on_device(context_, a.view(), b.view(), baseline("cusparse"), stream_);
      EXPECT_NO_THROW(spgemm::compare(to_host<std::int64_t>(library), reference_product(a_, b_), a_,
                                      b_, rounding_tolerance<Value>(longest_row(a_))));
    } else {
      expect(Algorithm::automatic, Algorithm::essc);
      EXPECT_THROW(
          (void)multiply_on_device(context_, a.view(), b.view(), baseline("cusparse"), stream_),
          Error);
    }
  }

  template <class Column, class Offset, class ColumnIndex>
  void expect_raw_pointers(std::uint64_t copied_per_row, std::uint64_t copied_per_entry) {
    const Arrays<Value, Offset, ColumnIndex> a(a_, stream_);
    const Arrays<Value, Offset, ColumnIndex> b(b_, stream_);
    const BorrowedCsr<Value, Column> borrowed_a(a_.rows, a_.cols, a_.nnz(), a.row_ptr.data(),
                                                a.col_idx.data(), a.values.data(), stream_);
    const BorrowedCsr<Value, Column> borrowed_b(b_.rows, b_.cols, b_.nnz(), b.row_ptr.data(),
                                                b.col_idx.data(), b.values.data(), stream_);
    EXPECT_EQ(borrowed_a.view().values, a.values.data());
    EXPECT_EQ(borrowed_a.copied_bytes(),
              copied_per_row * static_cast<std::uint64_t>(a_.rows + 1) +
                  copied_per_entry * static_cast<std::uint64_t>(a_.nnz()));
    if (copied_per_row == 0) {
      EXPECT_EQ(static_cast<const void*>(borrowed_a.view().row_ptr), a.row_ptr.data());
    }
    if (copied_per_entry == 0) {
      EXPECT_EQ(static_cast<const void*>(borrowed_a.view().col_idx), a.col_idx.data());
    }
    expect_products(borrowed_a, borrowed_b);
  }
};
using Values = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(Borrowed, Values);

TYPED_TEST(Borrowed, RawPointersOfEveryIndexType) {
  this->template expect_raw_pointers<std::uint32_t, std::int64_t, std::uint32_t>(0, 0);
  this->template expect_raw_pointers<std::uint32_t, std::int64_t, std::int32_t>(0, 0);
  this->template expect_raw_pointers<std::uint32_t, std::int32_t, std::int32_t>(8, 0);
  this->template expect_raw_pointers<std::uint32_t, std::int32_t, std::uint32_t>(8, 0);
  this->template expect_raw_pointers<std::uint32_t, std::int64_t, std::int64_t>(0, 4);
  this->template expect_raw_pointers<std::uint32_t, std::int32_t, std::uint64_t>(8, 4);
  this->template expect_raw_pointers<std::uint64_t, std::int64_t, std::int64_t>(0, 0);
  this->template expect_raw_pointers<std::uint64_t, std::int32_t, std::uint64_t>(8, 0);
}

struct DescriptorDeleter {
  void operator()(cusparseSpMatDescr_t matrix) const {
    static_cast<void>(cusparseDestroySpMat(matrix));
  }
};
using Descriptor = std::unique_ptr<cusparseSpMatDescr, DescriptorDeleter>;

template <class Value>
constexpr cudaDataType library_type = CUDA_R_32F;
template <>
constexpr cudaDataType library_type<double> = CUDA_R_64F;
template <>
constexpr cudaDataType library_type<std::complex<double>> = CUDA_C_64F;

template <class Value, class Index>
Descriptor describe(const Csr<Value, std::int64_t>& matrix, Arrays<Value, Index, Index>& arrays,
                    cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO) {
  constexpr cusparseIndexType_t type =
      sizeof(Index) == sizeof(std::int32_t) ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
  cusparseSpMatDescr_t descriptor = nullptr;
  check_cusparse(cusparseCreateCsr(&descriptor, matrix.rows, matrix.cols, matrix.nnz(),
                                   arrays.row_ptr.data(), arrays.col_idx.data(),
                                   arrays.values.data(), type, type, base, library_type<Value>));
  return Descriptor(descriptor);
}

// One operand is described with 32-bit indices, the other with 64-bit ones; the descriptors end
// before the product begins.
TYPED_TEST(Borrowed, DescriptorsOfCusparse) {
  Arrays<TypeParam, std::int32_t, std::int32_t> a(this->a_, this->stream_);
  Arrays<TypeParam, std::int64_t, std::int64_t> b(this->b_, this->stream_);
  const auto borrow = [this](const Descriptor& descriptor) {
    return BorrowedCsr<TypeParam>(descriptor.get(), this->stream_);
  };
  const auto borrowed_a = borrow(describe(this->a_, a));
  const auto borrowed_b = borrow(describe(this->b_, b));
  EXPECT_EQ(borrowed_a.view().rows, this->a_.rows);
  EXPECT_EQ(borrowed_a.view().cols, this->a_.cols);
  EXPECT_EQ(borrowed_b.view().nnz, this->b_.nnz());
  EXPECT_EQ(borrowed_a.copied_bytes(), 8 * static_cast<std::uint64_t>(this->a_.rows + 1));
  EXPECT_EQ(borrowed_b.copied_bytes(), 4 * static_cast<std::uint64_t>(this->b_.nnz()));
  this->expect_products(borrowed_a, borrowed_b);
}

TYPED_TEST(Borrowed, EmptyMatrices) {
  this->a_ = {};
  this->a_.rows = 5;
  this->a_.cols = 400;
  this->a_.row_ptr.assign(6, 0);
  this->template expect_raw_pointers<std::uint32_t, std::int32_t, std::int32_t>(8, 0);
  this->template expect_raw_pointers<std::uint32_t, std::int64_t, std::int64_t>(0, 4);
}

template <class Function>
void expect_error(ErrorKind kind, const char* part, const Function& function) {
  try {
    function();
    FAIL() << "nothing was thrown, expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

TYPED_TEST(Borrowed, RefusesWhatItDoesNotTake) {
  const cudaStream_t stream = this->stream_;
  using Other = std::conditional_t<std::is_same_v<TypeParam, double>, float, double>;
  Arrays<TypeParam, std::int32_t, std::int32_t> arrays(this->a_, stream);
  const Descriptor from_one = describe(this->a_, arrays, CUSPARSE_INDEX_BASE_ONE);
  const Descriptor fine = describe(this->a_, arrays);
  expect_error(ErrorKind::unavailable, "indices from 1",
               [&] { BorrowedCsr<TypeParam>(from_one.get(), stream); });
  expect_error(ErrorKind::usage, "values of cudaDataType",
               [&] { BorrowedCsr<Other>(fine.get(), stream); });
  expect_error(ErrorKind::unavailable, "32-bit columns",
               [&] { BorrowedCsr<TypeParam, std::uint64_t>(fine.get(), stream); });
  expect_error(ErrorKind::unavailable, "found a matrix of 4294967297 columns", [&] {
    BorrowedCsr<TypeParam>(this->a_.rows, (std::int64_t{1} << 32) + 1, this->a_.nnz(),
                           arrays.row_ptr.data(), arrays.col_idx.data(), arrays.values.data(),
                           stream);
  });
  cusparseSpMatDescr_t by_columns = nullptr;
  check_cusparse(cusparseCreateCsc(&by_columns, this->a_.cols, this->a_.rows, this->a_.nnz(),
                                   arrays.row_ptr.data(), arrays.col_idx.data(),
                                   arrays.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_BASE_ZERO, library_type<TypeParam>));
  const Descriptor csc(by_columns);
  expect_error(ErrorKind::usage, "CUSPARSE_FORMAT_CSR",
               [&] { BorrowedCsr<TypeParam>(csc.get(), stream); });
}

}  // namespace
}  // namespace sortie::test
