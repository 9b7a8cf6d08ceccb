// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "baselines/spgemm/cuda/cusparse.hpp"
#include "core/cuda/device_context.hpp"
#include "matrices/generators.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using spgemm::cuda::CusparseReuse;
using spgemm::cuda::DeviceCsr;
using spgemm::cuda::to_device;
using spgemm::cuda::to_host;

template <class Value>
class Reuse : public testing::Test {
 protected:
  DeviceCall context_{context()};
};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Reuse, RealTypes);

TYPED_TEST(Reuse, ValuesOfTheLastComputation) {
  Csr<TypeParam> a = matrices::power_law<TypeParam>(400, 300, 1.5, 90, 1);
  Csr<TypeParam> b = matrices::erdos_renyi<TypeParam>(300, 500, 7, 2);
  DeviceCsr<TypeParam> device_a = to_device<std::uint32_t>(a, this->context_.stream);
  DeviceCsr<TypeParam> device_b = to_device<std::uint32_t>(b, this->context_.stream);
  CusparseReuse<TypeParam> product(this->context_, view(device_a), view(device_b));
  product.analyse();
  EXPECT_GT(product.work_space(), 0u);
  product.compute();
  for (auto* const matrix : {&a, &b}) {
    for (TypeParam& value : matrix->values) value = 3 * value + 1;
  }
  device_a.values.copy_from(a.values);
  device_b.values.copy_from(b.values);
  product.compute();
  const auto c = to_host<std::int32_t>(product.take_result());
  EXPECT_NO_THROW(matrices::validate(c));
  EXPECT_NO_THROW(spgemm::compare(c, reference_product(a, b), a, b,
                                  rounding_tolerance<TypeParam>(longest_row(a))));
}

TYPED_TEST(Reuse, StructureFoundAgain) {
  const Csr<TypeParam> a = matrices::rmat<TypeParam>(9, 6, 1);
  const auto device = to_device<std::uint32_t>(a, this->context_.stream);
  CusparseReuse<TypeParam> product(this->context_, view(device), view(device));
  for (int round = 0; round < 2; ++round) {
    product.analyse();
    product.compute();
    const auto c = to_host<std::int32_t>(product.take_result());
    EXPECT_NO_THROW(spgemm::compare(c, reference_product(a, a), a, a,
                                    rounding_tolerance<TypeParam>(longest_row(a))));
  }
}

TYPED_TEST(Reuse, WithoutEntries) {
  const Csr<TypeParam> empty = matrices::erdos_renyi<TypeParam>(5, 5, 0, 1);
  const auto device = to_device<std::uint32_t>(empty, this->context_.stream);
  CusparseReuse<TypeParam> product(this->context_, view(device), view(device));
  product.analyse();
  product.compute();
  EXPECT_EQ(to_host<std::int32_t>(product.take_result()), empty);
}

TYPED_TEST(Reuse, WorkSpaceBeyondTheBudget) {
  const Csr<TypeParam> a = matrices::erdos_renyi<TypeParam>(5000, 5000, 10, 1);
  const auto device = to_device<std::uint32_t>(a, this->context_.stream);
  DeviceContext limited(this->context_, this->context_.stream);
  limited.memory_budget = 1000;
  CusparseReuse<TypeParam> product(limited, view(device), view(device));
  expect_error([&] { product.analyse(); }, ErrorKind::out_of_memory,
               testing::HasSubstr("the work space of cuSPARSE SpGEMM"));
}

}  // namespace
}  // namespace sortie::test
