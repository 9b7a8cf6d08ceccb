// SPDX-License-Identifier: Apache-2.0

// The sort of host memory by way of the GPUs: within their memory and beyond.

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/cuda/pinned_memory.hpp"
#include "papers/papers.hpp"
#include "papers/rmg/gpu_links.hpp"
#include "papers/rmg/rmg_options.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/run_report.hpp"
#include "sortie/sort.hpp"
#include "tests/multisort/distributions.hpp"
#include "tests/reference/sort.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::test {
namespace {

Context on_cuda(std::uint64_t budget = 0) {
  Context context;
  context.backend = Backend::cuda;
  context.memory_budget = budget;
  return context;
}

template <class Key>
void check(const Context& context, const Distribution& distribution, std::uint64_t n,
           const SortOptions& options) {
  SCOPED_TRACE(distribution.name + ", " + std::string(name(options.algorithm)) + ", " +
               std::to_string(n) + " items");
  const std::vector<Key> drawn = draw_keys<Key>(distribution, n);
  std::vector<std::uint32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0U);
  std::vector<Key> expected = drawn;
  std::vector<std::uint32_t> expected_values = numbers;
  multisort::reference::sort(std::span<Key>(expected), std::span<std::uint32_t>(expected_values),
                             options.order);
  std::vector<Key> keys = drawn;
  std::vector<std::uint32_t> values = numbers;
  sort(context, std::span<Key>(keys), std::span<std::uint32_t>(values), options);
  ASSERT_TRUE(images_of(keys) == images_of(expected)) << "keys of pairs";
  ASSERT_TRUE(values == expected_values) << "values";
  keys = drawn;
  sort(context, std::span<Key>(keys), options);
  ASSERT_TRUE(images_of(keys) == images_of(expected)) << "keys alone";
}

SortOptions options_of(SortAlgorithm algorithm, int devices, Order order = Order::ascending) {
  SortOptions options;
  options.algorithm = algorithm;
  options.devices = devices;
  options.order = order;
  return options;
}

constexpr Distribution uniform{"uniform", Distribution::Kind::uniform};

TEST(DeviceHostSort, PageableMemory) {
  for (const SortAlgorithm algorithm :
       {SortAlgorithm::automatic, SortAlgorithm::radix, papers::rmg}) {
    for (const std::uint64_t n : {0, 1, 1'000, 3'000'001}) {
      check<std::uint32_t>(on_cuda(), uniform, n, options_of(algorithm, 3));
      check<double>(on_cuda(), uniform, n, options_of(algorithm, 2, Order::descending));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(DeviceHostSort, PageLockedMemoryIsCopiedBesideTheWork) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    const auto drawn = draw_keys<std::int64_t>(distribution, 400'001);
    PinnedBuffer<std::int64_t> keys(drawn.size());
    PinnedBuffer<std::uint32_t> values(drawn.size());
    for (const SortAlgorithm algorithm : {SortAlgorithm::radix, papers::rmg}) {
      for (const int devices : {1, 3}) {
        std::copy(drawn.begin(), drawn.end(), keys.data());
        std::iota(values.data(), values.data() + values.size(), 0U);
        auto expected = drawn;
        std::vector<std::uint32_t> expected_values(drawn.size());
        std::iota(expected_values.begin(), expected_values.end(), 0U);
        multisort::reference::sort(std::span<std::int64_t>(expected),
                                   std::span<std::uint32_t>(expected_values), Order::ascending);
        sort(on_cuda(), keys.span(), values.span(), options_of(algorithm, devices));
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), keys.data()));
        ASSERT_TRUE(std::equal(expected_values.begin(), expected_values.end(), values.data()));
      }
    }
  }
}

TEST(DeviceHostSort, MirroredKeysChangeTheirPlacesOnTheWayOut) {
  constexpr std::uint64_t n = 8'000'003;  // more buckets than MIN_SCO
  PinnedBuffer<std::uint32_t> keys(n);
  for (const int devices : {1, 2, 3, 4}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      const bool ascending = order == Order::ascending;
      for (std::uint64_t i = 0; i < n; ++i)
        keys.data()[i] = static_cast<std::uint32_t>(500 * (ascending ? n - 1 - i : i));
      sort(on_cuda(), keys.span(), options_of(papers::rmg, devices, order));
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t rank = ascending ? i : n - 1 - i;
        ASSERT_EQ(keys.data()[i], static_cast<std::uint32_t>(500 * rank)) << devices << ", " << i;
      }
    }
  }
}

