// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "apps/graph_clusters/cuda/pruning.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

/// The kernels of pruning.hpp.
namespace sortie::graphs::cuda {

/// RowRule::equal of rows that keep all entries of at least the limit.
inline constexpr std::int32_t all_equal = std::numeric_limits<std::int32_t>::max();

/// Digits of the selection by value. The bits of positive floats are in the order of their values.
inline constexpr int digit_bits = 8;
inline constexpr int digits = 1 << digit_bits;

/// One block of Threads threads works on a row: thread t reads entries t, t + Threads, ...
template <int Threads>
class RowBlock {
 public:
  struct Shared {
    std::uint64_t warp_sums[Threads / 32];  ///< or real numbers
    unsigned int histogram[digits];
    unsigned int digit;   ///< of the wanted value
    unsigned int before;  ///< values with a greater digit
    unsigned int in;      ///< values with this digit
  };

  __device__ RowBlock(Shared& shared, const double* values, std::int64_t size)
      : shared_(shared), values_(values), size_(size) {}

  /// Sum of of(value) over all entries, for all threads.
  template <class Number, class Of>
  __device__ Number sum(const Of& of) {
    Number mine = 0;
    for (std::int64_t i = threadIdx.x; i < size_; i += Threads) mine += of(entry(i));
    return prefix_sum_in_block<Threads / 32>(mine, reinterpret_cast<Number*>(shared_.warp_sums))
        .total;
  }
  template <class Of>
  __device__ std::int64_t count(const Of& of) {
    return sum<std::int64_t>([&](float value) { return of(value) ? 1 : 0; });
  }
  __device__ float greatest() {
    float mine = 0;
    for (std::int64_t i = threadIdx.x; i < size_; i += Threads) mine = max(mine, entry(i));
    mine = max_in_warp(mine);
    auto* const of_warps = reinterpret_cast<float*>(shared_.warp_sums);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    for (int warp = 0; warp < Threads / 32; ++warp) mine = max(mine, of_warps[warp]);
    __syncthreads();
    return mine;
  }

  /// Limits the row to the `most` largest of its `count` entries of at least `least`, and to those
  /// that equal the last of them, up to twice as many in all. \return entries left
  __device__ std::int64_t keep_largest(float least, std::int64_t count, std::int64_t most,
                                       RowRule& rule) {
    rule.limit = least;
    rule.equal = all_equal;
    if (count <= most) return count;
    unsigned int prefix = 0;
    std::int64_t left = most;  // entries wanted among those with the prefix
    std::int64_t equal = count;
    for (int shift = 32 - digit_bits; shift >= 0; shift -= digit_bits) {
      for (int i = threadIdx.x; i < digits; i += Threads) shared_.histogram[i] = 0;
      __syncthreads();
      for (std::int64_t i = threadIdx.x; i < size_; i += Threads) {
        const float value = entry(i);
        const unsigned int bits = __float_as_uint(value);
        const bool matches = shift == 32 - digit_bits || bits >> (shift + digit_bits) == prefix;
        if (matches && value >= least)
          atomicAdd(&shared_.histogram[bits >> shift & (digits - 1)], 1U);
      }
      __syncthreads();
      if (threadIdx.x < 32) find_digit(static_cast<unsigned int>(left));
      __syncthreads();
      prefix = prefix << digit_bits | shared_.digit;
      left -= shared_.before;
      equal = shared_.in;
      __syncthreads();
    }
    const std::int64_t greater = most - left;
    rule.limit = __uint_as_float(prefix);
    rule.equal = static_cast<std::int32_t>(equal < 2 * most - greater ? equal : 2 * most - greater);
    return greater + rule.equal;
  }

 private:
  __device__ float entry(std::int64_t i) const { return static_cast<float>(values_[i]); }

  /// One warp finds the digit of the wanted-th largest value. Lane l adds up eight digits.
  __device__ void find_digit(unsigned int wanted) {
    constexpr int per_lane = digits / 32;
    const int first = digits - 1 - per_lane * static_cast<int>(threadIdx.x);
    unsigned int sum = 0;
    for (int i = 0; i < per_lane; ++i) sum += shared_.histogram[first - i];
    unsigned int before = inclusive_sum_in_warp(sum) - sum;
    if (before >= wanted || before + sum < wanted) return;
    for (int i = 0; i < per_lane; ++i) {
      const unsigned int in = shared_.histogram[first - i];
      if (before + in >= wanted) {
        shared_.digit = static_cast<unsigned int>(first - i);
        shared_.before = before;
        shared_.in = in;
        return;
      }
      before += in;
    }
  }

