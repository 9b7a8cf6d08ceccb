// SPDX-License-Identifier: Apache-2.0
//
// Products over ranks: every C has the bits of one machine's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sortie/cluster_spgemm.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "sortie/spgemm.hpp"
#include "tests/cluster/spgemm_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

using matrices::Csr;
using matrices::Pattern;
using spgemm::Algorithm;

Context host_context() {
  Context context;
  context.backend = Backend::host;
  return context;
}

std::uint64_t figure(const RunReport& report, std::string_view name) {
  for (const auto& [key, value] : report.figures()) {
    if (key != name) continue;
    if (const auto* const number = std::get_if<std::uint64_t>(&value)) return *number;
  }
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

/// One machine's product, on rank 0. Collective.
template <class Matrix>
Matrix product_alone(Ranks& ranks, const Matrix& a, const Matrix& b, Algorithm algorithm) {
  Matrix product;
  ranks.on_rank(0, "expected", [&] {
    if constexpr (has_values<Matrix>) product = spgemm::multiply(host_context(), a, b, algorithm);
    if constexpr (!has_values<Matrix>)
      product = spgemm::multiply_structure(host_context(), a, b, algorithm);
  });
  return product;
}

template <class Matrix>
DividedMatrix<Matrix> product_on_ranks(Ranks& ranks, const Context& context,
                                       const DividedMatrix<Matrix>& a,
                                       const DividedMatrix<Matrix>& b, Algorithm algorithm) {
  if constexpr (has_values<Matrix>) {
    return multiply(ranks, context, a, b, algorithm);
  } else {
    return multiply_structure(ranks, context, a, b, algorithm);
  }
}

/// Checks a product of matrices that are divided in some way.
template <class Matrix>
void expect_product(Ranks& ranks, const Matrix& a, const Matrix& b, bool is_square,
                    const std::string& name, Algorithm algorithm, std::size_t division) {
  SCOPED_TRACE(name + ", division " + std::to_string(division));
  const Matrix expected = product_alone(ranks, a, b, algorithm);
  RunReport report;
  Context context = host_context();
  context.report = &report;
  auto of_a = test::divide(ranks, a, test::divisions(a.rows, ranks.size())[division]);
  Matrix c;
  if (is_square) {
    of_a = balance(ranks, context, std::move(of_a));
    c = test::joined(ranks, product_on_ranks(ranks, context, of_a, of_a, algorithm));
  } else {
    const auto of_b = test::divide(ranks, b, test::divisions(b.rows, ranks.size())[2 - division]);
    of_a = balance(ranks, context, std::move(of_a), of_b);
    c = test::joined(ranks, product_on_ranks(ranks, context, of_a, of_b, algorithm));
  }
  EXPECT_EQ(figure(report, "planned_exchange_bytes"), figure(report, "exchanged_bytes"));
  if (ranks.rank() == 0) {
    EXPECT_TRUE(test::equal_bits(c, expected));
  }
}

TEST(ClusterSpgemm, HasTheBitsOfOneMachineForAllShapes) {
  const auto shapes = test::all_shapes<double, std::int32_t>();
  test::on_ranks([&](Ranks& ranks) {
    std::size_t division = 0;
    for (const auto& shape : shapes) {
      expect_product(ranks, shape.a, shape.second(), shape.b.rows == 0, shape.name,
                     Algorithm::automatic, division);
      division = (division + 1) % 3;
    }
  });
}

TEST(ClusterSpgemm, StructuresAreThoseOfOneMachine) {
  const auto shapes = test::all_shapes<float, std::int64_t>();
  test::on_few_ranks([&](Ranks& ranks) {
    for (const std::size_t number : {0, 2, 6, 10, 13}) {
      const auto& shape = shapes[number];
      expect_product(ranks, matrices::pattern_of(shape.a), matrices::pattern_of(shape.second()),
                     shape.b.rows == 0, shape.name, Algorithm::automatic, 0);
    }
  });
}

template <class Types>
class ClusterSpgemmTypes : public testing::Test {};
using AllTypes = testing::Types<Csr<float, std::int32_t>, Csr<float, std::int64_t>,
                                Csr<double, std::int64_t>, Csr<std::complex<double>, std::int32_t>,
                                Csr<std::complex<double>, std::int64_t>>;
TYPED_TEST_SUITE(ClusterSpgemmTypes, AllTypes);

TYPED_TEST(ClusterSpgemmTypes, EveryTypeAndAlgorithm) {
  const auto shapes =
      test::all_shapes<typename TypeParam::value_type, typename TypeParam::index_type>();
  test::on_few_ranks([&](Ranks& ranks) {
    for (const auto& [shape, algorithm] :
         {std::pair{2, Algorithm::row_wise}, {10, Algorithm::essc}}) {
      const auto& factors = shapes[static_cast<std::size_t>(shape)];
      expect_product(ranks, factors.a, factors.second(), factors.b.rows == 0, factors.name,
                     algorithm, 2);
    }
  });
}

TEST(ClusterSpgemm, RoundsFitTheMemoryBudget) {
  const auto a = test::matrix_of<double, std::int32_t>(
      90, 90, [](std::int64_t row, std::int64_t col) { return (row + col) % 30 < 3; });
  test::on_ranks([&](Ranks& ranks) {
    const auto expected = product_alone(ranks, a, a, Algorithm::automatic);
    RunReport report;
    Context context = host_context();
    context.report = &report;
    context.memory_budget = 3600;
    const auto of_a = test::divide(ranks, a, equal_rows(90, ranks.size()));
    const auto c = test::joined(ranks, multiply(ranks, context, of_a, of_a));
    EXPECT_EQ(figure(report, "planned_exchange_bytes"), figure(report, "exchanged_bytes"));
    if (ranks.size() > 1 && ranks.size() < 5) {
      EXPECT_GT(figure(report, "rounds"), 1u);
    }
    if (ranks.rank() == 0) {
      EXPECT_TRUE(test::equal_bits(c, expected));
    }
  });
}

TEST(ClusterSpgemm, ARowWhoseRowsOfBDoNotFitIsNamed) {
  const auto a = test::matrix_of<double, std::int32_t>(
      64, 64, [](std::int64_t row, std::int64_t col) { return row == 40 || col == row; });
  test::on_ranks([&](Ranks& ranks) {
    if (ranks.size() == 1) return;
    Context context = host_context();
    context.memory_budget = 2000;
    const auto of_a = test::divide(ranks, a, equal_rows(64, ranks.size()));
    EXPECT_THAT(test::error_of([&] { static_cast<void>(multiply(ranks, context, of_a, of_a)); }),
                testing::HasSubstr("the rows of B for row 41 of A"));
  });
}

TEST(ClusterSpgemm, OperandsThatDoNotFitAreRefused) {
  const auto a = test::matrix_of<double, std::int32_t>(
      6, 5, [](std::int64_t row, std::int64_t col) { return row == col; });
  test::on_few_ranks([&](Ranks& ranks) {
    const auto of_a = test::divide(ranks, a, equal_rows(6, ranks.size()));
    EXPECT_THAT(
        test::error_of([&] { static_cast<void>(multiply(ranks, host_context(), of_a, of_a)); }),
        testing::HasSubstr("found A of 6 x 5 and B of 6 x 5"));
    const auto square = test::matrix_of<double, std::int32_t>(
        6, 6, [](std::int64_t row, std::int64_t col) { return row == col; });
    auto other = test::divide(ranks, square, equal_rows(6, ranks.size()));
    other.first_rows.push_back(6);
    EXPECT_THAT(
        test::error_of([&] { static_cast<void>(multiply(ranks, host_context(), other, other)); }),
        testing::HasSubstr("divided among other ranks"));
    if (ranks.size() == 1) return;
    Csr<double, std::int32_t> block = a;
    block.cols += ranks.rank();
    EXPECT_THAT(test::error_of([&] { static_cast<void>(divided(ranks, block)); }),
                testing::HasSubstr("found 6 columns, expected 5 as on rank 0"));
  });
}

TEST(ClusterSpgemm, BlocksAreJoinedInTheOrderOfRanks) {
  test::on_few_ranks([](Ranks& ranks) {
    const auto block = test::matrix_of<double, std::int32_t>(
        ranks.rank() % 3, 4, [](std::int64_t, std::int64_t) { return true; });
    const auto matrix = divided(ranks, block);
    std::int64_t first = 0;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      EXPECT_EQ(matrix.first_rows[static_cast<std::size_t>(rank)], first);
      first += rank % 3;
    }
    EXPECT_EQ(matrix.rows(), first);
  });
}

