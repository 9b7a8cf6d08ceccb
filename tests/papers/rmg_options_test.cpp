// SPDX-License-Identifier: Apache-2.0
#include "papers/rmg/rmg_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

using papers::parse_rmg_options;
using papers::RmgOptions;

TEST(RmgOptions, AreThoseOfTheThesisUnlessChanged) {
  const RmgOptions options = parse_rmg_options({});
  EXPECT_TRUE(options.overlap);
  EXPECT_FALSE(options.move_all);
  EXPECT_FALSE(options.batch_copies);
  EXPECT_FALSE(options.exchange_mirrored);
  EXPECT_EQ(options.fused_percent, 1);
  EXPECT_EQ(options.most_buckets, 128u);
  EXPECT_EQ(options.most_without_overlap, 4u);
}

TEST(RmgOptions, EachCanBeChanged) {
  const RmgOptions options =
      parse_rmg_options({"no-overlap", "move-all", "batch-copies", "exchange-mirrored", "fuse=0.5",
                         "max-brs=7", "min-sco=0"});
  EXPECT_FALSE(options.overlap);
  EXPECT_TRUE(options.move_all);
  EXPECT_TRUE(options.batch_copies);
  EXPECT_TRUE(options.exchange_mirrored);
  EXPECT_EQ(options.fused_percent, 0.5);
  EXPECT_EQ(options.most_buckets, 7u);
  EXPECT_EQ(options.most_without_overlap, 0u);
}

TEST(RmgOptions, Invalid) {
  for (const char* const text : {"", "overlap", "fuse", "fuse=", "fuse=x", "fuse=1%", "fuse=-1",
                                 "fuse=101", "fuse=nan", "max-brs=-1", "max-brs=1.5", "min-sco="}) {
    expect_error(
        [&] {
          static_cast<void>(parse_rmg_options({"move-all", text}));
        },
        ErrorKind::usage, testing::HasSubstr("--rmg: found \"" + std::string(text) + "\""));
  }
}

}  // namespace
}  // namespace sortie::test
