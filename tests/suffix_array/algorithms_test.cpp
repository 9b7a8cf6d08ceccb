// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::suffix_array {
namespace {

template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::check, "no error"};
}

TEST(SuffixArrayAlgorithms, NamesCanBeParsed) {
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::prefix_doubling,
                                    Algorithm::reference, Algorithm::divsufsort, Algorithm::dc3}) {
    EXPECT_EQ(parse_algorithm(name(algorithm)), algorithm);
  }
  const Error error = error_of([] { (void)parse_algorithm("skew"); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_STREQ(error.what(),
               "suffix array algorithm: found \"skew\", expected auto, prefix-doubling, dc3, "
               "divsufsort or reference");
}

TEST(SuffixArrayAlgorithms, EveryBackendDoublesPrefixes) {
  for (const Backend backend : {Backend::host, Backend::cuda}) {
    const auto list = algorithms(backend);
    EXPECT_EQ(std::count(list.begin(), list.end(), Algorithm::prefix_doubling), 1);
  }
}

TEST(SuffixArrayAlgorithms, BaselinesAreNotOnTheGpu) {
  const test::NamedText text = test::single("", "GATTACA");
  Context cuda;
  cuda.backend = Backend::cuda;
  const Error error =
      error_of([&] { (void)build<std::uint32_t>(cuda, text.view(), Algorithm::reference); });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_STREQ(error.what(), "suffix array: reference runs on the host only");
}

TEST(SuffixArrayAlgorithms, SkewIsOnTheGpuOnly) {
  const auto list = algorithms(Backend::host);
  EXPECT_EQ(std::count(list.begin(), list.end(), Algorithm::dc3), 0);
  const test::NamedText text = test::single("", "GATTACA");
  Context host;
  host.backend = Backend::host;
  const Error error =
      error_of([&] { (void)build<std::uint32_t>(host, text.view(), Algorithm::dc3); });
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
  const auto list = algorithms(Backend::host);
  if (std::find(list.begin(), list.end(), Algorithm::divsufsort) == list.end()) {
    GTEST_SKIP() << "this build has no libdivsufsort";
  }
  const std::string letters = test::random_letters(5000, 256, 0, 1);
  const test::NamedText text = test::joined("", {letters, letters});
  Context host;
  host.backend = Backend::host;
  const Error error =
      error_of([&] { (void)build<std::uint32_t>(host, text.view(), Algorithm::divsufsort); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_STREQ(error.what(),
               "suffix array by libdivsufsort: found 2 records and 256 letters, expected at most "
               "254 letters when there are many records");
}

}  // namespace
}  // namespace sortie::suffix_array
