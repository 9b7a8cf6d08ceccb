// SPDX-License-Identifier: Apache-2.0
//
// Main program of tests that MPI starts: every rank runs the same tests, and rank 0 prints. A failure
// on any rank is one of the program.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <memory>

#include "sortie/cluster_mpi.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::test {
namespace {

cluster::Ranks* world = nullptr;

/// Prints the failures of ranks other than 0.
class FailurePrinter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* const file = result.file_name() == nullptr ? "" : result.file_name();
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", world->rank(), file, result.line_number(),
                 result.message());
  }
};

}  // namespace

void on_ranks(const std::function<void(cluster::Ranks&)>& body) {
  body(*world);
}

void on_few_ranks(const std::function<void(cluster::Ranks&)>& body) {
  body(*world);
}

}  // namespace sortie::test

int main(int count, char** values) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &values, MPI_THREAD_FUNNELED, &provided);
  testing::InitGoogleTest(&count, values);
  int failed = 0;
  {
    const auto ranks = sortie::cluster::make_mpi_ranks(MPI_COMM_WORLD);
    sortie::test::world = ranks.get();
    if (ranks->rank() != 0) {
      auto& listeners = testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
      listeners.Append(new sortie::test::FailurePrinter);
    }
    failed = RUN_ALL_TESTS();
    failed = static_cast<int>(ranks->greatest(static_cast<std::uint64_t>(failed)));
  }
  MPI_Finalize();
  return failed;
}
