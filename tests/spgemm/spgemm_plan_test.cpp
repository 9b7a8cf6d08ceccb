// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "matrices/generators.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/device_spgemm_plan.hpp"
#include "sortie/devices.hpp"
#include "sortie/spgemm_check.hpp"
#include "tests/spgemm/products.hpp"
#include "tests/spgemm/stairs.hpp"

/// SpgemmPlan: the structure of a product once, its values as often as wanted.
namespace sortie::test {
namespace {

using spgemm::cuda::DeviceCsr;
using spgemm::cuda::SpgemmPlan;
using spgemm::cuda::to_device;
using spgemm::cuda::to_host;
using spgemm::cuda::view;

static_assert(!std::is_copy_constructible_v<SpgemmPlan<double>>);
static_assert(!std::is_copy_assignable_v<SpgemmPlan<double>>);
static_assert(std::is_nothrow_move_constructible_v<SpgemmPlan<double>>);
static_assert(std::is_nothrow_move_assignable_v<SpgemmPlan<double>>);

template <class ValueType>
class Plan : public testing::Test {
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

  /// The same structure with values that `seed` makes.
  static Matrix with_values(Matrix matrix, std::uint64_t seed) {
    if (matrix.nnz() != 0)
      matrix.values = matrices::erdos_renyi<Value>(1, matrix.nnz(), matrix.nnz(), seed).values;
    return matrix;
  }

  /// C of the plan's structure, its values computed where every bit was set before.
  Matrix multiply(SpgemmPlan<Value>& plan, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b) {
    DeviceBuffer<Value> values(static_cast<std::size_t>(plan.nnz()), stream_);
    if (values.size() != 0)
      check_cuda(cudaMemsetAsync(values.data(), 0xff, values.bytes(), stream_));
    plan.multiply(a.values.data(), b.values.data(), values.data());
    Matrix c;
    c.rows = plan.rows();
    c.cols = plan.cols();
    c.row_ptr.resize(plan.row_ptr().size());
    c.values.resize(values.size());
    std::vector<std::uint32_t> columns(values.size());
    plan.row_ptr().copy_to(std::span(c.row_ptr));
    plan.col_idx().copy_to(std::span(columns));
    values.copy_to(std::span(c.values));
    check_cuda(cudaStreamSynchronize(stream_));
    c.col_idx.assign(columns.begin(), columns.end());
    return c;
  }

  /// Each row has the bits of the fused product, or of sums in the order of A's entries, as rows of
  /// lists of products have.
  static testing::AssertionResult has_bits_of_plan(const Matrix& c, const Matrix& fused,
                                                   const Matrix& in_order) {
    if (c.rows != fused.rows || c.cols != fused.cols || c.row_ptr != fused.row_ptr ||
        c.col_idx != fused.col_idx)
      return testing::AssertionFailure() << "another structure";
    for (std::int64_t row = 0; row < c.rows; ++row) {
      const std::int64_t begin = c.row_ptr[row];
      const auto bytes = static_cast<std::size_t>(c.row_ptr[row + 1] - begin) * sizeof(Value);
      const auto equals = [&](const Matrix& other) {
        return bytes == 0 ||
               std::memcmp(c.values.data() + begin, other.values.data() + begin, bytes) == 0;
      };
      // Products of complex numbers are contracted to FMA on the device only.
      const bool may_differ = sizeof(Value) > sizeof(double);
      if (!may_differ && !equals(fused) && !equals(in_order))
        return testing::AssertionFailure() << "row " << row << " of " << c.row_ptr[row + 1] - begin;
    }
    return testing::AssertionSuccess();
  }
  testing::AssertionResult has_bits_of_plan(const Matrix& c, const Matrix& a) {
    return has_bits_of_plan(c, spgemm::multiply(context_, a, a, Algorithm::fused),
                            reference_product(a, a));
  }