TEST(ClusterSpgemm, ProductsAreBalanced) {
  // Rows of very different lengths; none has a hundredth of a share of 16 ranks.
  const auto a = test::matrix_of<float, std::int32_t>(
      3000, 300,
      [](std::int64_t row, std::int64_t col) { return row < 1500 ? col < 20 : col == row % 300; });
  const auto b = test::matrix_of<float, std::int32_t>(
      300, 300, [](std::int64_t row, std::int64_t col) { return (row * col) % 50 == 0; });
  test::on_ranks([&](Ranks& ranks) {
    RunReport report;
    Context context = host_context();
    context.report = &report;
    const auto of_b = test::divide(ranks, b, equal_rows(300, ranks.size()));
    const auto of_a =
        balance(ranks, context, test::divide(ranks, a, equal_rows(3000, ranks.size())), of_b);
    static_cast<void>(multiply(ranks, context, of_a, of_b));
    for (const auto& [key, value] : report.figures())
      if (key == "imbalance") {
        EXPECT_LE(std::get<double>(value), 1.03);
      }
  });
}

TEST(ClusterSpgemm, APlanComputesNewValues) {
  const auto shapes = test::all_shapes<double, std::int32_t>();
  test::on_ranks([&](Ranks& ranks) {
    for (const std::size_t number : {1, 2, 10, 13}) {
      const auto& shape = shapes[number];
      SCOPED_TRACE(shape.name);
      const bool is_square = shape.b.rows == 0;
      auto a = shape.a;
      auto b = shape.second();
      const auto of_b = test::divide(ranks, b, equal_rows(b.rows, ranks.size()));
      auto of_a = test::divide(ranks, a, equal_rows(a.rows, ranks.size()));
      of_a = balance(ranks, host_context(), std::move(of_a), of_b);
      ProductPlan<double, std::int32_t> plan(ranks, host_context(), of_a, is_square ? of_a : of_b);
      const auto expect = [&] {
        const auto expected = product_alone(ranks, a, is_square ? a : b, Algorithm::automatic);
        const auto c = test::joined(ranks, plan.product());
        if (ranks.rank() == 0) {
          EXPECT_TRUE(test::equal_bits(c, expected));
        }
      };
      expect();
      for (const std::uint64_t seed : {77, 78}) {
        std::uint64_t number = seed;
        for (auto* values : {&a.values, &b.values})
          for (double& value : *values) value = test::odd_value<double>(number += 91);
        const auto new_a = test::divide(ranks, a, of_a.first_rows);
        const auto new_b = test::divide(ranks, b, of_b.first_rows);
        plan.update(new_a.block.values, is_square ? new_a.block.values : new_b.block.values);
        expect();
      }
      const std::vector<double> too_many(of_a.block.values.size() + 1);
      EXPECT_THAT(test::error_of([&] { plan.update(too_many, too_many); }),
                  testing::HasSubstr("new values: found"));
    }
  });
}

