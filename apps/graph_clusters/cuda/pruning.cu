// SPDX-License-Identifier: Apache-2.0
#include "apps/graph_clusters/cuda/pruning.hpp"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"

namespace sortie::graphs::cuda {
namespace {

/// Rows that have fewer entries than this on average get one warp each, others a block.
constexpr std::int64_t entries_for_a_block = 128;
constexpr int threads_of_a_block = 256;

/// Digits of the selection by value. The bits of positive floats are in the order of their values.
constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;

struct Greater {
  template <class Number>
  __device__ Number operator()(Number a, Number b) const {
    return a < b ? b : a;
  }
};

/// One block of Threads threads works on a row: thread t reads entries t, t + Threads, ...
template <int Threads>
class RowBlock {
 public:
  struct Shared {
    union {
      typename cub::BlockReduce<double, Threads>::TempStorage doubles;
      typename cub::BlockReduce<float, Threads>::TempStorage floats;
      typename cub::BlockReduce<std::int64_t, Threads>::TempStorage integers;
      unsigned int histogram[digits];
    };
    union {
      double real;
      float value;
      std::int64_t integer;
      struct {
        unsigned int digit;
        unsigned int before;  ///< values with a greater digit
        unsigned int in;      ///< values with this digit
      } found;
    } result;
  };

  __device__ RowBlock(Shared& shared, const float* values, std::int64_t size)
      : shared_(shared), values_(values), size_(size) {}

  /// Sum of of(value) over all entries, for all threads.
  template <class Of>
  __device__ double sum(const Of& of) {
    double mine = 0;
    for (std::int64_t i = threadIdx.x; i < size_; i += Threads) mine += of(values_[i]);
    const double all = cub::BlockReduce<double, Threads>(shared_.doubles).Sum(mine);
    return for_all(shared_.result.real, all);
  }
  template <class Of>
  __device__ std::int64_t count(const Of& of) {
    std::int64_t mine = 0;
    for (std::int64_t i = threadIdx.x; i < size_; i += Threads) mine += of(values_[i]) ? 1 : 0;
    const std::int64_t all = cub::BlockReduce<std::int64_t, Threads>(shared_.integers).Sum(mine);
    return for_all(shared_.result.integer, all);
  }
  __device__ float greatest() {
    float mine = 0;
    for (std::int64_t i = threadIdx.x; i < size_; i += Threads) mine = Greater()(mine, values_[i]);
    const float all = cub::BlockReduce<float, Threads>(shared_.floats).Reduce(mine, Greater());
    return for_all(shared_.result.value, all);
  }

  /// Limits the row to the `most` largest of its `count` entries of at least `least`, and to those
  /// that equal the last of them, up to twice as many in all. \return entries left
  __device__ std::int64_t keep_largest(float least, std::int64_t count, std::int64_t most,
                                       RowRule& rule) {
    rule.limit = least;
    rule.equal = INT_MAX;
    if (count <= most) return count;
    unsigned int prefix = 0;
    std::int64_t left = most;  // entries wanted among those with the prefix
    std::int64_t equal = count;
    for (int shift = 32 - digit_bits; shift >= 0; shift -= digit_bits) {
      for (int i = threadIdx.x; i < digits; i += Threads) shared_.histogram[i] = 0;
      __syncthreads();
      for (std::int64_t i = threadIdx.x; i < size_; i += Threads) {
        const unsigned int bits = __float_as_uint(values_[i]);
        const bool matches = shift == 32 - digit_bits || bits >> (shift + digit_bits) == prefix;
        if (matches && values_[i] >= least)
          atomicAdd(&shared_.histogram[bits >> shift & (digits - 1)], 1U);
      }
      __syncthreads();
      if (threadIdx.x < 32) find_digit(static_cast<unsigned int>(left));
      __syncthreads();
      const auto found = shared_.result.found;
      __syncthreads();
      prefix = prefix << digit_bits | found.digit;
      left -= found.before;
      equal = found.in;
    }
    const std::int64_t greater = most - left;
    rule.limit = __uint_as_float(prefix);
    rule.equal = static_cast<std::int32_t>(equal < 2 * most - greater ? equal : 2 * most - greater);
    return greater + rule.equal;
  }

