// SPDX-License-Identifier: Apache-2.0

// Kernels of the sort of one array on the host: digits, buckets, ranks of few keys, one tile.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "segsort/cuda/array_tile.cuh"
#include "segsort/cuda/block_sort.cuh"
#include "segsort/cuda/bucket_runs.cuh"
#include "segsort/cuda/few_keys.cuh"
#include "segsort/cuda/narrow_array.cuh"
#include "segsort/cuda/radix_passes.cuh"
#include "segsort/cuda/short_digits.cuh"
#include "tests/kernels/segsort_problem.hpp"

namespace sortie::segsort {
namespace {

/// Sorts an array by its digits, in two portions. Of narrow keys, it is a segment with others
/// beside it, and the kernels are told the number of all items.
template <class Word, int ValueBytes>
void sort_by_digits(Keys kind, Order order, bool alternates = false) {
  constexpr int end_bit = 8 * sizeof(Word);
  using Shared = radix::PassShared<Word, ValueBytes>;
  constexpr std::uint32_t own_length = 3 * Shared::tile + 1234;
  constexpr bool is_narrow = sizeof(Word) < 4;
  Problem<Word, ValueBytes> problem(
      is_narrow ? Lengths{1001, own_length, 500} : Lengths{own_length}, kind, order);
  const auto length = static_cast<std::uint32_t>(problem.items());
  if (is_narrow) {
    for (DeviceOffsets* offsets :
         {&problem.arguments.begin_offsets, &problem.arguments.end_offsets})
      offsets->data = static_cast<const std::uint32_t*>(offsets->data) + 1;
    problem.arguments.num_segments = 1;
  }
  problem.arguments.codec = BitRangeCodec<Word>::make(KeyKind::unsigned_integer, order, 0, end_bit);
  if (alternates) problem.let_alternate(end_bit);
  const ArrayDecision decision{InputKind::other, ArrayMethod::digits, 0};
  radix::Passes passes{};
  std::vector<radix::Status> statuses(4 * radix::digits, 0xdeadbeef);
  cuda_on_host::run_block(radix::count_threads, [&] {
    radix::count_digits_kernel(problem.arguments, &decision, ArrayMethod::digits, &passes,
                               statuses.data(), statuses.size(), nullptr, 0, length);
  });
  std::uint32_t number = 0;
  for (std::uint32_t pass = 0; pass < sizeof(Word); ++pass) {
    for (const std::uint32_t begin : {0, 2 * Shared::tile}) {
      const radix::Portion portion{pass, number++, begin,
                                   begin == 0 ? 2 * Shared::tile : length - begin};
      cuda_on_host::run_block(Shared::threads, [&] {
        const auto run = [&]<bool IsPlain>() {
          radix::pass_kernel<Word, ValueBytes, IsPlain>(problem.arguments, &decision, &passes,
                                                        statuses.data(), portion);
        };
        problem.arguments.codec.plain ? run.template operator()<true>()
                                      : run.template operator()<false>();
      });
    }
  }
  if (alternates) problem.end_alternation();
  problem.expect_sorted([](std::uint32_t items) { return items == own_length; });
}

/// Sorts an array by its digits in one kernel.
template <class Word, int ValueBytes>
void sort_by_short_digits(Keys kind, Order order = Order::ascending, bool alternates = false) {
  constexpr int end_bit = 8 * sizeof(Word);
  using Shared = radix::PassShared<Word, ValueBytes, radix::short_shape<Word, ValueBytes>>;
  constexpr std::uint32_t length = 2 * Shared::tile + 1234;
  Problem<Word, ValueBytes> problem({length}, kind, order);
  problem.arguments.codec = BitRangeCodec<Word>::make(KeyKind::unsigned_integer, order, 0, end_bit);
  if (alternates) problem.let_alternate(end_bit);
  radix::ShortPasses<Word> passes;
  std::vector<radix::Status> statuses(radix::short_status_words<Word, ValueBytes>(length));
  std::memset(&passes, 0xab, sizeof(passes));
  std::fill(statuses.begin(), statuses.end(), 0xdeadbeef);
  cuda_on_host::run_block(Shared::threads, [&] {
    const auto run = [&]<bool IsPlain>() {
      radix::short_digits_kernel<Word, ValueBytes, IsPlain>(
          problem.arguments, nullptr, &passes, statuses.data(),
          static_cast<std::uint32_t>(statuses.size()), length);
    };
    problem.arguments.codec.plain ? run.template operator()<true>()
                                  : run.template operator()<false>();
  });
  if (alternates) problem.end_alternation();
  problem.expect_sorted(any_length);
}

TEST(Kernels, ShortDigits) {
  sort_by_short_digits<std::uint32_t, 0>(Keys::random);
  sort_by_short_digits<std::uint32_t, 4>(Keys::few_random);
  sort_by_short_digits<std::uint64_t, 0>(Keys::steep);
  sort_by_short_digits<std::uint64_t, 4>(Keys::half_greatest, Order::descending);
  sort_by_short_digits<std::uint32_t, 4>(Keys::ascending);
  sort_by_short_digits<std::uint64_t, 8>(Keys::ascending, Order::descending);
  sort_by_short_digits<std::uint32_t, 0>(Keys::ascending, Order::descending);
  sort_by_short_digits<std::uint32_t, 4>(Keys::few, Order::descending);
  sort_by_short_digits<std::uint32_t, 2>(Keys::random);
  sort_by_short_digits<std::uint64_t, 1>(Keys::half_greatest);
}

// Few digits that differ, so that a pass is added.
TEST(Kernels, ShortDigitsOfDoubleBuffers) {
  sort_by_short_digits<std::uint32_t, 4>(Keys::few, Order::ascending, true);
  sort_by_short_digits<std::uint64_t, 0>(Keys::two_fields, Order::descending, true);
  sort_by_short_digits<std::uint32_t, 0>(Keys::ascending, Order::ascending, true);
  sort_by_short_digits<std::uint32_t, 4>(Keys::ascending, Order::descending, true);
  sort_by_short_digits<std::uint8_t, 4>(Keys::random, Order::ascending, true);
  sort_by_short_digits<std::uint16_t, 8>(Keys::high_bits, Order::descending, true);
  sort_by_short_digits<std::uint8_t, 2>(Keys::random, Order::descending, true);
}

/// Sorts an array by buckets, with the cuts `stride` items apart.
/// \return whether all runs fit a tile
template <class Word, int ValueBytes>
bool sort_by_buckets(Keys kind, std::uint64_t stride, Order order = Order::ascending,
                     ArrayMethod method = ArrayMethod::buckets) {
  using Shared = radix::PassShared<Word, ValueBytes>;
  constexpr std::uint32_t length = 2 * Shared::tile + 4321;
  Problem<Word, ValueBytes> problem({length}, kind, order);
  std::vector<Group> groups(length / stride + 1);
  WorkLists lists = problem.lists;
  lists.groups = groups.data();
  lists.group_capacity = groups.size();
  ArrayDecision decision{InputKind::other, method, 0};
  radix::Passes passes{};
  std::vector<radix::Status> statuses(3 * radix::digits);
  cuda_on_host::run_block(radix::count_threads, [&] {
    radix::count_digits_kernel(problem.arguments, &decision, ArrayMethod::buckets, &passes,
                               statuses.data(), statuses.size(), nullptr, 0, length);
  });
  for (std::uint32_t pass = 0; pass < radix::bucket_passes; ++pass) {
    cuda_on_host::run_block(Shared::threads, [&] {
      const radix::Portion portion{pass, pass, 0, length};
      if constexpr (!radix::shares_bucket_passes<Word>)
        radix::magnitude_pass_kernel<Word, ValueBytes>(problem.arguments, &decision, &passes,
                                                       statuses.data(), portion);
      radix::bucket_pass_kernel<Word, ValueBytes, false>(problem.arguments, &decision, &passes,
                                                         statuses.data(), portion);
    });
  }
  cuda_on_host::run_block(32 * buckets::run_warps, [&] {
    buckets::list_runs_kernel(problem.arguments, lists, &decision, length, stride,
                              stride <= longest_of_group_class(0) / 2);
  });
  if (decision.method != method) return false;
  const auto sort_groups = [&]<int Class>() {
    constexpr int warps = warps_of_block<Word>(block_class_of_groups(Class));
    cuda_on_host::run_block(32 * warps, [&] {
      block_sort_kernel<Word, ValueBytes, warps>(problem.arguments, lists, 227 * 1024);
    });
  };
  sort_groups.template operator()<0>();  // and runs
  sort_groups.template operator()<1>();
  problem.expect_sorted(any_length);
  return true;
}

TEST(Kernels, Buckets) {
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 4>(Keys::random, 8000)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 0>(Keys::random, 511)));
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 0>(Keys::few_random, 3000)));
  EXPECT_FALSE((sort_by_buckets<std::uint32_t, 0>(Keys::half_greatest, 3000)));
  EXPECT_FALSE((sort_by_buckets<std::uint32_t, 4>(Keys::steep, 8000)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 0>(Keys::random, 500, Order::descending)));
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 1>(Keys::random, 8000)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 2>(Keys::few_random, 3000)));
}