// Few buckets, which are split: their parts are merged by the host.
TEST(DeviceHostSort, TheHostRepairsSplitBuckets) {
  const Distribution few{"entropy 10", Distribution::Kind::entropy, 10};
  for (const std::uint64_t n : {0, 1'000, 50'001}) {
    for (const Distribution& distribution :
         {few, Distribution{"zipf 2", Distribution::Kind::zipf, 2}}) {
      for (const int devices : {1, 3}) {
        check<std::uint32_t>(on_cuda(), distribution, n, options_of(papers::rmg_repair, devices));
        check<double>(on_cuda(), distribution, n,
                      options_of(papers::rmg_repair, devices, Order::descending));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// One sort, for compute-sanitizer: under it the test above takes long.
TEST(DeviceHostSort, ReportsTheRepairOfSplitBuckets) {
  const Distribution few{"entropy 10", Distribution::Kind::entropy, 10};
  RunReport report;
  Context context = on_cuda();
  context.report = &report;
  check<std::uint32_t>(context, few, 50'001, options_of(papers::rmg_repair, 1));
  EXPECT_TRUE(std::any_of(report.phases().begin(), report.phases().end(),
                          [](const RunReport::Phase& phase) { return phase.name == "repair"; }));
}

// Each part of RMG sort that a benchmark can change, on keys that it changes the sort of. A test for
// each part, so that compute-sanitizer can have them one by one.
class ChangedPartsOfRmgSort : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  void SetUp() override { papers::set_rmg_options(papers::parse_rmg_options(GetParam())); }
  void TearDown() override { papers::set_rmg_options({}); }
};

TEST_P(ChangedPartsOfRmgSort, SortAsTheReference) {
  const Distribution few{"entropy 10", Distribution::Kind::entropy, 10};
  const Distribution reverse{"reverse", Distribution::Kind::reverse};
  for (const Distribution& distribution : {uniform, few, reverse}) {
    check<std::uint32_t>(on_cuda(), distribution, 20'001, options_of(papers::rmg, 3));
    if (HasFatalFailure()) return;
  }
}

// One small sort of pairs and of keys, for racecheck.
TEST_P(ChangedPartsOfRmgSort, OneSort) {
  check<std::uint32_t>(on_cuda(), uniform, 5'001, options_of(papers::rmg, 2));
}

using Parts = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(All, ChangedPartsOfRmgSort,
                         testing::Values(Parts{"no-overlap"}, Parts{"fuse=0", "max-brs=100000"},
                                         Parts{"fuse=5"}, Parts{"max-brs=1"}, Parts{"min-sco=0"},
                                         Parts{"move-all"}, Parts{"batch-copies"},
                                         Parts{"exchange-mirrored"}),
                         [](const auto& info) {
                           std::string name = info.param.front();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == '-' || c == '='; }, '_');
                           return name;
                         });

// On the links of this machine, whatever they are.
TEST(DeviceHostSort, GpusAreChosenByTheirLinks) {
  const papers::GpuLinks links = papers::links_of_gpus();
  const int gpus = static_cast<int>(links.peer_rank.size());
  ASSERT_EQ(links.host_link.size(), links.peer_rank.size());
  ASSERT_EQ(links.numa_node.size(), links.peer_rank.size());
  for (int first = 0; first < gpus; ++first) {
    for (int count = 1; count <= gpus; ++count) {
      const std::vector<int> set = papers::choose_gpus(links, first, count);
      EXPECT_EQ(set.size(), static_cast<std::size_t>(count));
      EXPECT_THAT(set, testing::Contains(first));
      EXPECT_TRUE(std::adjacent_find(set.begin(), set.end(), std::greater_equal<int>{}) ==
                  set.end());
    }
    EXPECT_EQ(papers::best_linked({first}), std::vector<int>{first});
    EXPECT_EQ(papers::best_linked({first, first}), (std::vector<int>{first, first}));
  }
}

TEST(DeviceHostSort, BeyondTheMemoryOfTheGpus) {
  RunReport report;
  Context context = on_cuda(std::uint64_t{24} << 20);
  context.report = &report;
  for (const SortAlgorithm algorithm :
       {papers::het, SortAlgorithm::radix, SortAlgorithm::automatic}) {
    check<std::uint32_t>(context, uniform, 2'000'003, options_of(algorithm, 1));
    check<float>(context, uniform, 1'500'000, options_of(algorithm, 2, Order::descending));
    check<std::int16_t>(context, uniform, 1'500'000, options_of(algorithm, 1));
    check<std::uint64_t>(context, {"zipf 1", Distribution::Kind::zipf, 1}, 1'000'000,
                         options_of(algorithm, 2));
    if (HasFatalFailure()) return;
  }
  bool found = false;
  for (const auto& [name, value] : report.figures())
    if (name == "sorted_chunks") found = std::get<std::uint64_t>(value) > 1;
  EXPECT_TRUE(found);
}

TEST(DeviceHostSort, SmallOnesByHet) {
  for (const std::uint64_t n : {0, 1, 2, 100})
    check<std::uint16_t>(on_cuda(), uniform, n, options_of(papers::het, 2));
}

TEST(DeviceHostSort, ABudgetThatHoldsNothing) {
  std::vector<std::uint32_t> keys(100'000);
  std::iota(keys.rbegin(), keys.rend(), 0U);
  const std::vector<std::uint32_t> before = keys;
  for (const SortAlgorithm algorithm : {papers::het, SortAlgorithm::radix, papers::rmg}) {
    expect_error(
        [&] { sort(on_cuda(1'000), std::span<std::uint32_t>(keys), options_of(algorithm, 1)); },
        ErrorKind::out_of_memory, testing::HasSubstr("out of memory"));
    EXPECT_EQ(keys, before);
  }
}

}  // namespace
}  // namespace sortie::test
