// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/ranks.hpp"

namespace sortie::test {

void on_ranks(const std::function<void(cluster::Ranks&)>& body) {
  for (const int size : {1, 2, 3, 4, 5, 7, 8, 13, 16}) {
    SCOPED_TRACE(size);
    cluster::run_in_process(size, true, body);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void on_few_ranks(const std::function<void(cluster::Ranks&)>& body) {
  for (const int size : {1, 3, 8}) {
    SCOPED_TRACE(size);
    cluster::run_in_process(size, true, body);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace sortie::test
