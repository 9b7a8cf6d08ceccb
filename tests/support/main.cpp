// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <iostream>

#include "sortie/devices.hpp"
#include "tests/support/backend.hpp"
#ifdef SORTIE_TEST_REGISTERS_PAPERS
#include "papers/papers.hpp"
#endif
#ifdef SORTIE_TEST_REGISTERS_BASELINES
#include "baselines/baselines.hpp"
#endif

// Runs the tests, or exits with 77 and a reason where the backend of this run is not there, so that
// ctest counts the program as skipped and not as passed.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
#ifdef SORTIE_TEST_REGISTERS_PAPERS
  sortie::papers::register_all();
#endif
#ifdef SORTIE_TEST_REGISTERS_BASELINES
  sortie::baselines::register_all();
#endif
  if (sortie::test::backend() == sortie::Backend::cuda && sortie::cuda_devices().empty()) {
    std::cout << "SKIPPED: CUDA tests need a GPU: " << sortie::why_no_cuda() << '\n';
    return 77;
  }
  return RUN_ALL_TESTS();
}
