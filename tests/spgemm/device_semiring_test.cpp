// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "matrices/generators.hpp"
#include "sortie/device_semiring_spgemm.hpp"
#include "tests/reference/semiring_product.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/support/expect_error.hpp"

/// Products over semirings of matrices in device memory, compared with those of the host.
namespace sortie::test {
namespace {

using spgemm::ProductOptions;
using spgemm::Semiring;
using spgemm::cuda::DeviceProductOptions;
using spgemm::cuda::DeviceStructure;
using spgemm::cuda::structure_of;
using spgemm::cuda::to_device;
using spgemm::cuda::to_host;
using spgemm::cuda::view;

class DeviceSemiring : public testing::Test {
 protected:
  using Matrix = Csr<double, std::int32_t>;

  Context context_ = context();
  DeviceScope scope_{context_};
  CudaStream own_stream_ = make_stream();
  cudaStream_t stream_ = own_stream_.get();

  static Matrix on_host(const Matrix& a, const ProductOptions<std::int32_t>& options) {
    Context host;
    host.backend = Backend::host;
    return spgemm::multiply(host, a, a, options);
  }
  /// The product and, on its structure, new values.
  void expect_as_on_host(const Matrix& a, const Matrix& mask, Semiring semiring, bool complement) {
    const auto pattern = matrices::pattern_of(mask);
    const Matrix expected = on_host(a, {semiring, &pattern, complement});
    const auto device_a = to_device<std::uint32_t>(a, stream_);
    const auto device_mask = to_device<std::uint32_t>(mask, stream_);
    const DeviceStructure of_mask = structure_of(view(device_mask));
    auto c = multiply_on_device(context_, view(device_a), view(device_a),
                                DeviceProductOptions{semiring, &of_mask, complement}, stream_);
    EXPECT_TRUE(same_bits(to_host<std::int32_t>(c), expected));
    check_cuda(cudaMemsetAsync(c.values.data(), 1, c.values.bytes(), stream_));
    multiply_values_on_device(context_, view(device_a), view(device_a), semiring,
                              structure_of(view(c)), c.values.data(), stream_);
    EXPECT_TRUE(same_bits(to_host<std::int32_t>(c), expected));
  }
};

// Hubs, whose rows are long in A and in the mask.
TEST_F(DeviceSemiring, SameBitsAsOnTheHost) {
  const auto a = matrices::power_law<double, std::int32_t>(3000, 3000, 1.4, 2500, 1);
  const auto mask = matrices::power_law<double, std::int32_t>(3000, 3000, 1.4, 2000, 2);
  for (const Semiring semiring : spgemm::semirings()) {
    SCOPED_TRACE(std::string(spgemm::name(semiring)));
    expect_as_on_host(a, mask, semiring, false);
    expect_as_on_host(a, mask, semiring, true);
  }
}

// Rows of A and of the mask at the limits of the lanes that count rows of few products.
TEST_F(DeviceSemiring, CountsOfShortRows) {
  for (const std::int64_t entries : {1, 3, 8, 9, 31, 33}) {
    SCOPED_TRACE(entries);
    const auto a = matrices::erdos_renyi<double, std::int32_t>(1500, 1500, entries, 1);
    expect_as_on_host(a, a, Semiring::plus_pair, false);
    for (const std::int64_t of_mask : {2, 31, 32, 33})
      expect_as_on_host(a, matrices::erdos_renyi<double, std::int32_t>(1500, 1500, of_mask, 2),
                        Semiring::plus_pair, false);
  }
}

TEST_F(DeviceSemiring, CountsOfAFullMatrix) {
  const auto a = matrices::erdos_renyi<double, std::int32_t>(1200, 1200, 1200, 1);
  expect_as_on_host(a, a, Semiring::plus_pair, false);
  expect_as_on_host(a, a, Semiring::plus_times, false);
}

TEST_F(DeviceSemiring, KeepsTheLargestEntries) {
  const auto a = matrices::power_law<double, std::int32_t>(2000, 2000, 1.4, 900, 3);
  const spgemm::RowFilter filter{.keep_top = 20, .drop_below = 0.1};
  const auto device_a = to_device<std::uint32_t>(a, stream_);
  const auto whole =
      multiply_on_device(context_, view(device_a), view(device_a), DeviceProductOptions{}, stream_);
  Matrix expected = to_host<std::int32_t>(whole);
  spgemm::filter_rows(context_, expected, filter);
  const auto filtered = multiply_on_device(context_, view(device_a), view(device_a),
                                           DeviceProductOptions{.filter = filter}, stream_);
  EXPECT_TRUE(same_bits(to_host<std::int32_t>(filtered), expected));
}

template <class Value>
class DeviceSemiringOf16Bits : public DeviceSemiring {};
using Types16 = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(DeviceSemiringOf16Bits, Types16);

// With mask and filter, of which each is applied to rounded sums.
TYPED_TEST(DeviceSemiringOf16Bits, SameBitsAsOnTheHost) {
  const auto a = reference::converted<TypeParam>(
      matrices::power_law<float, std::int32_t>(1000, 1000, 1.4, 300, 1));
  const auto mask =
      matrices::pattern_of(matrices::power_law<float, std::int32_t>(1000, 1000, 1.4, 200, 2));
  const auto device_a = to_device<std::uint32_t>(a, this->stream_);
  const auto device_mask =
      to_device<std::uint32_t>(matrices::with_ones<float>(mask), this->stream_);
  const DeviceStructure of_mask = structure_of(view(device_mask));
  Context host;
  host.backend = Backend::host;
  for (const Semiring semiring : spgemm::semirings()) {
    SCOPED_TRACE(std::string(spgemm::name(semiring)));
    for (const spgemm::RowFilter& filter :
         {spgemm::RowFilter{}, {.keep_top = 5, .drop_below = 0.1}}) {
      const auto expected = spgemm::multiply(
          host, a, a, ProductOptions<std::int32_t>{semiring, &mask, false, filter});
      auto c = multiply_on_device(this->context_, view(device_a), view(device_a),
                                  DeviceProductOptions{semiring, &of_mask, false, filter},
                                  this->stream_);
      EXPECT_EQ(to_host<std::int32_t>(c), expected);
      if (!filter.keeps_all()) continue;
      check_cuda(cudaMemsetAsync(c.values.data(), 1, c.values.bytes(), this->stream_));
      multiply_values_on_device(this->context_, view(device_a), view(device_a), semiring,
                                structure_of(view(c)), c.values.data(), this->stream_);
      EXPECT_EQ(to_host<std::int32_t>(c), expected);
    }
  }
}

TEST_F(DeviceSemiring, RefusesOtherShapes) {
  const auto a =
      to_device<std::uint32_t>(matrices::erdos_renyi<double, std::int32_t>(20, 20, 3, 1), stream_);
  const DeviceStructure mask{.rows = 20, .cols = 19};
  expect_error(
      [&] {
        (void)multiply_on_device(context_, view(a), view(a),
                                 DeviceProductOptions{Semiring::min_plus, &mask}, stream_);
      },
      ErrorKind::input, "A * B: found a mask of 20 x 19, expected one of 20 x 20");
}

}  // namespace
}  // namespace sortie::test