TEST(Kernels, Magnitudes) {
  constexpr ArrayMethod method = ArrayMethod::magnitudes;
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 4>(Keys::steep, 4000, Order::ascending, method)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 0>(Keys::steep, 5000, Order::ascending, method)));
  // Most keys are one.
  EXPECT_TRUE((sort_by_buckets<std::uint32_t, 0>(Keys::tiny, 5000, Order::ascending, method)));
  EXPECT_TRUE((sort_by_buckets<std::uint64_t, 4>(Keys::tiny, 511, Order::ascending, method)));
  EXPECT_FALSE(
      (sort_by_buckets<std::uint32_t, 4>(Keys::half_greatest, 4000, Order::ascending, method)));
}

/// Sorts an array of few distinct keys by their ranks, in two portions.
/// \return whether there were few enough
/// \param alternates  the values are moved to the scratch buffer, and the keys counted only
template <class Word, int ValueBytes>
bool sort_by_ranks(Keys kind, Order order = Order::ascending, bool alternates = false) {
  using Shared = radix::PassShared<Word, ValueBytes>;
  constexpr std::uint32_t length = 2 * Shared::tile + 1234;
  Problem<Word, ValueBytes> problem({length}, kind, order);
  few::FewKeys table;
  few::Shared<Word> shared;
  std::uint32_t failed = 0;
  cuda_on_host::run_block(few::threads, [&] { few::clear(table); });
  cuda_on_host::run_block(few::threads, [&] {
    few::count(shared, problem.arguments.keys_in, length, few::most_keys_with_values - 1, table,
               failed);
  });
  if (failed != 0) return false;
  cuda_on_host::run_block(few::threads,
                          [&] { few::order(shared, table, problem.arguments.codec); });
  radix::Passes passes{};
  passes.count = 1;
  for (unsigned int d = 0; d < radix::digits; ++d)
    passes.starts[d] = d < table.used ? static_cast<std::uint32_t>(table.positions[d]) : length;
  std::vector<radix::Status> statuses(2 * radix::digits);
  const ArrayDecision decision{InputKind::few_keys, ArrayMethod::ranges, 0};
  for (const std::uint32_t begin : {0, 2 * Shared::tile}) {
    const radix::Portion portion{0, begin == 0 ? 0u : 1u, begin,
                                 begin == 0 ? 2 * Shared::tile : length - begin};
    cuda_on_host::run_block(Shared::threads, [&] {
      const auto run = [&]<bool WritesKeys>() {
        radix::rank_pass_kernel<Word, ValueBytes, WritesKeys>(problem.arguments, &decision, &table,
                                                              &passes, statuses.data(), portion);
      };
      alternates ? run.template operator()<false>() : run.template operator()<true>();
    });
  }
  if (alternates) {
    EXPECT_TRUE(std::all_of(problem.keys_out.begin(), problem.keys_out.end(),
                            [](Word key) { return key == 77; }));
    for (unsigned int rank = 0; rank < table.used; ++rank)
      std::fill(problem.keys_out.begin() + static_cast<std::ptrdiff_t>(table.positions[rank]),
                problem.keys_out.end(),
                problem.arguments.codec.decode(static_cast<Word>(table.sorted[rank])));
    std::memcpy(problem.values_out.data(), problem.arguments.values_scratch,
                length * sizeof(typename decltype(problem)::Value));
  }
  problem.expect_sorted(any_length);
  return true;
}

