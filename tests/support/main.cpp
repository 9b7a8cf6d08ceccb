// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <iostream>

#ifdef SORTIE_APPS
#include "baselines/suffix_array/list.hpp"
#endif
#include "sortie/devices.hpp"
#include "tests/support/backend.hpp"

// Runs the tests, or exits with 77 and a reason where the backend of this run is not there, so that
// ctest counts the program as skipped and not as passed.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (sortie::test::backend() == sortie::Backend::cuda && sortie::cuda_devices().empty()) {
    std::cout << "SKIPPED: CUDA tests need a GPU: " << sortie::why_no_cuda() << '\n';
    return 77;
  }
#ifdef SORTIE_APPS
  sortie::suffix_array::register_baselines();
#endif
  return RUN_ALL_TESTS();
}