/// Calls of which each is a part of a job, and their phases.
struct FaultyPart {
  std::function<void(Ranks&, const Context&, const DividedMatrix<Csr<double, std::int32_t>>&)> run;
  std::vector<const char*> phases;
  std::uint64_t memory_budget = 0;
};

TEST(ClusterSpgemm, AFaultInAnyPhaseIsThrownByAllRanks) {
  using Matrix = DividedMatrix<Csr<double, std::int32_t>>;
  const auto run_balance = [](Ranks& ranks, const Context& context, const Matrix& a) {
    static_cast<void>(balance(ranks, context, a));
  };
  const auto run_multiply = [](Ranks& ranks, const Context& context, const Matrix& a) {
    static_cast<void>(multiply(ranks, context, a, a));
  };
  const auto run_plan = [](Ranks& ranks, const Context& context, const Matrix& a) {
    ProductPlan<double, std::int32_t> plan(ranks, context, a, a);
    plan.update(a.block.values, a.block.values);
  };
  const std::vector<FaultyPart> parts = {
      {run_balance,
       {"measure memory", "find rows", "ask for rows", "look up lengths", "count products",
        "group rows", "count rows", "receive rows"}},
      {run_multiply,
       {"check operands", "plan rounds", "pack rows", "multiply", "use rows", "check traffic"}},
      // A row of A asks for 1044 bytes, and half of what the bitmap of rows leaves is for
      // them: each is a round.
      {run_multiply, {"choose rows"}, 2200},
      {run_plan, {"plan product", "pack values", "new values"}}};
  const auto a = test::matrix_of<double, std::int32_t>(
      90, 90, [](std::int64_t row, std::int64_t col) { return (row + col) % 30 < 3; });
  test::on_few_ranks([&](Ranks& ranks) {
    if (ranks.size() == 1) return;
    const auto on_first = test::divide(ranks, a, test::divisions(90, ranks.size())[1]);
    const auto equal = test::divide(ranks, a, equal_rows(90, ranks.size()));
    for (const FaultyPart& part : parts) {
      Context context = host_context();
      context.memory_budget = part.memory_budget;
      for (const char* phase : part.phases) {
        for (const int failing : {0, ranks.size() / 2, ranks.size() - 1}) {
          const test::Fault fault(ranks, failing, phase);
          EXPECT_EQ(test::error_of([&] {
                      part.run(ranks, context, &part == &parts.front() ? on_first : equal);
                    }),
                    "rank " + std::to_string(failing) + ": injected")
              << phase;
        }
      }
    }
  });
}

}  // namespace
}  // namespace sortie::cluster
