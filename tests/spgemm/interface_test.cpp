// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "apps/spgemm/baseline.hpp"
#include "baselines/spgemm/baselines.hpp"
#include "matrices/generators.hpp"
#include "sortie/run_report.hpp"
#include "tests/spgemm/products.hpp"

namespace sortie::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view every_name[] = {
    "auto",           "essc", "fused",          "row-wise",      "pattern",       "reference",
    "eigen",          "esc",  "cusparse",       "cusparse-alg1", "cusparse-alg2", "cusparse-alg3",
    "cusparse-reuse", "cusp", "kokkos-kernels", "graphblas"};

/// The kind and text of the error that `call` throws.
template <class Call>
void expect_error(const Call& call, ErrorKind kind, const std::string& part) {
  try {
    call();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(SpgemmInterface, NamesAreParsedBack) {
  std::set<Algorithm> algorithms;
  for (const std::string_view text : every_name) {
    EXPECT_EQ(spgemm::name(spgemm::parse_algorithm(text)), text);
    algorithms.insert(spgemm::parse_algorithm(text));
  }
  EXPECT_EQ(algorithms.size(), std::size(every_name));
  EXPECT_EQ(spgemm::parse_algorithm("auto"), Algorithm::automatic);
  EXPECT_EQ(spgemm::parse_algorithm("row-wise"), Algorithm::row_wise);
}

TEST(SpgemmInterface, UnknownNameIsAUsageError) {
  expect_error(
      [] { (void)spgemm::parse_algorithm("fastest"); }, ErrorKind::usage,
      "found \"fastest\", expected one of auto, essc, fused, row-wise, pattern, reference, eigen, "
      "esc, cusparse, cusparse-alg1, cusparse-alg2, cusparse-alg3, cusparse-reuse, cusp, "
      "kokkos-kernels, graphblas");
  expect_error([] { (void)spgemm::parse_algorithm(""); }, ErrorKind::usage, "found \"\"");
}

TEST(SpgemmInterface, HostAlgorithmsAreListed) {
  const std::span<const Algorithm> list = spgemm::algorithms(Backend::host);
  std::vector<std::string_view> host;
  for (const Algorithm algorithm : list) host.push_back(spgemm::name(algorithm));
  ASSERT_GE(host.size(), 4u);
  EXPECT_THAT(std::vector(host.begin(), host.begin() + 4),
              testing::ElementsAre("essc", "row-wise", "reference", "eigen"));
  // And KokkosKernels and GraphBLAS, where CMake found them.
  EXPECT_THAT(std::vector(host.begin() + 4, host.end()),
              testing::IsSubsetOf({"kokkos-kernels", "graphblas"}));
}

TEST(SpgemmInterface, LibrariesThatAreNotInThisBuildAreUnavailable) {
  const auto a = matrices::banded<double>(5, 1, 1);
  const auto expect_absent = [&](Backend where, Algorithm library, const std::string& message) {
    const std::span<const Algorithm> list = spgemm::algorithms(where);
    if (std::find(list.begin(), list.end(), library) != list.end()) return;
    Context chosen;  // by the algorithm
    expect_error([&] { (void)spgemm::multiply(chosen, a, a, library); }, ErrorKind::unavailable,
                 message);
  };
  expect_absent(Backend::host, baseline("kokkos-kernels"),
                "SpGEMM: algorithm kokkos-kernels is not in this build: CMake found no "
                "KokkosKernels that goes with its Kokkos");
  expect_absent(Backend::host, baseline("graphblas"),
                "SpGEMM: algorithm graphblas is not in this build: CMake found no "
                "SuiteSparse:GraphBLAS");
  if (backend() == Backend::host) return;  // without a GPU there is no list of what was built
  expect_absent(Backend::cuda, baseline("cusp"),
                "SpGEMM: algorithm cusp is not in this build: CMake found no CUSP that goes with "
                "its CUDA");
}

// The library alone: what users of an installed Sortie have.
TEST(SpgemmInterface, WithoutBaselinesOnlySortiesOwnAlgorithmsAreKnown) {
  spgemm::register_baselines({});
  expect_error([] { (void)spgemm::parse_algorithm("eigen"); }, ErrorKind::usage,
               "found \"eigen\", expected one of auto, essc, fused, row-wise, pattern");
  const std::span<const Algorithm> host = spgemm::algorithms(Backend::host);
  EXPECT_THAT(std::vector(host.begin(), host.end()),
              testing::ElementsAre(Algorithm::essc, Algorithm::row_wise));
  spgemm::baselines::register_all();
  EXPECT_EQ(spgemm::name(spgemm::parse_algorithm("eigen")), "eigen");
}

TEST(SpgemmInterface, AlgorithmOfTheOtherBackendIsUnavailable) {
  const auto a = matrices::banded<double>(5, 1, 1);
  const Algorithm other = backend() == Backend::host ? baseline("esc") : Algorithm::row_wise;
  expect_error([&] { (void)spgemm::multiply(context(), a, a, other); }, ErrorKind::unavailable,
               std::string(spgemm::name(other)));
}

TEST(SpgemmInterface, AlgorithmDecidesWhereTheBackendIsAutomatic) {
  const auto a = matrices::banded<double>(50, 3, 1);
  EXPECT_TRUE(
      same_bits(spgemm::multiply(Context{}, a, a, baseline("eigen")), reference_product(a, a)));
}

TEST(SpgemmInterface, ShapesThatDoNotConform) {
  const auto a = matrices::erdos_renyi<double>(3, 5, 2, 1);
  const auto b = matrices::erdos_renyi<double>(7, 2, 1, 1);
  const std::string message =
      "A * B: found A of 3 x 5 and B of 7 x 2, expected as many columns in A as rows in B";
  expect_error([&] { (void)spgemm::count_products(a, b); }, ErrorKind::input, message);
  expect_error([&] { (void)spgemm::multiply(context(), a, b); }, ErrorKind::input, message);
  for (const Algorithm algorithm : spgemm::algorithms(backend())) {
    expect_error([&] { (void)spgemm::multiply(context(), a, b, algorithm); }, ErrorKind::input,
                 message);
  }
}

TEST(SpgemmInterface, CountsProducts) {
  const auto a = matrices::erdos_renyi<double>(30, 50, 4, 1);
  const auto b = matrices::erdos_renyi<double>(50, 20, 7, 1);
  EXPECT_EQ(spgemm::count_products(a, b), 30 * 4 * 7);
}

TEST(SpgemmInterface, ReportsPhasesAndFigures) {
  const auto a = matrices::erdos_renyi<double>(30, 30, 4, 1);
  RunReport report;
  Context reporting = context();
  reporting.report = &report;
  const auto c = spgemm::multiply(reporting, a, a, Algorithm::essc);
  std::vector<std::string> phases;
  for (const RunReport::Phase& phase : report.phases()) phases.push_back(phase.name);
  EXPECT_THAT(phases, Contains("analysis"));
  using Figure = std::pair<std::string, RunReport::Value>;
  EXPECT_THAT(report.figures(), Contains(Figure("products", std::int64_t{480})));
  EXPECT_THAT(report.figures(), Contains(Figure("nnz_c", c.nnz())));
}

TEST(SpgemmInterface, GraphBlasTellsItsCopiesFromItsProduct) {
  const std::span<const Algorithm> host = spgemm::algorithms(Backend::host);
  if (std::find(host.begin(), host.end(), baseline("graphblas")) == host.end())
    GTEST_SKIP() << "not in this build";
  const auto a = matrices::erdos_renyi<double>(30, 30, 4, 1);
  RunReport report;
  Context reporting;
  reporting.backend = Backend::host;
  reporting.report = &report;
  (void)spgemm::multiply(reporting, a, a, baseline("graphblas"));
  std::vector<std::string> phases;
  for (const RunReport::Phase& phase : report.phases()) phases.push_back(phase.name);
  EXPECT_THAT(phases, testing::ElementsAre("import", "product", "export"));
}

TEST(SpgemmInterface, ProgressReachesItsTotal) {
  const auto a = matrices::erdos_renyi<double>(300, 300, 4, 1);
  for (const Algorithm algorithm : {Algorithm::essc, Algorithm::automatic}) {
    std::uint64_t last_done = 0;
    std::uint64_t last_total = 1;
    Context watched = context();
    watched.progress = [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
      EXPECT_THAT(phase, Not(testing::IsEmpty()));
      EXPECT_LE(done, total);
      last_done = done;
      last_total = total;
    };
    (void)spgemm::multiply(watched, a, a, algorithm);
    EXPECT_EQ(last_done, last_total);
  }
}

}  // namespace
}  // namespace sortie::test
