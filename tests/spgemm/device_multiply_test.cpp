// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "baselines/spgemm/cuda/sort_rows.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "matrices/generators.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/devices.hpp"
#include "sortie/spgemm_check.hpp"
#include "tests/spgemm/products.hpp"

/// The entry points that take and return matrices in device memory.
namespace sortie::test {
namespace {

using spgemm::cuda::DeviceCsr;
using spgemm::cuda::multiply_on_device;
using spgemm::cuda::to_device;
using spgemm::cuda::to_host;

template <class T>
class DeviceMultiply : public testing::Test {
 protected:
  using Value = typename T::Value;
  using Idx = typename T::Idx;
  using Matrix = Csr<Value, Idx>;

  Context context_ = context();
  DeviceScope scope_{context_};
  CudaStream own_stream_ = make_stream();
  cudaStream_t stream_ = own_stream_.get();

  template <class Column>
  Matrix multiply(const Matrix& a, const Matrix& b, Algorithm algorithm) {
    const auto device_a = to_device<Column>(a, stream_);
    const auto device_b = to_device<Column>(b, stream_);
    return to_host<Idx>(
        multiply_on_device(context_, view(device_a), view(device_b), algorithm, stream_));
  }

  void expect_close(const Matrix& a, const Matrix& b, const Matrix& c) {
    EXPECT_NO_THROW(matrices::validate(c));
    EXPECT_NO_THROW(spgemm::compare(c, reference_product(a, b), a, b,
                                    rounding_tolerance<Value>(longest_row(a))));
  }
};
TYPED_TEST_SUITE(DeviceMultiply, AllTypes);

TYPED_TEST(DeviceMultiply, SameAsFromHostToHost) {
  const auto a =
      matrices::power_law<typename TypeParam::Value, typename TypeParam::Idx>(500, 400, 1.5, 90, 1);
  const auto b =
      matrices::erdos_renyi<typename TypeParam::Value, typename TypeParam::Idx>(400, 300, 9, 2);
  for (const Algorithm algorithm : {Algorithm::fused, Algorithm::essc, baseline("esc")}) {
    const auto c = this->template multiply<std::uint32_t>(a, b, algorithm);
    EXPECT_TRUE(same_bits(c, spgemm::multiply(this->context_, a, b, algorithm)));
    this->expect_close(a, b, c);
  }
}

TYPED_TEST(DeviceMultiply, ChunksAreJoined) {
  const auto a =
      matrices::erdos_renyi<typename TypeParam::Value, typename TypeParam::Idx>(3000, 3000, 12, 3);
  for (const Algorithm algorithm : {Algorithm::fused, Algorithm::essc, baseline("esc")}) {
    this->context_.memory_budget = 0;
    const auto whole = this->template multiply<std::uint32_t>(a, a, algorithm);
    this->context_.memory_budget = 3 << 20;  // 432 000 products take 9 MB or more
    EXPECT_TRUE(same_bits(this->template multiply<std::uint32_t>(a, a, algorithm), whole));
  }
}

// Entries of A that meet empty rows of B, far more of them than one block takes, and one column of
// C that is a sum of very many products.
TYPED_TEST(DeviceMultiply, EmptyRowsOfBAndLongRuns) {
  using Matrix = Csr<typename TypeParam::Value, typename TypeParam::Idx>;
  const Matrix a =
      matrices::erdos_renyi<typename TypeParam::Value, typename TypeParam::Idx>(3, 9000, 9000, 4);
  Matrix b =
      matrices::erdos_renyi<typename TypeParam::Value, typename TypeParam::Idx>(9000, 2, 1, 5);
  // Rows 100 .. 8099 become empty.
  const auto keep = [](std::int64_t row) { return row < 100 || row >= 8100; };
  Matrix holes;
  holes.rows = b.rows;
  holes.cols = b.cols;
  for (std::int64_t row = 0; row < b.rows; ++row) {
    if (keep(row)) {
      holes.col_idx.push_back(b.col_idx[b.row_ptr[row]]);
      holes.values.push_back(b.values[b.row_ptr[row]]);
    }
    holes.row_ptr.push_back(holes.nnz());
  }
  for (const Matrix* right : {&b, &holes}) {
    for (const Algorithm algorithm : {Algorithm::essc, baseline("esc")})
      this->expect_close(a, *right, this->template multiply<std::uint32_t>(a, *right, algorithm));
  }
}

TYPED_TEST(DeviceMultiply, SortsRowsThatAreNot) {
  const auto sorted = matrices::power_law<typename TypeParam::Value, typename TypeParam::Idx>(
      300, 5000, 1.2, 900, 6);
  auto reversed = sorted;
  for (std::int64_t row = 0; row < sorted.rows; ++row) {
    const auto begin = sorted.row_ptr[row];
    const auto end = sorted.row_ptr[row + 1];
    std::reverse(reversed.col_idx.begin() + begin, reversed.col_idx.begin() + end);
    std::reverse(reversed.values.begin() + begin, reversed.values.begin() + end);
  }
  for (const auto& matrix : {sorted, reversed}) {
    auto device = to_device<std::uint32_t>(matrix, this->stream_);
    spgemm::cuda::sort_rows(device, this->stream_);
    EXPECT_TRUE(same_bits(to_host<typename TypeParam::Idx>(device), sorted));
  }
}

// The values are written on the stream behind a long memset, so a product on another stream would
// read zeros.
TYPED_TEST(DeviceMultiply, FollowsTheWorkOfItsStream) {
  using Value = typename TypeParam::Value;
  const auto a = matrices::power_law<Value, typename TypeParam::Idx>(800, 800, 1.5, 90, 9);
  auto device = to_device<std::uint32_t>(a, this->stream_);
  const DeviceBuffer<Value> values(std::span(a.values), this->stream_);
  DeviceBuffer<char> large(std::size_t{1} << 30, this->stream_);
  for (const Algorithm algorithm : {Algorithm::fused, Algorithm::essc, baseline("esc")}) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    check_cuda(cudaMemsetAsync(device.values.data(), 0, device.values.bytes(), this->stream_));
    check_cuda(cudaStreamSynchronize(this->stream_));
    check_cuda(cudaMemsetAsync(large.data(), 1, large.bytes(), this->stream_));
    check_cuda(cudaMemcpyAsync(device.values.data(), values.data(), values.bytes(),
                               cudaMemcpyDeviceToDevice, this->stream_));
    const auto c =
        multiply_on_device(this->context_, view(device), view(device), algorithm, this->stream_);
    EXPECT_EQ(c.row_ptr.stream(), this->stream_);
    EXPECT_EQ(c.col_idx.stream(), this->stream_);
    EXPECT_EQ(c.values.stream(), this->stream_);
    EXPECT_TRUE(same_bits(to_host<typename TypeParam::Idx>(c),
                          spgemm::multiply(this->context_, a, a, algorithm)));
  }
}

TEST(DeviceMultiplyErrors, ShapesThatDoNotConform) {
  const DeviceScope scope(context());
  const CudaStream own_stream = make_stream();
  const cudaStream_t stream = own_stream.get();
  const auto a = to_device<std::uint32_t>(matrices::erdos_renyi<double>(5, 4, 2, 1), stream);
  EXPECT_THROW((void)multiply_on_device(context(), view(a), view(a), stream), Error);
}

TEST(DeviceMultiplyErrors, ADeviceThatIsNotThere) {
  const DeviceScope scope(context());
  const CudaStream own_stream = make_stream();
  const cudaStream_t stream = own_stream.get();
  const auto a = to_device<std::uint32_t>(matrices::erdos_renyi<double>(5, 5, 2, 1), stream);
  Context elsewhere = context();
  elsewhere.device = cuda_device_count();
  EXPECT_THROW((void)multiply_on_device(elsewhere, view(a), view(a), stream), Error);
  int device = -1;
  check_cuda(cudaGetDevice(&device));
  EXPECT_EQ(device, context().device);
}

// The last device by number, while the first is current. With one GPU both are the same.
TEST(DeviceMultiplyDevice, MakesItsDeviceCurrentAndRestoresTheOther) {
  Context last = context();
  last.device = cuda_device_count() - 1;
  const auto host = matrices::erdos_renyi<double>(700, 700, 8, 1);
  DeviceCsr<double> a;
  cudaStream_t stream = nullptr;
  {
    const DeviceScope scope(last);
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    a = to_device<std::uint32_t>(host, stream);
  }
  check_cuda(cudaSetDevice(0));
  for (const Algorithm algorithm :
       {Algorithm::automatic, Algorithm::essc, baseline("esc"), baseline("cusparse")}) {
    SCOPED_TRACE(std::string(spgemm::name(algorithm)));
    const auto c = multiply_on_device(last, view(a), view(a), algorithm, stream);
    int device = -1;
    check_cuda(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, c.values.data()));
    EXPECT_EQ(attributes.device, last.device);
    const DeviceScope scope(last);
    EXPECT_NO_THROW(spgemm::compare(to_host<std::int32_t>(c), reference_product(host, host), host,
                                    host, rounding_tolerance<double>(longest_row(host))));
  }
  a = {};
  check_cuda(cudaStreamDestroy(stream));
}

TEST(WideColumns, BeyondThirtyTwoBits) {
  using Matrix = Csr<double, std::int64_t>;
  const Matrix a = matrices::erdos_renyi<double, std::int64_t>(50, 40, 5, 7);
  for (const int bits : {33, 40, 62}) {
    SCOPED_TRACE(bits);
    // An ordinary product, its columns spread over all that there are.
    const auto spread = [bits](Matrix matrix) {
      matrix.cols = std::int64_t{1} << bits;
      for (std::int64_t& column : matrix.col_idx) column *= matrix.cols / 30;
      return matrix;
    };
    const Matrix narrow = matrices::erdos_renyi<double, std::int64_t>(40, 30, 6, 8);
    const Matrix expected = spread(reference_product(a, narrow));
    const Matrix b = spread(narrow);
    for (const Algorithm algorithm : {Algorithm::essc, baseline("esc")}) {
      const Matrix c = spgemm::multiply(context(), a, b, algorithm);
      EXPECT_NO_THROW(spgemm::compare(c, expected, rounding_tolerance<double>(5)));
    }
    EXPECT_THROW((void)spgemm::multiply(context(), a, b, baseline("cusparse")), Error);
  }
}

}  // namespace
}  // namespace sortie::test