  /// Values of three kinds by one plan, by both ways of calling it.
  void expect_plan(const Matrix& a, const Matrix& b) {
    const auto structure_a = copy_in(a);
    const auto structure_b = copy_in(b);
    SpgemmPlan<Value> plan(context_, view(structure_a), view(structure_b), stream_);
    EXPECT_EQ(plan.rows(), a.rows);
    EXPECT_EQ(plan.cols(), b.cols);
    for (const std::uint64_t seed : {0, 11, 12}) {
      SCOPED_TRACE(seed);
      const Matrix new_a = seed == 0 ? a : with_values(a, seed);
      const Matrix new_b = seed == 0 ? b : with_values(b, seed + 100);
      const auto device_a = copy_in(new_a);
      const auto device_b = copy_in(new_b);
      const Matrix fused = spgemm::multiply(context_, new_a, new_b, Algorithm::fused);
      const Matrix c = multiply(plan, device_a, device_b);
      const Matrix in_order = reference_product(new_a, new_b);
      EXPECT_TRUE(has_bits_of_plan(c, fused, in_order));
      EXPECT_TRUE(same_bits(
          to_host<std::int32_t>(plan.multiply(device_a.values.data(), device_b.values.data())), c));
      EXPECT_NO_THROW(matrices::validate(c));
      EXPECT_NO_THROW(
          spgemm::compare(c, in_order, new_a, new_b, rounding_tolerance<Value>(longest_row(a))));
    }
  }
};
using Values = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(Plan, Values);

// Every bin of rows; with 50 000 columns long rows are divided into column panels, with five million
// the bitmaps of their columns have an upper level as well.
TYPED_TEST(Plan, RowsAtTheBordersOfBins) {
  const auto a = stairs<TypeParam>(border_lengths);
  for (const std::int64_t columns : {1, 3000, 50'000, 5'000'000}) {
    SCOPED_TRACE(columns);
    this->expect_plan(a, matrices::erdos_renyi<TypeParam>(a.cols, columns, 1, 3));
  }
}

TYPED_TEST(Plan, RowsOfManyLengths) {
  const auto b = matrices::power_law<TypeParam>(3000, 40'000, 1.2, 2000, 5);
  this->expect_plan(stairs<TypeParam>({1, 2, 3, 5, 8, 30, 64, 100, 300, 900, 3000}), b);
  this->expect_plan(matrices::power_law<TypeParam>(2000, 3000, 1.5, 400, 6), b);
  this->expect_plan(b, matrices::transpose(b));
}

// Lists of products: tiles of many rows, of one row and of a part of one; rows of B without entries;
// entries of C with one product and with thousands.
TYPED_TEST(Plan, TilesOfLists) {
  const auto wide = matrices::erdos_renyi<TypeParam>(2000, 3000, 8, 1);
  for (const std::int64_t entries : {100, 130, 700, 760, 1500, 2000})
    this->expect_plan(stairs<TypeParam>({entries, 0, 3, entries / 2, 0, 0, 50, 2000}), wide);
  // Lists of 6 products on average, and of 60: without lists.
  for (const std::int64_t rows : {700, 70}) {
    const auto dense = matrices::erdos_renyi<TypeParam>(rows, rows, 65, 2);
    this->expect_plan(dense, dense);
  }
  const auto sparse = matrices::power_law<TypeParam>(3000, 3000, 1.1, 40, 3);  // has empty rows
  this->expect_plan(sparse, sparse);
  this->expect_plan(matrices::erdos_renyi<TypeParam>(400, 3000, 900, 4), sparse);
  this->expect_plan(matrices::erdos_renyi<TypeParam>(6, 20'000, 20'000, 4),
                    matrices::erdos_renyi<TypeParam>(20'000, 5, 3, 5));
}

// A plan that has lists keeps more than one that has not, in numbers of the documentation.
TYPED_TEST(Plan, ListsTakeTheBytesThatAreDocumented) {
  const auto host = matrices::erdos_renyi<TypeParam>(20'000, 20'000, 12, 7);
  const auto a = this->copy_in(host);
  const SpgemmPlan<TypeParam> plan(this->context_, view(a), view(a), this->stream_);
  const std::uint64_t products = 20'000 * 12 * 12;
  const std::uint64_t structure = static_cast<std::uint64_t>(plan.nnz()) * 4 + 20'001 * 8;
  EXPECT_GE(plan.bytes(), structure + 2 * products);
  EXPECT_LE(plan.bytes(), structure + 2 * products + products / 2);
}

TYPED_TEST(Plan, RowTimesColumn) {
  const auto row = stairs<TypeParam>({100'000});
  this->expect_plan(row, matrices::transpose(row));
}

// A million products a row: into a thousand columns, and into one each.
TYPED_TEST(Plan, RowsOfAMillionProducts) {
  const auto a = stairs<TypeParam>({1000, 0, 1, 1000, 17});
  this->expect_plan(a, matrices::erdos_renyi<TypeParam>(1000, 1000, 1000, 5));
  this->expect_plan(a, matrices::erdos_renyi<TypeParam>(1000, 4'000'000, 1000, 6));
}

TYPED_TEST(Plan, EmptyShapes) {
  this->expect_plan(empty_matrix<TypeParam>(0, 5), empty_matrix<TypeParam>(5, 7));
  this->expect_plan(empty_matrix<TypeParam>(7, 0), empty_matrix<TypeParam>(0, 5));
  this->expect_plan(empty_matrix<TypeParam>(7, 5), empty_matrix<TypeParam>(5, 0));
  this->expect_plan(empty_matrix<TypeParam>(1000, 1000), empty_matrix<TypeParam>(1000, 1000));
  this->expect_plan(stairs<TypeParam>({0, 3, 5}), empty_matrix<TypeParam>(5, 9));
}

// The first values again after others: nothing of a product is left in the plan.
TYPED_TEST(Plan, EveryUseGivesTheSameBits) {
  const auto host = matrices::power_law<TypeParam>(4000, 4000, 1.3, 1500, 2);
  const auto one = this->copy_in(host);
  const auto other = this->copy_in(this->with_values(host, 3));
  SpgemmPlan<TypeParam> plan(this->context_, view(one), view(one), this->stream_);
  const auto first = this->multiply(plan, one, one);
  const auto mixed = this->multiply(plan, one, other);
  EXPECT_FALSE(same_bits(first, mixed));
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(same_bits(this->multiply(plan, one, one), first));
    EXPECT_TRUE(same_bits(this->multiply(plan, one, other), mixed));
  }
}

TYPED_TEST(Plan, MatrixOutlivesPlanAndMovedPlanWorks) {
  const auto host = matrices::erdos_renyi<TypeParam>(900, 900, 20, 4);
  const auto a = this->copy_in(host);
  const auto fused = spgemm::multiply(this->context_, host, host, Algorithm::fused);
  DeviceCsr<TypeParam> c;
  {
    SpgemmPlan<TypeParam> plan(this->context_, view(a), view(a), this->stream_);
    SpgemmPlan<TypeParam> moved = std::move(plan);
    c = moved.multiply(a.values.data(), a.values.data());
    EXPECT_TRUE(same_bits(this->multiply(moved, a, a), fused));
    const auto other_host = matrices::erdos_renyi<TypeParam>(300, 300, 9, 5);
    const auto other = this->copy_in(other_host);
    SpgemmPlan<TypeParam> assigned(this->context_, view(other), view(other), this->stream_);
    assigned = std::move(moved);
    EXPECT_EQ(assigned.rows(), host.rows);
    EXPECT_EQ(assigned.nnz(), c.nnz());
    EXPECT_TRUE(same_bits(this->multiply(assigned, a, a), fused));
    plan = std::move(assigned);  // a plan that was moved from may be assigned to
    EXPECT_TRUE(same_bits(this->multiply(plan, a, a), fused));
  }
  EXPECT_TRUE(same_bits(to_host<std::int32_t>(c), fused));
}

// A C of its own structure is what the next product takes, without a copy.
TYPED_TEST(Plan, ResultIsAnOperand) {
  const auto host = matrices::erdos_renyi<TypeParam>(500, 500, 7, 8);
  const auto a = this->copy_in(host);
  SpgemmPlan<TypeParam> square(this->context_, view(a), view(a), this->stream_);
  DeviceBuffer<TypeParam> values(static_cast<std::size_t>(square.nnz()), this->stream_);
  square.multiply(a.values.data(), a.values.data(), values.data());
  SpgemmPlan<TypeParam> cube(this->context_, square.c_view(values.data()), view(a), this->stream_);
  const auto c = cube.multiply(values.data(), a.values.data());
  const auto host_square = spgemm::multiply(this->context_, host, host, Algorithm::fused);
  EXPECT_TRUE(same_bits(to_host<std::int32_t>(c),
                        spgemm::multiply(this->context_, host_square, host, Algorithm::fused)));
}

// Budgets from none at all to plenty: an error that names bytes up to some budget, then the product,
// first without bitmaps of rows and without lists.
TYPED_TEST(Plan, BudgetsGiveAnErrorOrTheSameBits) {
  const auto host = matrices::power_law<TypeParam>(4000, 4000, 1.3, 1500, 2);
  const auto a = this->copy_in(host);
  int errors = 0;
  int plans = 0;
  std::optional<std::uint64_t> smallest;
  for (const std::uint64_t budget :
       {std::uint64_t{1} << 10, std::uint64_t{100} << 10, std::uint64_t{1} << 20,
        std::uint64_t{1} << 22, std::uint64_t{16} << 20, std::uint64_t{64} << 20,
        std::uint64_t{256} << 20, std::uint64_t{1} << 30}) {
    Context limited = this->context_;
    limited.memory_budget = budget;
    try {
      SpgemmPlan<TypeParam> plan(limited, view(a), view(a), this->stream_);
      ++plans;
      EXPECT_LE(plan.bytes() + static_cast<std::uint64_t>(plan.nnz()) * sizeof(TypeParam), budget);
      if (smallest) {
        EXPECT_GE(plan.bytes(), *smallest);
      } else {
        smallest = plan.bytes();
      }
      EXPECT_TRUE(this->has_bits_of_plan(this->multiply(plan, a, a), host)) << budget;
    } catch (const Error& error) {
      ++errors;
      EXPECT_EQ(plans, 0) << error.what();
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
      EXPECT_THAT(error.what(), testing::HasSubstr("A * B"));
      EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(budget)));
    }
  }
  EXPECT_GT(errors, 1);
  EXPECT_GT(plans, 1);
}

// multiply() only launches kernels: a stream that is being captured refuses synchronisation and
// would record an allocation as a node of its own.
TYPED_TEST(Plan, MultiplyOnlyLaunchesKernels) {
  const auto host = matrices::power_law<TypeParam>(3000, 3000, 1.3, 1500, 2);
  const auto a = this->copy_in(host);
  SpgemmPlan<TypeParam> plan(this->context_, view(a), view(a), this->stream_);
  DeviceBuffer<TypeParam> values(static_cast<std::size_t>(plan.nnz()), this->stream_);
  plan.multiply(a.values.data(), a.values.data(), values.data());  // prepares the kernels
  check_cuda(cudaStreamSynchronize(this->stream_));
  const std::uint64_t in_use = device_memory_in_use();
  check_cuda(cudaStreamBeginCapture(this->stream_, cudaStreamCaptureModeThreadLocal));
  plan.multiply(a.values.data(), a.values.data(), values.data());
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(this->stream_, &graph));
  EXPECT_EQ(device_memory_in_use(), in_use);
  std::size_t count = 0;
  check_cuda(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  check_cuda(cudaGraphGetNodes(graph, nodes.data(), &count));
  EXPECT_GT(count, 0u);
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    check_cuda(cudaGraphNodeGetType(node, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeKernel);
  }
  check_cuda(cudaGraphDestroy(graph));
}

// More columns than the fused product can have: with lists; with too many products an entry, and in
// entries of thousands of products, by sums on the structure of C.
TYPED_TEST(Plan, MillionsOfColumns) {
  const auto shifted = [](typename TestFixture::Matrix matrix) {
    matrix.cols += 19'000'000;
    for (std::int32_t& column : matrix.col_idx) column += 19'000'000;
    return matrix;
  };
  const auto sparse = matrices::power_law<TypeParam>(2000, 2000, 1.4, 300, 1);
  const auto dense = matrices::erdos_renyi<TypeParam>(1000, 1000, 130, 2);
  std::vector<std::int64_t> lengths(3000, 1);
  lengths[7] = 20'000;
  const auto row = stairs<TypeParam>(lengths);
  const auto column = matrices::erdos_renyi<TypeParam>(20'000, 1, 1, 3);
  const auto empty = empty_matrix<TypeParam>(2000, 2000);
  for (const auto& [a, b] :
       {std::pair{sparse, sparse}, {dense, dense}, {row, column}, {sparse, empty}}) {
    const auto wide = shifted(b);
    const auto device_a = this->copy_in(a);
    const auto device_b = this->copy_in(wide);
    SpgemmPlan<TypeParam> plan(this->context_, view(device_a), view(device_b), this->stream_);
    const auto in_order = reference_product(a, wide);
    const auto c = this->multiply(plan, device_a, device_b);
    EXPECT_TRUE(this->has_bits_of_plan(c, in_order, in_order));
    EXPECT_NO_THROW(
        spgemm::compare(c, in_order, a, wide, rounding_tolerance<TypeParam>(longest_row(a))));
    EXPECT_TRUE(same_bits(
        to_host<std::int32_t>(plan.multiply(device_a.values.data(), device_b.values.data())), c));
  }
}

// The last device by number, while the first is current. With one GPU both are the same.
TEST(PlanDevice, MakesItsDeviceCurrentAndRestoresTheOther) {
  Context last = context();
  last.device = cuda_device_count() - 1;
  const auto host = matrices::erdos_renyi<double>(700, 700, 8, 1);
  const auto current = [] {
    int device = -1;
    check_cuda(cudaGetDevice(&device));
    return device;
  };
  DeviceCsr<double> a;
  {
    const DeviceScope scope(last);
    a = to_device<std::uint32_t>(host, nullptr);
  }
  check_cuda(cudaSetDevice(0));
  DeviceCsr<double> c;
  {
    // The default stream: of the plan's device, not of the current one.
    SpgemmPlan<double> plan(last, view(a), view(a), nullptr);
    EXPECT_EQ(current(), 0);
    c = plan.multiply(a.values.data(), a.values.data());
    EXPECT_EQ(current(), 0);
    plan.multiply(a.values.data(), a.values.data(), c.values.data());
    EXPECT_EQ(current(), 0);
  }
  EXPECT_EQ(current(), 0);
  const DeviceScope scope(last);
  EXPECT_TRUE(
      same_bits(to_host<std::int32_t>(c), spgemm::multiply(last, host, host, Algorithm::fused)));
  a = {};
  c = {};
}

}  // namespace
}  // namespace sortie::test
