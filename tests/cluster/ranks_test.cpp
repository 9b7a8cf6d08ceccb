// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/fault_hook.hpp"
#include "sortie/cluster.hpp"
#include "sortie/error.hpp"
#include "tests/support/ranks.hpp"

namespace sortie::cluster {
namespace {

using Numbers = std::vector<std::uint64_t>;

template <class T>
std::span<std::byte> bytes_of(std::vector<T>& items) {
  return std::as_writable_bytes(std::span(items));
}

std::uint64_t number(int rank) {
  return static_cast<std::uint64_t>(rank);
}

TEST(Ranks, BroadcastCopiesTheBytesOfTheRoot) {
  test::on_ranks([](Ranks& ranks) {
    ranks.set_message_bytes(7);  // several messages
    for (int root = 0; root < ranks.size(); ++root) {
      Numbers items(5, number(ranks.rank()));
      ranks.broadcast(bytes_of(items), root);
      EXPECT_EQ(items, Numbers(5, number(root)));
    }
    Numbers none;
    ranks.broadcast(bytes_of(none), 0);
    ranks.set_message_bytes(std::uint64_t{1} << 30);
  });
}

TEST(Ranks, GatherGivesTheItemsOfEveryRankByRank) {
  test::on_ranks([](Ranks& ranks) {
    const Numbers all = ranks.gather(10 + number(ranks.rank()));
    ASSERT_EQ(all.size(), number(ranks.size()));
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], 10 + i);
  });
}

TEST(Ranks, ArraysOfDifferentLengthsAreGathered) {
  test::on_ranks([](Ranks& ranks) {
    ranks.set_message_bytes(5);
    // Rank r has r % 3 items r: ranks 0, 3, ... have none.
    const Numbers mine(number(ranks.rank()) % 3, number(ranks.rank()));
    Numbers counts;
    const Numbers all = ranks.gather_arrays(std::span<const std::uint64_t>(mine), &counts);
    Numbers expected;
    for (std::uint64_t rank = 0; rank < number(ranks.size()); ++rank) {
      EXPECT_EQ(counts[rank], rank % 3);
      expected.insert(expected.end(), rank % 3, rank);
    }
    EXPECT_EQ(all, expected);
    ranks.set_message_bytes(std::uint64_t{1} << 30);
  });
}

TEST(Ranks, NumbersAreReducedAndSummedOverTheRanksBefore) {
  test::on_ranks([](Ranks& ranks) {
    const std::uint64_t p = number(ranks.size());
    const std::uint64_t r = number(ranks.rank());
    EXPECT_EQ(ranks.sum(r + 1), p * (p + 1) / 2);
    EXPECT_EQ(ranks.greatest(r), p - 1);
    EXPECT_EQ(ranks.least(r + 4), 4u);
    // Numbers beyond those of 63 bits.
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(ranks.least(r == 0 ? 5 : most - r), 5u);
    EXPECT_EQ(ranks.greatest(r == p - 1 ? most : r), most);
    Numbers before = {1, r};
    ranks.sum_before(before);
    EXPECT_THAT(before, testing::ElementsAre(r, r * (r - 1) / 2));
  });
}

/// Every rank sends to every rank i + j pieces of different lengths, some empty.
TEST(Ranks, ExchangeKeepsTheOrderOfPieces) {
  test::on_ranks([](Ranks& ranks) {
    for (const std::uint64_t message_bytes : {std::uint64_t{3}, std::uint64_t{1} << 30}) {
      ranks.set_message_bytes(message_bytes);
      const auto length = [](int from, int to, int piece) {
        return static_cast<std::size_t>((from * 5 + to * 3 + piece) % 11);
      };
      const auto item = [](int from, int to, int piece) {
        return static_cast<std::uint32_t>(from * 10000 + to * 100 + piece);
      };
      std::vector<std::vector<std::uint32_t>> out;
      std::vector<std::vector<std::uint32_t>> in;
      std::vector<int> peers;
      for (int other = 0; other < ranks.size(); ++other) {
        for (int piece = 0; piece < 3; ++piece) {
          out.emplace_back(length(ranks.rank(), other, piece), item(ranks.rank(), other, piece));
          in.emplace_back(length(other, ranks.rank(), piece), 77777777);
          peers.push_back(other);
        }
      }
      std::vector<SendPiece> sent;
      std::vector<ReceivePiece> received;
      std::uint64_t expected_bytes = 0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        sent.push_back({peers[i], std::as_bytes(std::span(out[i]))});
        received.push_back({peers[i], bytes_of(in[i])});
        if (peers[i] != ranks.rank()) expected_bytes += 4 * out[i].size();
      }
      const std::uint64_t bytes_before = ranks.traffic().exchanged_bytes;
      ranks.exchange(sent, received);
      EXPECT_EQ(ranks.traffic().exchanged_bytes - bytes_before, expected_bytes);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const int piece = static_cast<int>(i % 3);
        EXPECT_EQ(in[i], std::vector<std::uint32_t>(length(peers[i], ranks.rank(), piece),
                                                    item(peers[i], ranks.rank(), piece)));
      }
    }
  });
}

TEST(Ranks, CountsAreExchanged) {
  test::on_ranks([](Ranks& ranks) {
    Numbers to(number(ranks.size()));
    std::iota(to.begin(), to.end(), 100 * number(ranks.rank()));
    const Numbers from = ranks.exchange_counts(to);
    for (std::size_t other = 0; other < from.size(); ++other)
      EXPECT_EQ(from[other], 100 * other + number(ranks.rank()));
  });
}

/// What every rank throws: the kind and the message.
std::string error_of(Ranks& ranks, const std::function<void()>& work) {
  try {
    ranks.together("test", work);
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.kind())) + " " + error.what();
  }
  return "none";
}

TEST(Ranks, AnErrorOfOneRankIsThrownByAll) {
  test::on_ranks([](Ranks& ranks) {
    EXPECT_EQ(error_of(ranks, [] {}), "none");
    EXPECT_FALSE(ranks.has_agreed_error());
    for (int failing = 0; failing < ranks.size(); ++failing) {
      const std::string found = error_of(ranks, [&] {
        if (ranks.rank() >= failing)
          throw Error(ErrorKind::check, "no. " + std::to_string(ranks.rank()));
      });
      const std::string rank = std::to_string(failing);
      EXPECT_EQ(found, std::to_string(static_cast<int>(ErrorKind::check)) + " rank " + rank +
                           ": no. " + rank);
    }
    EXPECT_TRUE(ranks.has_agreed_error());
    EXPECT_THAT(error_of(ranks, [] { throw std::bad_alloc(); }),
                testing::EndsWith(" rank 0: out of memory"));
    EXPECT_THAT(error_of(ranks, [] { throw std::runtime_error("x"); }),
                testing::EndsWith(" rank 0: x"));
  });
}

TEST(Ranks, TheFaultHookIsCalledWithRankAndPhase) {
  set_fault_hook([](int rank, std::string_view phase) {
    if (phase == "test" && rank == 0) throw Error(ErrorKind::input, "injected");
  });
  test::on_ranks([](Ranks& ranks) {
    EXPECT_THAT(error_of(ranks, [] {}), testing::EndsWith(" rank 0: injected"));
    EXPECT_NO_THROW(ranks.together("other", [] {}));
  });
  set_fault_hook({});
}

}  // namespace
}  // namespace sortie::cluster