  Shared& shared_;
  const double* values_;
  std::int64_t size_;
};

template <int Threads>
__global__ void __launch_bounds__(Threads)
    find_rules_kernel(ExpandedRows all, PruningRule pruning, RowRule* rules, std::int64_t* counts,
                      unsigned long long* chaos) {
  __shared__ typename RowBlock<Threads>::Shared shared;
  const std::int64_t begin = all.row_ptr[blockIdx.x];
  const std::int64_t size = all.row_ptr[blockIdx.x + 1] - begin;
  RowBlock<Threads> row(shared, all.values + begin, size);
  constexpr float smallest = 1.4e-45F;

  RowRule rule{};
  const float least = pruning.least_expanded;
  const std::int64_t above = row.count([=](float value) { return value >= least; });
  RowSums sums;
  sums.entries = row.keep_largest(least, above, pruning.keep_top, rule);
  // Sum of of(value) over the kept entries. Of those that equal the limit, some may not be kept.
  const auto sum_of_kept = [&](const auto& of) {
    const float limit = rule.limit;
    const bool all_of_limit = rule.equal == all_equal;
    const double sum = row.template sum<double>([=](float value) {
      return value > limit || (all_of_limit && value == limit) ? of(value) : 0.0;
    });
    return all_of_limit ? sum : sum + static_cast<double>(rule.equal) * of(limit);
  };
  const auto mass = [](float value) { return static_cast<double>(value); };
  sums.sum = sum_of_kept(mass);
  const bool recovers = sums.entries < pruning.recover_top && sums.sum < pruning.recover_below;
  if (recovers || sums.entries == 0) {
    const std::int64_t positive = row.count([=](float value) { return value >= smallest; });
    sums.entries = row.keep_largest(smallest, positive, recovers ? pruning.recover_top : 1, rule);
    sums.sum = sum_of_kept(mass);
  }
  const float greatest = row.greatest();
  const Inflation inflation = pruning.inflation;
  sums.greatest = greatest;
  sums.squares = sum_of_kept(
      [](float value) { return static_cast<double>(value) * static_cast<double>(value); });
  sums.inflated =
      sum_of_kept([=](float value) { return static_cast<double>(inflation(value, greatest)); });
  const auto scale = static_cast<float>(1 / sums.inflated);
  const float inflated_greatest = inflation(greatest, greatest) * scale;
  const float least_out =
      pruning.least_inflated < inflated_greatest ? pruning.least_inflated : inflated_greatest;
  const auto count = static_cast<std::int64_t>(sum_of_kept(
      [=](float value) { return inflation(value, greatest) * scale >= least_out ? 1.0 : 0.0; }));
  if (threadIdx.x != 0) return;
  rule.greatest = greatest;
  rule.scale = scale;
  rule.least = least_out;
  rules[blockIdx.x] = rule;
  counts[blockIdx.x] = count;
  // Doubles that are not negative are in the order of their bits.
  const double of_row = sums.chaos();
  if (of_row > 0) atomicMax(chaos, static_cast<unsigned long long>(__double_as_longlong(of_row)));
}

template <int Threads>
__global__ void __launch_bounds__(Threads)
    apply_rules_kernel(ExpandedRows all, PruningRule pruning, const RowRule* rules,
                       const std::int64_t* begins, std::uint32_t* columns, double* values) {
  __shared__ int warp_sums[Threads / 32];
  const std::int64_t begin = all.row_ptr[blockIdx.x];
  const std::int64_t end = all.row_ptr[blockIdx.x + 1];
  const RowRule rule = rules[blockIdx.x];
  std::int64_t to = begins[blockIdx.x];
  std::int64_t equal_before = 0;
  for (std::int64_t first = begin; first < end; first += Threads) {
    const std::int64_t i = first + threadIdx.x;
    const float value = i < end ? static_cast<float>(all.values[i]) : 0;
    bool kept = value > rule.limit;
    if (rule.equal == all_equal) {
      kept = value >= rule.limit;
    } else {
      const bool is_equal = value == rule.limit;
      const auto equals = prefix_sum_in_block<Threads / 32>(is_equal ? 1 : 0, warp_sums);
      kept |= is_equal && equal_before + equals.before < rule.equal;
      equal_before += equals.total;
    }
    const float scaled = kept ? pruning.inflation(value, rule.greatest) * rule.scale : 0;
    kept &= scaled >= rule.least;
    const auto places = prefix_sum_in_block<Threads / 32>(kept ? 1 : 0, warp_sums);
    if (kept) {
      columns[to + places.before] = all.columns[i];
      values[to + places.before] = static_cast<double>(scaled);
    }
    to += places.total;
  }
}

inline __global__ void __launch_bounds__(element_threads)
    count_products_kernel(std::int64_t rows, const std::int64_t* row_ptr,
                          const std::uint32_t* columns, std::int64_t* products) {
  const std::int64_t row =
      (static_cast<std::int64_t>(blockIdx.x) * element_threads + threadIdx.x) / 32;
  if (row >= rows) return;
  std::int64_t sum = 0;
  for (std::int64_t i = row_ptr[row] + lane(); i < row_ptr[row + 1]; i += 32)
    sum += row_ptr[columns[i] + 1] - row_ptr[columns[i]];
  sum = sum_in_warp(sum);
  if (lane() == 0) products[row] = sum;
}

}  // namespace sortie::graphs::cuda