TEST(Kernels, RanksOfFewKeys) {
  EXPECT_TRUE((sort_by_ranks<std::uint32_t, 4>(Keys::few)));
  EXPECT_TRUE((sort_by_ranks<std::uint32_t, 8>(Keys::few_and_greatest, Order::descending)));
  EXPECT_TRUE((sort_by_ranks<std::uint64_t, 4>(Keys::few_and_greatest)));
  EXPECT_TRUE((sort_by_ranks<std::uint64_t, 8>(Keys::few_random, Order::descending)));
  EXPECT_FALSE((sort_by_ranks<std::uint64_t, 4>(Keys::two_fields)));
  EXPECT_TRUE((sort_by_ranks<std::uint32_t, 1>(Keys::few_random)));
}

TEST(Kernels, RanksOfFewKeysInDoubleBuffers) {
  EXPECT_TRUE((sort_by_ranks<std::uint32_t, 4>(Keys::few, Order::descending, true)));
  EXPECT_TRUE((sort_by_ranks<std::uint64_t, 8>(Keys::few_and_greatest, Order::ascending, true)));
}

/// Sorts an array in one block, and gathers values of `Units` units.
/// \param sort  called with the arguments of the kernel
template <class Word, class Unit, unsigned int Units, class Sort>
void sort_in_block(std::uint32_t length, Keys kind, Order order, int threads, const Sort& sort) {
  Problem<Word, 4> problem({length}, kind, order);
  std::vector<Unit> values(length * Units);
  std::vector<Unit> moved(length * Units);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Unit>(i * 7);
  cuda_on_host::run_block(threads, [&] {
    sort(problem.arguments, PackedField{values.data(), moved.data(), sizeof(Unit), Units}, length);
  });
  // Positions are the values that the problem expects.
  Arguments<Word> positions = problem.arguments;
  positions.keys_out = nullptr;
  cuda_on_host::run_block(threads, [&] {
    sort(positions, PackedField{nullptr, problem.values_out.data(), 4, 1}, length);
  });
  problem.expect_sorted(any_length);
  for (std::uint32_t i = 0; i < length * Units; ++i)
    ASSERT_EQ(moved[i], values[problem.values_out[i / Units] * Units + i % Units]);
}
template <class Word, int Warps, int Items, class Unit, unsigned int Units>
void sort_in_array_tile(std::uint32_t length, Keys kind, Order order = Order::ascending) {
  sort_in_block<Word, Unit, Units>(length, kind, order, 32 * Warps,
                                   array_tile_kernel<Word, Warps, Items>);
}
template <class Narrow, int Rows, class Unit, unsigned int Units>
void sort_narrow_array(std::uint32_t length, Keys kind, Order order = Order::ascending) {
  sort_in_block<Narrow, Unit, Units>(length, kind, order, NarrowArrayShared<Rows>::threads,
                                     narrow_array_kernel<Narrow, Rows>);
}

