// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "apps/bench/segsort/segment_cases.hpp"
#include "apps/bench/sort/host_sort_bench.hpp"
#include "apps/bench/sort/host_sort_data.hpp"
#include "baselines/sort/sort_peer.hpp"
#include "core/files/checksum.hpp"
#include "papers/papers.hpp"
#include "sortie/error.hpp"

namespace sortie::test {
namespace {

using baselines::PeerItems;
using baselines::SortPeer;
using bench::ArrayView;
using bench::Row;
using bench::SortBenchOptions;
using testing::HasSubstr;

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t seed = 7;

Bytes keys_of(const std::string& case_name, KeyType key, std::uint64_t items) {
  return bench::host_sort_keys(bench::parse_sort_case(case_name), key, items, seed);
}

template <class Key>
std::vector<Key> as_keys(const Bytes& bytes) {
  std::vector<Key> keys(bytes.size() / sizeof(Key));
  std::memcpy(keys.data(), bytes.data(), bytes.size());
  return keys;
}

template <class Key>
Bytes as_bytes(const std::vector<Key>& keys) {
  Bytes bytes(keys.size() * sizeof(Key));
  std::memcpy(bytes.data(), keys.data(), bytes.size());
  return bytes;
}

/// Of every peer of this build: key type, bytes of a value.
class SortPeers : public testing::TestWithParam<std::tuple<KeyType, int>> {
 protected:
  [[nodiscard]] static KeyType key() { return std::get<0>(GetParam()); }
  [[nodiscard]] static int value_bytes() { return std::get<1>(GetParam()); }