 private:
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
        shared_.result.found = {static_cast<unsigned int>(first - i), before, in};
        return;
      }
      before += in;
    }
  }

  template <class Number>
  __device__ Number for_all(Number& result, Number of_thread_0) {
    if (threadIdx.x == 0) result = of_thread_0;
    __syncthreads();
    const Number all = result;
    __syncthreads();
    return all;
  }

  Shared& shared_;
  const float* values_;
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
  const auto mass_of_kept = [&] {
    const float limit = rule.limit;
    // Ties beyond their number are left out: the others are added as one product.
    const bool some = rule.equal != INT_MAX;
    const double mass = row.sum([=](float value) {
      return value > limit || (!some && value == limit) ? static_cast<double>(value) : 0.0;
    });
    return some ? mass + static_cast<double>(rule.equal) * static_cast<double>(limit) : mass;
  };
  sums.sum = mass_of_kept();
  const bool recovers = sums.entries < pruning.recover_top && sums.sum < pruning.recover_below;
  if (recovers || sums.entries == 0) {
    const std::int64_t positive = row.count([=](float value) { return value >= smallest; });
    sums.entries = row.keep_largest(smallest, positive, recovers ? pruning.recover_top : 1, rule);
    sums.sum = mass_of_kept();
  }
  const float limit = rule.limit;
  const bool some = rule.equal != INT_MAX;
  const auto equal = static_cast<double>(rule.equal);
  /// Sum of of(value) over the kept entries.
  const auto sum_of_kept = [&](const auto& of) {
    const double sum = row.sum(
        [=](float value) { return value > limit || (!some && value == limit) ? of(value) : 0.0; });
    return some ? sum + equal * of(limit) : sum;
  };
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
  const auto remains = [=](float value) { return inflation(value, greatest) * scale >= least_out; };
  std::int64_t count = row.count(
      [=](float value) { return (value > limit || (!some && value == limit)) && remains(value); });
  if (some && remains(limit)) count += rule.equal;
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
                       const std::int64_t* begins, std::uint32_t* columns, float* values) {
  using Scan = cub::BlockScan<int, Threads>;
  __shared__ typename Scan::TempStorage storage;
  const std::int64_t begin = all.row_ptr[blockIdx.x];
  const std::int64_t end = all.row_ptr[blockIdx.x + 1];
  const RowRule rule = rules[blockIdx.x];
  std::int64_t to = begins[blockIdx.x];
  std::int64_t equal_before = 0;
  for (std::int64_t first = begin; first < end; first += Threads) {
    const std::int64_t i = first + threadIdx.x;
    const float value = i < end ? all.values[i] : 0;
    bool kept = value > rule.limit;
    if (rule.equal == INT_MAX) {
      kept = value >= rule.limit;
    } else {
      const bool is_equal = value == rule.limit;
      int before = 0;
      int in_all = 0;
      Scan(storage).ExclusiveSum(is_equal ? 1 : 0, before, in_all);
      __syncthreads();
      kept |= is_equal && equal_before + before < rule.equal;
      equal_before += in_all;
    }
    const float scaled = kept ? pruning.inflation(value, rule.greatest) * rule.scale : 0;
    kept &= scaled >= rule.least;
    int before = 0;
    int in_all = 0;
    Scan(storage).ExclusiveSum(kept ? 1 : 0, before, in_all);
    __syncthreads();
    if (kept) {
      columns[to + before] = all.columns[i];
      values[to + before] = scaled;
    }
    to += in_all;
  }
}

__global__ void __launch_bounds__(element_threads)
    count_products_kernel(std::int64_t rows, const std::int64_t* row_ptr,
                          const std::uint32_t* columns, std::int64_t* products) {
  const std::int64_t row = global_thread() / 32;
  if (row >= rows) return;
  std::int64_t sum = 0;
  for (std::int64_t i = row_ptr[row] + lane(); i < row_ptr[row + 1]; i += 32)
    sum += row_ptr[columns[i] + 1] - row_ptr[columns[i]];
  sum = sum_in_warp(sum);
  if (lane() == 0) products[row] = sum;
}

}  // namespace

void find_rules(const ExpandedRows& rows, const PruningRule& rule, RowRule* rules,
                std::int64_t* counts, unsigned long long* chaos, cudaStream_t stream) {
  if (rows.rows == 0) return;
  const auto blocks = static_cast<unsigned int>(rows.rows);
  if (rows.nnz < entries_for_a_block * rows.rows) {
    find_rules_kernel<32><<<blocks, 32, 0, stream>>>(rows, rule, rules, counts, chaos);
  } else {
    find_rules_kernel<threads_of_a_block>
        <<<blocks, threads_of_a_block, 0, stream>>>(rows, rule, rules, counts, chaos);
  }
  check_cuda(cudaGetLastError());
}

void apply_rules(const ExpandedRows& rows, const PruningRule& rule, const RowRule* rules,
                 const std::int64_t* begins, std::uint32_t* columns, float* values,
                 cudaStream_t stream) {
  if (rows.rows == 0) return;
  const auto blocks = static_cast<unsigned int>(rows.rows);
  if (rows.nnz < entries_for_a_block * rows.rows) {
    apply_rules_kernel<32><<<blocks, 32, 0, stream>>>(rows, rule, rules, begins, columns, values);
  } else {
    apply_rules_kernel<threads_of_a_block>
        <<<blocks, threads_of_a_block, 0, stream>>>(rows, rule, rules, begins, columns, values);
  }
  check_cuda(cudaGetLastError());
}

void count_products(std::int64_t rows, const std::int64_t* row_ptr, const std::uint32_t* columns,
                    std::int64_t* products, cudaStream_t stream) {
  if (rows == 0) return;
  count_products_kernel<<<blocks_for(rows, element_threads / 32), element_threads, 0, stream>>>(
      rows, row_ptr, columns, products);
  check_cuda(cudaGetLastError());
}

}  // namespace sortie::graphs::cuda
