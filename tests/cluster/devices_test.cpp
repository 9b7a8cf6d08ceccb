// SPDX-License-Identifier: Apache-2.0
//
// Ranks with a GPU each. Where there are fewer GPUs than ranks, several share one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/suffix_array/ranks/device_build.hpp"
#include "matrices/generators.hpp"
#include "sortie/cluster_devices.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/cluster_suffix_array.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "tests/cluster/expect_array.hpp"
#include "tests/cluster/spgemm_shapes.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

using matrices::Csr;
using spgemm::Algorithm;
using suffix_array::Position;
using suffix_array::cuda::RangePlan;
using test::NamedText;

void on_logical_devices(int count, const Context& context,
                        const std::function<void(Ranks&, const Context&)>& job) {
  SCOPED_TRACE(std::to_string(count) + " devices");
  run_on_devices(context, spread_over_gpus(context, count), job);
}

TEST(RankDevices, AreReportedAndMustExist) {
  RunReport report;
  Context context = test::context();
  context.report = &report;
  const int gpus = cuda_device_count();
  on_logical_devices(2 * gpus, context, [&](Ranks& ranks, const Context& own) {
    EXPECT_EQ(own.device, ranks.rank() % gpus);
    EXPECT_EQ(own.report != nullptr, ranks.rank() == 0);
  });
  for (const auto& [key, value] : report.figures()) {
    EXPECT_EQ(std::get<std::uint64_t>(value),
              static_cast<std::uint64_t>(key == "gpus" ? gpus : 2 * gpus))
        << key;
  }
  const auto nothing = [](Ranks&, const Context&) {};
  const std::vector<int> missing = {0, gpus};
  EXPECT_THAT(test::error_of([&] { run_on_devices(context, missing, nothing); }),
              testing::HasSubstr("found no CUDA device " + std::to_string(gpus)));
  EXPECT_THAT(test::error_of([&] { run_on_devices(context, {}, nothing); }),
              testing::HasSubstr("found no devices"));
}

TEST(RankDevices, RanksOfAnotherBackendAreRefused) {
  on_logical_devices(2, test::context(), [](Ranks& ranks, const Context& own) {
    Context context = own;
    if (ranks.rank() == 1) context.backend = Backend::host;
    EXPECT_THAT(test::error_of([&] {
                  static_cast<void>(build_suffix_array<std::uint32_t>(ranks, context, {}));
                }),
                testing::HasSubstr("expected that of all 2 ranks"));
  });
}

template <class Pos>
class DeviceSuffixArrays : public testing::Test {};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceSuffixArrays, Widths);

TYPED_TEST(DeviceSuffixArrays, OfTrickyTextsEqualThoseOfOneMachine) {
  const std::vector<NamedText> texts = test::tricky_texts();
  for (const int devices : {1, 2, 4}) {
    on_logical_devices(devices, test::context(), [&](Ranks& ranks, const Context& own) {
      for (const NamedText& text : texts) test::expect_equal_array<TypeParam>(ranks, text, own);
    });
  }
}

/// Builds on devices with a plan, and compares with the suffix array of one machine.
template <Position Pos>
void expect_by_plan(Ranks& ranks, const Context& context, const NamedText& text,
                    const std::vector<Pos>& expected, const RangePlan& plan) {
  SCOPED_TRACE(text.name + ", ranges of " + std::to_string(plan.members));
  const auto own =
      suffix_array::on_ranks::entry_share(text.symbols.size(), ranks.size(), ranks.rank());
  std::vector<Pos> entries(own.size);
  suffix_array::on_ranks::Exchanges exchanges(ranks);
  const auto arrive =
      suffix_array::on_ranks::build_on_device<Pos>(exchanges, context, text.view(), entries, plan);
  ranks.on_devices("copy entries", arrive);
  EXPECT_EQ(entries == test::part(expected, own.begin, own.begin + own.size), true);
}

