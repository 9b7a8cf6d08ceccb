// SPDX-License-Identifier: Apache-2.0

// The sort of host memory by way of the GPUs: within their memory and beyond.

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/cuda/pinned_memory.hpp"
#include "papers/papers.hpp"
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
