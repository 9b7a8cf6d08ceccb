// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_galerkin.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "matrices/generators.hpp"
#include "sortie/galerkin.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using spgemm::cuda::DeviceCsr;
using spgemm::cuda::GalerkinPlan;
using spgemm::cuda::to_device;
using spgemm::cuda::view;

template <class ValueType>
class DeviceGalerkin : public testing::Test {
 protected:
  using Value = ValueType;
  using Matrix = Csr<Value, std::int32_t>;

  Context context_ = context();
  DeviceScope scope_{context_};
  CudaStream own_stream_ = make_stream();
  cudaStream_t stream_ = own_stream_.get();

  DeviceCsr<Value> copy_in(const Matrix& matrix) {
    return to_device<std::uint32_t>(matrix, stream_);
  }

  Matrix multiply(GalerkinPlan<Value>& plan, const Matrix& r, const Matrix& a, const Matrix& p) {
    const DeviceCsr<Value> device_r = copy_in(r);
    const DeviceCsr<Value> device_a = copy_in(a);
    const DeviceCsr<Value> device_p = copy_in(p);
    DeviceBuffer<Value> values(static_cast<std::size_t>(plan.c().nnz()), stream_);
    plan.multiply(device_r.values.data(), device_a.values.data(), device_p.values.data(),
                  values.data());
    Matrix c{plan.c().rows(), plan.c().cols(), {}, {}, {}};
    std::vector<std::uint32_t> columns(values.size());
    c.row_ptr.resize(plan.c().row_ptr().size());
    c.values.resize(values.size());
    plan.c().row_ptr().copy_to(std::span(c.row_ptr));
    plan.c().col_idx().copy_to(std::span(columns));
    values.copy_to(std::span(c.values));
    check_cuda(cudaStreamSynchronize(stream_));
    c.col_idx.assign(columns.begin(), columns.end());
    return c;
  }

  static Matrix absolute(Matrix matrix) {
    for (Value& value : matrix.values) value = Value(std::abs(value));
    return matrix;
  }
};

using Values = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(DeviceGalerkin, Values);

TYPED_TEST(DeviceGalerkin, ComputesNewValues) {
  auto a = matrices::stencil<TypeParam, std::int32_t>(27, 14, 13, 12, 1);
  for (const std::int64_t entries : {1, 4}) {
    auto p = matrices::erdos_renyi<TypeParam, std::int32_t>(a.rows, 80, entries, 1);
    auto r = matrices::transpose(p);
    const auto device_r = this->copy_in(r);
    const auto device_a = this->copy_in(a);
    const auto device_p = this->copy_in(p);
    GalerkinPlan<TypeParam> plan(this->context_, view(device_r), view(device_a), view(device_p),
                                 this->stream_);
    EXPECT_GT(plan.bytes(), 0u);
    for (int round = 0; round < 3; ++round) {
      const auto c = this->multiply(plan, r, a, p);
      const auto expected = reference_product(reference_product(r, a), p);
      const auto magnitudes = reference_product(this->absolute(r), this->absolute(a));
      EXPECT_NO_THROW(spgemm::compare(
          c, expected, magnitudes, this->absolute(p),
          rounding_tolerance<TypeParam>(longest_row(r) * longest_row(a) + longest_row(p))));
      EXPECT_TRUE(same_bits(c, this->multiply(plan, r, a, p)));
      for (auto& value : a.values) value *= TypeParam(-3) / TypeParam(7);
      for (auto& value : p.values) value += TypeParam(round + 1);
      r = matrices::transpose(p);
    }
  }
}