TYPED_TEST(DeviceSuffixArrays, OfRepeatsAreBuiltInSeveralRangesEach) {
  const std::string letters = test::random_letters(30'000, 4, 'A', 1);
  const std::vector<NamedText> texts = {
      test::single("one letter", std::string(100'000, 'A')),
      test::single("period", test::repeated(letters.substr(0, 181), 500)),
      test::single("Fibonacci", test::fibonacci(100'000)),
      test::single("gaps", std::string(50'000, 'N') + letters + std::string(50'000, 'N')),
      test::joined("equal records", {letters, letters, letters, letters + "A"}),
      test::single("all bytes", test::random_letters(100'000, 256, 0, 4))};
  for (const NamedText& text : texts) {
    const auto expected = suffix_array::build<TypeParam>(test::on_host, text.view());
    const std::uint64_t size = text.symbols.size();
    for (const int devices : {2, 3}) {
      on_logical_devices(devices, test::context(), [&](Ranks& ranks, const Context& own) {
        expect_by_plan<TypeParam>(ranks, own, text, expected, {0, size});
        expect_by_plan<TypeParam>(ranks, own, text, expected, {2, size / 20});
      });
    }
  }
}

double figure(const RunReport& report, std::string_view name) {
  for (const auto& [key, value] : report.figures()) {
    if (key != name) continue;
    if (const auto* const number = std::get_if<std::uint64_t>(&value))
      return static_cast<double>(*number);
    if (const auto* const number = std::get_if<double>(&value)) return *number;
  }
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

TEST(DeviceSuffixArray, PartsOfTextAndCoverAreExchangedAndSharesAreBalanced) {
  const NamedText text = test::single("random", test::random_letters(2'000'000, 4, 'A', 3));
  for (const int devices : {2, 4}) {
    RunReport report;
    Context context = test::context();
    context.report = &report;
    on_logical_devices(devices, context, [&](Ranks& ranks, const Context& own) {
      static_cast<void>(build_suffix_array<std::uint32_t>(ranks, own, text.view()));
    });
    // Three bits a symbol and two words, and the positions of the cover, 16 of 181: every GPU sends
    // its part to each other.
    const auto symbols = static_cast<double>(text.symbols.size());
    const double others = figure(report, "gpus") - 1;
    EXPECT_NEAR(figure(report, "exchanged_bytes"),
                (8 * (3 * (symbols / 64 + 1) + 2) + 4 * 16 * symbols / 181) * others, 128 * others);
    EXPECT_EQ(figure(report, "planned_exchange_bytes"), figure(report, "exchanged_bytes"));
    EXPECT_LE(figure(report, "imbalance"), 1.03);
    EXPECT_EQ(figure(report, "devices"), devices);
  }
}

TEST(DeviceSuffixArray, BadTextsAndShortMemoryAreRefused) {
  NamedText text = test::joined("two", {"A", "B"});
  text.separators = {3};
  on_logical_devices(2, test::context(), [&](Ranks& ranks, const Context& own) {
    EXPECT_EQ(test::error_of([&] {
                static_cast<void>(build_suffix_array<std::uint32_t>(ranks, own, text.view()));
              }),
              "rank 0: suffix array, separator 0: found position 3, expected ascending positions "
              "below 3");
  });
  text = test::single("long", test::random_letters(5'000'000, 4, 'A', 1));
  Context little = test::context();
  little.memory_budget = std::uint64_t{4} << 20;
  on_logical_devices(2, little, [&](Ranks& ranks, const Context& own) {
    EXPECT_THAT(test::error_of([&] {
                  static_cast<void>(build_suffix_array<std::uint32_t>(ranks, own, text.view()));
                }),
                testing::AllOf(testing::HasSubstr("the suffix array in ranges"),
                               testing::HasSubstr("(4194304 bytes)")));
  });
}

TEST(DeviceSuffixArray, AFaultInAnyPhaseIsThrownByAllRanks) {
  const NamedText text = test::single("Fibonacci", test::fibonacci(3000));
  const std::size_t before = device_memory_in_use(0);
  for (const int devices : {2, 3}) {
    on_logical_devices(devices, test::context(), [&](Ranks& ranks, const Context& own) {
      for (const char* phase :
           {"find device", "compare backends", "measure memory", "memory of the share",
            "measure device memory", "copy text", "find letters", "pack text", "plan cover",
            "sort cover", "join cover", "rank cover", "share text", "count suffixes", "sort ranges",
            "copy entries", "pack", "bwt", "check traffic"}) {
        for (const int failing : {0, ranks.size() - 1}) {
          const test::Fault fault(ranks, failing, phase);
          EXPECT_EQ(test::error_of([&] {
                      static_cast<void>(build_suffix_array<std::uint32_t>(
                          ranks, own, text.view(), {.lcp = true, .bwt = true, .check = true}));
                    }),
                    "rank " + std::to_string(failing) + ": injected")
              << phase;
        }
      }
      test::expect_equal_array<std::uint32_t>(ranks, text, own);
    });
  }
  EXPECT_EQ(device_memory_in_use(0), before);
}

/// Checks a product on devices, whose operands are divided in some way, with that of one.
template <class Matrix>
void expect_product(Ranks& ranks, const Context& context, const Matrix& a, const Matrix& b,
                    bool is_square, const std::string& name, Algorithm algorithm,
                    std::size_t division) {
  SCOPED_TRACE(name + ", division " + std::to_string(division));
  Matrix expected;
  ranks.on_devices("expected", [&] {
    if (ranks.rank() != 0) return;
    if constexpr (has_values<Matrix>) expected = spgemm::multiply(context, a, b, algorithm);
    if constexpr (!has_values<Matrix>)
      expected = spgemm::multiply_structure(context, a, b, algorithm);
  });
  auto of_a = test::divide(ranks, a, test::divisions(a.rows, ranks.size())[division]);
  auto of_b = test::divide(ranks, b, test::divisions(b.rows, ranks.size())[2 - division]);
  of_a = is_square ? balance(ranks, context, std::move(of_a))
                   : balance(ranks, context, std::move(of_a), of_b);
  DividedMatrix<Matrix> c;
  if constexpr (has_values<Matrix>)
    c = multiply(ranks, context, of_a, is_square ? of_a : of_b, algorithm);
  if constexpr (!has_values<Matrix>)
    c = multiply_structure(ranks, context, of_a, is_square ? of_a : of_b, algorithm);
  const Matrix found = test::joined(ranks, std::move(c));
  if (ranks.rank() == 0) {
    EXPECT_TRUE(test::equal_bits(found, expected));
  }
}

template <class Types>
class DeviceProducts : public testing::Test {};
using AllTypes = testing::Types<Csr<float, std::int32_t>, Csr<float, std::int64_t>,
                                Csr<double, std::int32_t>, Csr<std::complex<double>, std::int32_t>,
                                Csr<std::complex<double>, std::int64_t>>;
TYPED_TEST_SUITE(DeviceProducts, AllTypes);

TYPED_TEST(DeviceProducts, HaveTheBitsOfOneDeviceForAllShapes) {
  const auto shapes =
      test::all_shapes<typename TypeParam::value_type, typename TypeParam::index_type>();
  for (const int devices : {1, 2, 4}) {
    on_logical_devices(devices, test::context(), [&](Ranks& ranks, const Context& own) {
      std::size_t division = 0;
      for (const auto& shape : shapes) {
        const bool is_square = shape.b.rows == 0;
        expect_product(ranks, own, shape.a, shape.second(), is_square, shape.name,
                       Algorithm::automatic, division);
        if (division == 0) {
          expect_product(ranks, own, shape.a, shape.second(), is_square, shape.name,
                         Algorithm::essc, division);
          expect_product(ranks, own, matrices::pattern_of(shape.a),
                         matrices::pattern_of(shape.second()), is_square, shape.name,
                         Algorithm::automatic, division);
        }
        division = (division + 1) % 3;
      }
    });
  }
}

TEST(DeviceProduct, LongRowsHaveTheBitsOfOneDevice) {
  // Rows of C of more than 6144 entries are divided into panels of columns, whose borders come from
  // samples of B: each rank has other rows of it.
  const auto a = matrices::rmat<double, std::int32_t>(14, 8, 1);
  const auto expected = spgemm::multiply(test::context(), a, a);
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < expected.rows; ++row)
    longest = std::max(longest, expected.row_ptr[row + 1] - expected.row_ptr[row]);
  EXPECT_GT(longest, 6144);
  for (const int devices : {2, 3}) {
    on_logical_devices(devices, test::context(), [&](Ranks& ranks, const Context& own) {
      auto of_a = test::divide(ranks, a, equal_rows(a.rows, ranks.size()));
      of_a = balance(ranks, own, std::move(of_a));
      const auto c = test::joined(ranks, multiply(ranks, own, of_a, of_a));
      if (ranks.rank() == 0) {
        EXPECT_TRUE(test::equal_bits(c, expected));
      }
    });
  }
}

std::string exchange_path(const RunReport& report) {
  for (const auto& [key, value] : report.figures())
    if (key == "exchange_path") return std::get<std::string>(value);
  return "no figure";
}

TEST(DeviceProduct, RowsOfBGoFromDeviceToDeviceWhereTheyFit) {
  const auto a = test::matrix_of<double, std::int32_t>(
      400, 400, [](std::int64_t row, std::int64_t col) { return (row * 7 + col * 11) % 23 == 0; });
  const auto large = matrices::power_law<double, std::int32_t>(20'000, 20'000, 1.2, 60, 1);
  for (const int devices : {2, 3, 5}) {
    on_logical_devices(devices, test::context(), [&](Ranks& ranks, const Context& own) {
      const auto path = [&](Context context, const auto& matrix) {
        RunReport report;
        context.report = &report;
        const auto of_a = test::divide(ranks, matrix, equal_rows(matrix.rows, ranks.size()));
        const auto c = test::joined(ranks, multiply(ranks, context, of_a, of_a));
        ranks.on_devices("compare", [&] {
          if (ranks.rank() != 0) return;
          EXPECT_TRUE(test::equal_bits(c, spgemm::multiply(own, matrix, matrix)));
        });
        EXPECT_EQ(figure(report, "planned_exchange_bytes"), figure(report, "exchanged_bytes"));
        return exchange_path(report);
      };
      EXPECT_EQ(path(own, large), "by peer copies");
      Context little = own;
      little.memory_budget = std::uint64_t{2} << 20;
      EXPECT_EQ(path(little, large),
                "through host memory: the rows of B do not fit in a rank's part of the GPU");
      ranks.set_message_bytes(101);  // pieces of several messages
      EXPECT_EQ(path(own, a), "by peer copies");
    });
  }
}

TEST(DeviceProduct, AFaultInAnyPhaseIsThrownByAllRanks) {
  const auto a = test::matrix_of<double, std::int32_t>(
      90, 90, [](std::int64_t row, std::int64_t col) { return (row + col) % 30 < 3; });
  const std::size_t before = device_memory_in_use(0);
  on_logical_devices(3, test::context(), [&](Ranks& ranks, const Context& own) {
    const auto of_a = test::divide(ranks, a, equal_rows(90, ranks.size()));
    for (const char* phase :
         {"check operands", "find device", "measure device memory", "connect devices",
          "sample columns", "plan rounds", "route rows", "pack rows", "finish pieces",
          "exchange pieces", "multiply", "use rows"}) {
      for (const int failing : {0, 1, 2}) {
        const test::Fault fault(ranks, failing, phase);
        EXPECT_EQ(test::error_of([&] { static_cast<void>(multiply(ranks, own, of_a, of_a)); }),
                  "rank " + std::to_string(failing) + ": injected")
            << phase;
      }
    }
  });
  EXPECT_EQ(device_memory_in_use(0), before);
}

/// C by a plan on devices, after products of new values.
Csr<double, std::int32_t> by_plan(int devices, const test::Factors<double, std::int32_t>& shape) {
  Csr<double, std::int32_t> found;
  on_logical_devices(devices, test::context(), [&](Ranks& ranks, const Context& own) {
    ranks.set_message_bytes(101);
    const bool is_square = shape.b.rows == 0;
    const auto of_a = test::divide(ranks, shape.a, equal_rows(shape.a.rows, ranks.size()));
    const auto of_b =
        test::divide(ranks, shape.second(), equal_rows(shape.second().rows, ranks.size()));
    ProductPlan<double, std::int32_t> plan(ranks, own, of_a, is_square ? of_a : of_b);
    const auto first = test::joined(ranks, plan.product());
    for (const double factor : {2.0, -4.0}) {
      std::vector<double> a = of_a.block.values;
      std::vector<double> b = of_b.block.values;
      for (double& value : a) value *= factor;
      for (double& value : b) value *= factor;
      plan.update(a, b);
      const auto newest = test::joined(ranks, plan.product());
      if (ranks.rank() != 0) continue;
      auto expected = first;
      for (double& value : expected.values) value *= factor * factor;
      EXPECT_TRUE(test::equal_bits(newest, expected)) << shape.name;
      found = newest;
    }
    const std::vector<double> too_many(of_a.block.values.size() + 1);
    EXPECT_THAT(test::error_of([&] { plan.update(too_many, of_b.block.values); }),
                testing::HasSubstr("as many as entries"));
  });
  return found;
}

TEST(DeviceProductPlan, NewValuesGoFromDeviceToDevice) {
  for (const auto& shape : test::all_shapes<double, std::int32_t>()) {
    const auto expected = by_plan(1, shape);
    const auto product = spgemm::multiply(test::context(), shape.a, shape.second());
    EXPECT_EQ(expected.row_ptr, product.row_ptr) << shape.name;
    EXPECT_EQ(expected.col_idx, product.col_idx) << shape.name;
    for (std::size_t i = 0; i < product.values.size(); ++i)
      EXPECT_NEAR(expected.values[i], 16 * product.values[i], 1e-6) << shape.name;
    for (const int devices : {2, 3}) {
      EXPECT_TRUE(test::equal_bits(by_plan(devices, shape), expected)) << shape.name;
    }
  }
}

TEST(DeviceProduct, AnAlgorithmOfTheHostIsRefusedByAllRanks) {
  const auto a = test::matrix_of<double, std::int32_t>(
      20, 20, [](std::int64_t row, std::int64_t col) { return row == col; });
  on_logical_devices(2, test::context(), [&](Ranks& ranks, const Context& own) {
    const auto of_a = test::divide(ranks, a, equal_rows(20, ranks.size()));
    EXPECT_THAT(test::error_of([&] {
                  static_cast<void>(multiply(ranks, own, of_a, of_a, Algorithm::row_wise));
                }),
                testing::HasSubstr("rank 0: "));
  });
}

}  // namespace
}  // namespace sortie::cluster