  /// What is wrong with what the peer makes of the case.
  static std::string sort(const SortPeer& peer, const std::string& case_name, std::uint64_t items,
                          int threads) {
    Bytes keys = keys_of(case_name, key(), items);
    Bytes values = value_bytes() == 0 ? Bytes() : bench::index_values(value_bytes(), items);
    const std::uint64_t sum = bench::checksum({keys, values, key(), value_bytes()});
    Bytes item_bytes(items * baselines::peer_item_bytes(key(), value_bytes()));
    const PeerItems array{item_bytes.data(), items, key(), value_bytes()};
    baselines::gather(keys, values, array);
    peer.sort(array, threads);
    baselines::scatter(array, keys, values);
    return bench::fault_of({keys, values, key(), value_bytes()}, sum, peer.stable);
  }
};

TEST_P(SortPeers, SortEveryCase) {
  for (const SortPeer& peer : baselines::sort_peers(value_bytes())) {
    for (const std::string& case_name : bench::usual_sort_cases())
      EXPECT_EQ(sort(peer, case_name, 20000, 2), "") << peer.name << ", " << case_name;
  }
}

TEST_P(SortPeers, SortNothingAndLittleByAnyNumberOfThreads) {
  for (const SortPeer& peer : baselines::sort_peers(value_bytes())) {
    for (const std::uint64_t items : {0, 1, 2, 1000, 3001}) {
      for (const int threads : {1, 3})
        EXPECT_EQ(sort(peer, "uniform", items, threads), "") << peer.name << ", " << items;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SortPeers,
                         testing::Combine(testing::Values(KeyType::u32, KeyType::i32, KeyType::f32,
                                                          KeyType::u64, KeyType::i64, KeyType::f64),
                                          testing::Values(0, 4, 8)));

TEST(SortPeerList, NamesEachOnceAndTheStandardLibrarysFirst) {
  const auto peers = baselines::sort_peers(0);
  ASSERT_GE(peers.size(), 2u);
  EXPECT_EQ(peers[0].name, "std::sort");
  EXPECT_EQ(peers[1].name, "std::stable_sort");
  EXPECT_TRUE(peers[1].stable);
  for (const SortPeer& peer : peers) {
    EXPECT_EQ(std::count_if(peers.begin(), peers.end(),
                            [&](const SortPeer& other) { return other.name == peer.name; }),
              1);
  }
}

TEST(HostSortData, HasTheOrderThatItsCaseSays) {
  const auto sorted = as_keys<std::int32_t>(keys_of("sorted", KeyType::i32, 5000));
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_LT(sorted.front(), 0);
  EXPECT_GT(sorted.back(), 0);
  const auto reverse = as_keys<double>(keys_of("reverse", KeyType::f64, 5000));
  EXPECT_TRUE(std::is_sorted(reverse.rbegin(), reverse.rend()));
  const auto equal = as_keys<std::uint32_t>(keys_of("equal", KeyType::u32, 100));
  EXPECT_THAT(equal, testing::Each(0x12345678u));
  const auto digits = as_keys<std::uint64_t>(keys_of("shared-digit", KeyType::u64, 100));
  for (const std::uint64_t digit : digits) EXPECT_TRUE(digit >> 48 == 0xaa || digit >> 48 == 0x1aa);
  const auto fractions = as_keys<float>(keys_of("uniform", KeyType::f32, 5000));
  for (const float fraction : fractions) EXPECT_TRUE(fraction >= 0 && fraction <= 1);
}

TEST(HostSortData, TellsWhatIsWrong) {
  const std::vector<std::uint32_t> values = {2, 0, 1};
  const Bytes value_bytes = as_bytes(values);
  const auto fault = [&](const std::vector<std::uint32_t>& keys, std::uint64_t sum, bool stable) {
    const Bytes bytes = as_bytes(keys);
    return bench::fault_of({bytes, value_bytes, KeyType::u32, 4}, sum, stable);
  };
  const Bytes right = as_bytes(std::vector<std::uint32_t>{1, 1, 5});
  const std::uint64_t sum = bench::checksum({right, value_bytes, KeyType::u32, 4});
  EXPECT_EQ(fault({1, 1, 5}, sum, false), "");
  EXPECT_EQ(fault({1, 1, 5}, sum, true), "1 equal keys out of order");
  EXPECT_EQ(fault({1, 5, 1}, sum, false), "1 keys out of order");
  EXPECT_EQ(fault({1, 5, 5}, sum, false), "items were lost or changed");
}

std::vector<std::string> methods_of(const std::vector<Row>& rows) {
  std::vector<std::string> methods;
  for (const Row& row : rows) methods.push_back(row.method);
  return methods;
}

TEST(HostSortBench, PutsEveryMethodBesideEveryOther) {
  SortBenchOptions options;
  options.items = 30000;
  options.value_bytes = 4;
  options.repetitions = 2;
  options.cases = {"uniform", "equal"};
  std::size_t shown = 0;
  const auto rows = bench::sort_on_host(Context(), options,
                                        [&](std::span<const Row> some) { shown += some.size(); });
  EXPECT_EQ(shown, rows.size());
  const auto methods = methods_of(rows);
  EXPECT_EQ(rows.size(), 2 * (3 + baselines::sort_peers(options.value_bytes).size()));
  EXPECT_EQ(methods[0], "memcpy");
  EXPECT_EQ(methods[1], "sortie radix");
  EXPECT_EQ(methods[2], "sortie merge");
  EXPECT_EQ(methods[3], "std::sort");
  for (const Row& row : rows) {
    EXPECT_TRUE(row.agrees) << row.method << ": " << row.fault << row.failure;
    EXPECT_EQ(row.seconds.size(), 2u);
    EXPECT_EQ(row.backend, "host");
    EXPECT_EQ(row.unit, "Gpairs/s");
    EXPECT_EQ(row.limit, row.method == "memcpy");
    EXPECT_EQ(row.baseline, !row.limit && row.method.rfind("sortie", 0) != 0);
    EXPECT_EQ(row.phases.empty(), row.method.rfind("sortie", 0) != 0);
  }
}

// So many pairs are sorted in place, which leaves the order of equal keys open.
TEST(HostSortBench, AcceptsEqualKeysInAnyOrder) {
  SortBenchOptions options;
  options.items = 500'000;
  options.value_bytes = 8;
  options.repetitions = 1;
  options.cases = {"zipf:2"};
  options.algorithms = {SortAlgorithm::radix};
  for (const Row& row : bench::sort_on_host(Context(), options, {}))
    EXPECT_TRUE(row.agrees) << row.method << ": " << row.fault << row.failure;
}

TEST(HostSortBench, TakesTheAlgorithmsAskedFor) {
  SortBenchOptions options;
  options.items = 1000;
  options.repetitions = 1;
  options.cases = {"nearly:4"};
  options.algorithms = {SortAlgorithm::merge};
  const auto methods = methods_of(bench::sort_on_host(Context(), options, {}));
  EXPECT_THAT(methods, testing::Contains("sortie merge"));
  EXPECT_THAT(methods, testing::Not(testing::Contains("sortie radix")));
}

/// What is asked for, and a part of the refusal.
struct Refusal {
  std::string name;
  SortBenchOptions options;
  ErrorKind kind;
  std::string message;
};

template <class Change>
Refusal refusal(const std::string& name, ErrorKind kind, const std::string& message,
                Change change) {
  SortBenchOptions options;
  options.items = 100;
  options.cases = {"uniform"};
  change(options);
  return {name, options, kind, message};
}

class HostSortRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(HostSortRefusals, ComeBeforeAnyWork) {
  try {
    static_cast<void>(bench::sort_on_host(Context(), GetParam().options, [](auto) {
      ADD_FAILURE() << "rows of a run that had to be refused";
    }));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), GetParam().kind);
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, HostSortRefusals,
    testing::Values(refusal("narrow_keys", ErrorKind::usage, "found keys of 16 bits",
                            [](auto& o) { o.key = KeyType::u16; }),
                    refusal("case", ErrorKind::usage, "case: found",
                            [](auto& o) { o.cases.push_back("nosuch"); }),
                    refusal("parameter", ErrorKind::usage, "found parameter 5",
                            [](auto& o) { o.cases.push_back("normal:5"); }),
                    refusal("values", ErrorKind::usage, "found 2 bytes",
                            [](auto& o) { o.value_bytes = 2; }),
                    refusal("algorithm", ErrorKind::unavailable, "bitonic",
                            [](auto& o) { o.algorithms = {papers::bitonic}; }),
                    refusal("gpus", ErrorKind::usage, "found a number of GPUs",
                            [](auto& o) { o.devices = {2}; }),
                    refusal("transport", ErrorKind::usage, "found a transport",
                            [](auto& o) { o.transport = Transport::staged; }),
                    refusal("host_to_host", ErrorKind::usage, "found host to host",
                            [](auto& o) { o.host_to_host = true; }),
                    refusal("without_cub", ErrorKind::usage, "found without CUB",
                            [](auto& o) { o.with_cub = false; })),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sortie::test
