// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::suffix_array {
namespace {

using testing::ElementsAre;

template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::check, "no error"};
}

std::vector<std::string_view> names_on(Backend backend) {
  std::vector<std::string_view> names;
  for (const ConstructionAlgorithm& known : algorithms_on(backend)) names.push_back(known.name);
  return names;
}

TEST(SuffixArrayAlgorithms, AreListedByBackend) {
  EXPECT_THAT(names_on(Backend::host),
              ElementsAre("prefix-doubling", "induced", "reference", "divsufsort"));
  EXPECT_THAT(names_on(Backend::cuda), ElementsAre("prefix-doubling", "dc3", "pdss"));
}

TEST(SuffixArrayAlgorithms, NamesCanBeParsed) {
  for (const std::string_view name :
       {"auto", "prefix-doubling", "induced", "dc3", "pdss", "divsufsort", "reference"}) {
    EXPECT_EQ(parse_algorithm(name).name, name);
  }
  const Error error = error_of([] { (void)parse_algorithm("skew"); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_STREQ(error.what(),
               "suffix array algorithm: found \"skew\", expected auto, prefix-doubling, dc3, "
               "divsufsort, induced, pdss or reference");
}

TEST(SuffixArrayAlgorithms, BaselinesAreNotOnTheGpu) {
  const test::NamedText text = test::single("", "GATTACA");
  Context cuda;
  cuda.backend = Backend::cuda;
  const Error error = error_of(
      [&] { (void)build_by<std::uint32_t>(parse_algorithm("reference"), cuda, text.view()); });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_STREQ(error.what(), "suffix array: reference runs on the host only");
}

TEST(SuffixArrayAlgorithms, SkewIsOnTheGpuOnly) {
  const test::NamedText text = test::single("", "GATTACA");
  Context host;
  host.backend = Backend::host;
  const Error error =
      error_of([&] { (void)build_by<std::uint32_t>(parse_algorithm("dc3"), host, text.view()); });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_STREQ(error.what(), "suffix array: dc3 runs on CUDA only");
}

TEST(SuffixArrayAlgorithms, CudaIsRefusedWhereItIsNot) {
  if (!cuda_devices().empty()) GTEST_SKIP() << "there is a GPU";
  const test::NamedText text = test::single("", "GATTACA");
  Context cuda;
  cuda.backend = Backend::cuda;
  EXPECT_EQ(error_of([&] { (void)build<std::uint32_t>(cuda, text.view()); }).kind(),
            ErrorKind::unavailable);
}

TEST(SuffixArrayAlgorithms, DivsufsortNeedsBytesForRecordEnds) {
  const std::string letters = test::random_letters(5000, 256, 0, 1);
  const test::NamedText text = test::joined("", {letters, letters});
  Context host;
  host.backend = Backend::host;
  const Error error = error_of(
      [&] { (void)build_by<std::uint32_t>(parse_algorithm("divsufsort"), host, text.view()); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_STREQ(error.what(),
               "suffix array by libdivsufsort: found 2 records and 256 letters, expected at most "
               "254 letters when there are many records");
}

}  // namespace
}  // namespace sortie::suffix_array