/// Expects the same bits with any budget, within the rounding of the reference.
TYPED_TEST(DeviceGalerkin, OneCall) {
  using Matrix = Csr<TypeParam, std::int32_t>;
  const Matrix a = matrices::stencil<TypeParam, std::int32_t>(27, 14, 13, 12, 1);
  const auto aggregates = [&](std::int64_t cols, const auto& column_of) {
    std::vector<std::tuple<std::int64_t, std::int64_t, TypeParam>> entries;
    for (std::int64_t row = 0; row < a.rows; ++row)
      if (row % 7 != 3)
        entries.emplace_back(row, column_of(row), TypeParam(1 + row % 5) / TypeParam(3));
    return from_entries<TypeParam, std::int32_t>(a.rows, cols, entries);
  };
  const Matrix operands[] = {
      // Few, many, and very many columns in a row of C; more products than the kernels take.
      aggregates(120, [](std::int64_t row) { return row / 27; }),
      aggregates(120, [](std::int64_t row) { return row * 7919 % 60; }),
      aggregates(a.rows, [](std::int64_t row) { return row % 20 == 0 ? 0 : row; }),
      aggregates(a.rows, [](std::int64_t row) { return row % 5 == 0 ? 0 : row; }),
      matrices::erdos_renyi<TypeParam, std::int32_t>(a.rows, 80, 3, 1)};
  for (const Matrix& p : operands) {
    const Matrix r = matrices::transpose(p);
    const auto device_r = this->copy_in(r);
    const auto device_a = this->copy_in(a);
    const auto device_p = this->copy_in(p);
    const auto multiply = [&](const Context& context) {
      return spgemm::cuda::to_host<std::int32_t>(spgemm::cuda::galerkin_on_device(
          context, view(device_r), view(device_a), view(device_p), this->stream_));
    };
    const Matrix c = multiply(this->context_);
    const Matrix magnitudes = reference_product(this->absolute(r), this->absolute(a));
    EXPECT_NO_THROW(spgemm::compare(
        c, reference_product(reference_product(r, a), p), magnitudes, this->absolute(p),
        rounding_tolerance<TypeParam>(longest_row(r) * longest_row(a) + longest_row(p))));
    Context limited = this->context_;
    limited.memory_budget = 8 << 20;
    EXPECT_TRUE(same_bits(multiply(limited), c));
    // No space for rows before their offsets are known.
    limited.memory_budget = static_cast<std::uint64_t>(a.rows) * (sizeof(TypeParam) + 4) +
                            static_cast<std::uint64_t>(r.rows) * 24 + 1024;
    if (longest_row(p) == 1 && p.cols == 120) {
      EXPECT_TRUE(same_bits(multiply(limited), c));
    }
  }
  const auto other = this->copy_in(matrices::erdos_renyi<TypeParam, std::int32_t>(5, 4, 2, 1));
  const auto device_a = this->copy_in(a);
  expect_error(
      [&] {
        (void)spgemm::cuda::galerkin_on_device(this->context_, view(other), view(device_a),
                                               view(device_a), this->stream_);
      },
      ErrorKind::input, testing::HasSubstr("expected"));
}

TYPED_TEST(DeviceGalerkin, RejectsWhatDoesNotFit) {
  using Matrix = Csr<TypeParam, std::int32_t>;
  const Matrix a = matrices::stencil<TypeParam, std::int32_t>(27, 14, 13, 12, 1);
  const Matrix p = matrices::erdos_renyi<TypeParam, std::int32_t>(a.rows, 80, 2, 1);
  const auto device_a = this->copy_in(a);
  const auto device_p = this->copy_in(p);
  const auto device_r = this->copy_in(matrices::transpose(p));
  const auto plan = [&](const Context& context, const auto& r) {
    GalerkinPlan<TypeParam>(context, view(r), view(device_a), view(device_p), this->stream_);
  };
  expect_error([&] { plan(this->context_, device_p); }, ErrorKind::input,
               testing::HasSubstr("expected"));
  Context limited = this->context_;
  limited.memory_budget = 1 << 10;
  expect_error([&] { plan(limited, device_r); }, ErrorKind::out_of_memory, testing::_);
}

}  // namespace
}  // namespace sortie::test