TEST(Kernels, ArrayTile) {
  sort_in_array_tile<std::uint32_t, 8, 8, std::uint8_t, 1>(1, Keys::random);
  sort_in_array_tile<std::uint32_t, 8, 8, std::uint16_t, 3>(2047, Keys::few);
  sort_in_array_tile<std::uint64_t, 8, 8, std::uint64_t, 2>(2048, Keys::steep, Order::descending);
  sort_in_array_tile<std::uint32_t, 16, 8, std::uint32_t, 1>(4001, Keys::two_fields);
  sort_in_array_tile<std::uint64_t, 16, 8, std::uint8_t, 5>(3000, Keys::half_greatest);
  sort_in_array_tile<std::uint32_t, 16, 16, std::uint32_t, 1>(8192, Keys::random,
                                                              Order::descending);
  sort_in_array_tile<std::uint64_t, 16, 16, std::uint64_t, 1>(5000, Keys::few_random);
}

TEST(Kernels, NarrowArray) {
  sort_narrow_array<std::uint8_t, 2, std::uint8_t, 1>(1, Keys::random);
  sort_narrow_array<std::uint8_t, 2, std::uint32_t, 1>(1024, Keys::random, Order::descending);
  sort_narrow_array<std::uint16_t, 2, std::uint64_t, 1>(513, Keys::half_greatest);
  sort_narrow_array<std::uint16_t, 4, std::uint16_t, 3>(2001, Keys::random, Order::descending);
  sort_narrow_array<std::uint8_t, 4, std::uint64_t, 2>(2048, Keys::few);
  sort_narrow_array<std::uint8_t, 8, std::uint8_t, 5>(4000, Keys::half_greatest);
  sort_narrow_array<std::uint16_t, 8, std::uint32_t, 1>(4096, Keys::random);
  sort_narrow_array<std::uint16_t, 16, std::uint32_t, 1>(8191, Keys::random, Order::descending);
  sort_narrow_array<std::uint8_t, 16, std::uint8_t, 1>(8192, Keys::random);
}

TEST(Kernels, Digits) {
  sort_by_digits<std::uint32_t, 4>(Keys::random, Order::ascending);
  sort_by_digits<std::uint32_t, 0>(Keys::half_greatest, Order::descending);
  sort_by_digits<std::uint32_t, 0>(Keys::random, Order::ascending);
  sort_by_digits<std::uint64_t, 0>(Keys::few, Order::ascending);
  sort_by_digits<std::uint64_t, 4>(Keys::two_fields, Order::descending);
  sort_by_digits<std::uint64_t, 8>(Keys::few, Order::ascending);
  sort_by_digits<std::uint16_t, 4>(Keys::random, Order::descending);
  sort_by_digits<std::uint8_t, 8>(Keys::half_greatest, Order::descending);
  sort_by_digits<std::uint8_t, 4>(Keys::random, Order::ascending);
  sort_by_digits<std::uint8_t, 1>(Keys::random, Order::descending);
  sort_by_digits<std::uint16_t, 2>(Keys::half_greatest, Order::ascending);
}

TEST(Kernels, DigitsOfDoubleBuffers) {
  sort_by_digits<std::uint32_t, 4>(Keys::few, Order::ascending, true);
  sort_by_digits<std::uint32_t, 0>(Keys::high_bits, Order::descending, true);
  sort_by_digits<std::uint64_t, 8>(Keys::two_fields, Order::ascending, true);
  sort_by_digits<std::uint64_t, 0>(Keys::few, Order::descending, true);
}

}  // namespace
}  // namespace sortie::segsort
