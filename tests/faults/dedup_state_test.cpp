// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "tests/faults/injection.hpp"
#include "tests/support/temporary_folder.hpp"

/// What becomes of the state that `sortie dedup` keeps of a corpus larger than memory.
namespace sortie::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DedupState : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_inject()) GTEST_SKIP() << "LD_PRELOAD has no effect on this build of the program";
    setting_.folder = fs::canonical(folder_.path(".")).string();
    Random random(3);
    std::string letters;
    while (letters.size() < 200'000) letters += static_cast<char>('a' + random.below(26));
    letters_ = folder_.write("letters", letters + letters.substr(50'000));
  }

  [[nodiscard]] InjectedRun run_with_fault(const Injection& injection) const {
    return run_with(injection, setting_,
                    {"dedup", letters_, "--min-length", "40", "--keep", "first", "-o", output_,
                     "--max-memory", "300K", "-t", "1", "-q"});
  }

  TemporaryFolder folder_;
  InjectionSetting setting_;
  std::string letters_;
  std::string output_ = folder_.path("cleaned");
  std::string state_ = output_ + ".dedup-state";
};

TEST_F(DedupState, IsRemovedIfTheCorpusHasChanged) {
  const InjectedRun whole = run_with_fault({});
  ASSERT_EQ(whole.result.exit_code, 0) << whole.result.err;
  EXPECT_FALSE(fs::exists(state_));
  fs::remove(output_);
  // A file that ends too early, late in the job.
  const int reads = whole.calls.at("read");
  const InjectedRun changed = run_with_fault({"read", "nothing", 0, reads * 4 / 5});
  ASSERT_TRUE(changed.injected);
  EXPECT_EQ(changed.result.exit_code, 1);
  EXPECT_THAT(changed.result.err, HasSubstr("as when the file was read before"));
  EXPECT_FALSE(fs::exists(output_));
  EXPECT_FALSE(fs::exists(state_));
}

TEST_F(DedupState, IsUsedAfterAKillAndAfterAFault) {
  const InjectedRun whole = run_with_fault({});
  ASSERT_EQ(whole.result.exit_code, 0) << whole.result.err;
  const std::string cleaned = content_of(output_);
  const int reads = whole.calls.at("read");
  for (const Injection& fault : std::vector<Injection>{{"read", "signal", SIGKILL, reads * 4 / 5},
                                                       {"link", "error", ENOSPC, 3}}) {
    SCOPED_TRACE(describe(fault));
    fs::remove(output_);
    ASSERT_TRUE(run_with_fault(fault).injected);
    EXPECT_FALSE(fs::exists(output_));
    ASSERT_TRUE(fs::exists(state_));
    const InjectedRun resumed = run_with_fault({});
    EXPECT_EQ(resumed.result.exit_code, 0) << resumed.result.err;
    EXPECT_LT(resumed.calls.at("read"), reads);
    EXPECT_EQ(content_of(output_), cleaned);
    EXPECT_FALSE(fs::exists(state_));
  }
}

}  // namespace
}  // namespace sortie::test
