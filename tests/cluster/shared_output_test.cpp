// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "cluster/shared_output.hpp"
#include "sortie/error.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/shared_folder.hpp"

namespace sortie::cluster {
namespace {

std::string text_of(int rank) {
  return std::string(static_cast<std::size_t>(rank % 3), static_cast<char>('a' + rank));
}

/// Each rank writes its text behind that of the ranks before.
std::string write_texts(Ranks& ranks, const std::string& path) {
  std::string expected;
  std::uint64_t offset = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) offset = expected.size();
    expected += text_of(rank);
  }
  SharedOutput output(ranks, path);
  ranks.together("write", [&] { output.write_at(offset, text_of(ranks.rank())); });
  output.prepare(expected.size());
  output.commit();
  return expected;
}

TEST(SharedOutput, HoldsWhatEveryRankWrites) {
  test::on_ranks([](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    const std::string path = folder.path("out");
    for (int round = 0; round < 2; ++round) {  // the second one replaces the file
      const std::string expected = write_texts(ranks, path);
      EXPECT_EQ(test::content_of(path), expected);
      EXPECT_EQ(folder.entries(), 1u);
    }
  });
}

TEST(SharedOutput, AFaultOnAnyRankLeavesNothing) {
  test::on_few_ranks([](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    for (const char* phase :
         {"create output", "open output", "write", "close output", "rename output"}) {
      const bool is_of_one_rank = std::string_view(phase).starts_with("create") ||
                                  std::string_view(phase).starts_with("rename");
      for (const int failing : {0, ranks.size() / 2, ranks.size() - 1}) {
        if (failing > 0 && is_of_one_rank) continue;
        const test::Fault fault(ranks, failing, phase);
        std::string message;
        try {
          write_texts(ranks, folder.path("out"));
        } catch (const Error& error) {
          message = error.what();
        }
        EXPECT_EQ(message, "rank " + std::to_string(failing) + ": injected") << phase;
        EXPECT_EQ(folder.entries(), 0u) << phase;
      }
    }
  });
}

TEST(SharedOutput, APreparedFileHasNoNameYet) {
  test::on_few_ranks([](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    const std::string path = folder.path("out");
    for (const bool commits : {false, true}) {
      {
        SharedOutput output(ranks, path);
        ranks.together("write", [&] {
          if (ranks.rank() == 0) output.write_at(0, std::string_view("abc"));
        });
        output.prepare(3);
        EXPECT_FALSE(std::filesystem::exists(path));
        static_cast<void>(ranks.sum(0));  // all have looked
        if (commits) output.commit();
      }
      EXPECT_EQ(folder.entries(), commits ? 1u : 0u);
    }
    EXPECT_EQ(test::content_of(path), "abc");
  });
}

TEST(SharedOutput, StreamsAreRefused) {
  test::on_few_ranks([](Ranks& ranks) {
    for (const char* path : {"-", "/dev/null"}) {
      try {
        const SharedOutput output(ranks, path);
        ADD_FAILURE() << "expected an error";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("found a stream, expected a file"));
      }
    }
  });
}

TEST(SharedOutput, AFolderThatIsNotThereIsNamed) {
  test::on_few_ranks([](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    try {
      const SharedOutput output(ranks, folder.path("no/out"));
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::StartsWith("rank 0: "),
                                               testing::HasSubstr("cannot be written")));
    }
  });
}

}  // namespace
}  // namespace sortie::cluster
