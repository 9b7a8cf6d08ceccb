// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/aggregates/aggregated_product.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>

#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/fused/value.cuh"
#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/launch.cuh"
#include "primitives/cuda/warp.cuh"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// Rows of C with up to `places` entries, computed by a warp that has `copies` sums of each entry.
/// Lanes with the same copy add one after the other. In the first tier, 8 copies take as long as
/// 16, and 32 take 1.2 times as long (27-point 100^3, aggregates of 27, H100).
struct AggregateTier {
  std::uint32_t places;  ///< a power of two
  std::uint32_t copies;
  int warps;  ///< of a block
};
constexpr AggregateTier aggregate_tiers[] = {{32, 16, 4}, {256, 4, 4}, {4096, 1, 1}};
constexpr int tier_count = 3;
static_assert(aggregate_tiers[tier_count - 1].places >= most_aggregated_products);

/// Entries of A whose loads are in flight together, per lane.
constexpr int rows_in_flight = 4;

struct AggregateCounters {
  unsigned long long longest_row = 0;
  unsigned long long products = 0;
  unsigned long long longest_row_products = 0;
  unsigned long long staged = 0;              ///< entries of C
  std::uint32_t listed[tier_count - 1] = {};  ///< rows with more entries than a tier has places
};

template <class Value>
struct AggregateArguments {
  DeviceCsrView<Value> r;
  DeviceCsrView<Value> a;
  const std::uint32_t* columns = nullptr;
  const Value* values = nullptr;
  int lane_bits = 0;              ///< 2^lane_bits lanes take a row of A
  std::uint32_t* list = nullptr;  ///< rows for each tier but the first
  AggregateCounters* counters = nullptr;
  std::int64_t* row_ptr = nullptr;  ///< of C: written if entries are staged, else read
  std::int64_t* places = nullptr;   ///< of rows in the staging buffer; null: entries go to C
  std::uint64_t capacity = 0;       ///< of the staging buffer
  std::uint32_t* c_columns = nullptr;
  Value* c_values = nullptr;
};

/// Columns of a row of C and their sums, in shared memory.
///
/// | array   | elements        | content                                        |
/// |---------|-----------------|------------------------------------------------|
/// | sums    | places * copies | sums of a place, -0.0 while it is free         |
/// | columns | 2 * places      | hash table: column in a slot, or none          |
/// | numbers | 2 * places      | place of the slot's column                     |
/// | listed  | places          | column of a place                              |
/// | count   | 1               | columns found                                  |
///
/// `columns` and `numbers` become the sorted words (column, place) when all products are added.
template <class Value, int Tier>
struct AggregateTable {
  static constexpr std::uint32_t places = aggregate_tiers[Tier].places;
  static constexpr std::uint32_t copies = aggregate_tiers[Tier].copies;
  static constexpr std::uint32_t slots = 2 * places;
  static constexpr std::uint32_t none = AggregateRows<Value>::none;
  static constexpr std::size_t bytes =
      sizeof(Value) * places * copies + 6 * slots + sizeof(std::uint32_t) * (places + 4);

  Value* sums;
  std::uint32_t* columns;
  std::uint16_t* numbers;
  std::uint32_t* listed;
  std::uint32_t* count;

  __device__ __forceinline__ explicit AggregateTable(unsigned char* storage)
      : sums(reinterpret_cast<Value*>(storage)),
        columns(reinterpret_cast<std::uint32_t*>(sums + places * copies)),
        numbers(reinterpret_cast<std::uint16_t*>(columns + slots)),
        listed(reinterpret_cast<std::uint32_t*>(numbers + slots)),
        count(listed + places) {}

  __device__ __forceinline__ unsigned long long* words() const {
    return reinterpret_cast<unsigned long long*>(columns);
  }

  /// Empties the table, whose sums are free.
  __device__ __forceinline__ void clear() {
    for (std::uint32_t slot = lane(); slot < slots; slot += 32) columns[slot] = none;
    if (lane() == 0) *count = 0;
    __syncwarp();
  }
  __device__ __forceinline__ void clear_sums() {
    for (std::uint32_t i = lane(); i < places * copies; i += 32)
      sums[i] = additive_identity<Value>();
  }

  /// The place of each lane's column, which may be none. All lanes call it. Most columns are in the
  /// table: they are only read.
  /// \param is_full  set if there are more columns than places
  __device__ __forceinline__ std::uint32_t place_of(std::uint32_t column, bool& is_full) {
    std::uint32_t slot = 0;
    bool is_new = false;
    if (column != none) {
      slot = (column * 2654435769u) >> (__clz(static_cast<int>(slots)) + 1);
      std::uint32_t found = columns[slot];
      while (found != column && found != none) {
        slot = (slot + 1) % slots;
        found = columns[slot];
      }
      is_new = found == none;
    }
    if (__any_sync(full_warp, is_new)) {
      __syncwarp();
      while (is_new) {
        const std::uint32_t found = atomicCAS(&columns[slot], none, column);
        if (found == none) {
          const std::uint32_t place = atomicAdd(count, 1u);
          numbers[slot] = static_cast<std::uint16_t>(place);
          if (place < places) listed[place] = column;
        }
        is_new = found != none && found != column;
        if (is_new) slot = (slot + 1) % slots;
      }
      __syncwarp();
      is_full = *count > places;
    }
    return numbers[slot];
  }

  /// Adds the products of all lanes that have a column.
  __device__ __forceinline__ void add(bool has_column, std::uint32_t place, Value product) {
    const std::uint32_t at = place * copies + lane() % copies;
    for (unsigned int step = 0; step < 32 / copies; ++step) {
      if (has_column && lane() / copies == step) sums[at] = sum(sums[at], product);
      __syncwarp();
    }
  }

  /// Replaces the hash table by the words of the first `found` places, by columns.
  __device__ __forceinline__ void sort(std::uint32_t found) {
    __syncwarp();
    if constexpr (places <= 32) {
      const std::uint32_t column = lane() < found ? listed[lane()] : none;
      std::uint32_t rank = 0;
      for (std::uint32_t i = 0; i < found; ++i) rank += listed[i] < column ? 1 : 0;
      if (lane() < found) words()[rank] = std::uint64_t{column} << 32 | lane();
      __syncwarp();
    } else {
      const std::uint32_t size = found <= 1 ? 1 : 1u << (32 - __clz(static_cast<int>(found - 1)));
      for (std::uint32_t i = lane(); i < size; i += 32)
        words()[i] = i < found ? std::uint64_t{listed[i]} << 32 | i : ~std::uint64_t{0};
      __syncwarp();
      // Bitonic sort.
      for (std::uint32_t run = 2; run <= size; run *= 2) {
        for (std::uint32_t distance = run / 2; distance > 0; distance /= 2) {
          for (std::uint32_t i = lane(); i < size / 2; i += 32) {
            const std::uint32_t low = 2 * i - i % distance;
            const unsigned long long x = words()[low];
            const unsigned long long y = words()[low + distance];
            if ((x > y) == ((low & run) == 0)) {
              words()[low] = y;
              words()[low + distance] = x;
            }
          }
          __syncwarp();
        }
      }
    }
  }

  /// The sum of a place, which becomes free. Neighbouring ranks begin at different copies, which
  /// are in different banks of shared memory.
  __device__ __forceinline__ Value take(std::uint32_t place, std::uint32_t rank) {
    Value total = additive_identity<Value>();
    for (std::uint32_t i = 0; i < copies; ++i) {
      const std::uint32_t at = place * copies + (rank + i) % copies;
      total = sum(total, sums[at]);
      sums[at] = additive_identity<Value>();
    }
    return total;
  }
};

/// Adds the products of a row to the empty table. False if there are more columns than places.
template <class Value, int Tier>
__device__ __forceinline__ bool add_row(const AggregateArguments<Value>& args,
                                        AggregateTable<Value, Tier>& table, std::int64_t row) {
  constexpr std::uint32_t none = AggregateTable<Value, Tier>::none;
  const std::int64_t end = args.r.row_ptr[row + 1];
  const int lanes = 1 << args.lane_bits;
  const int groups = 32 >> args.lane_bits;
  const int group = static_cast<int>(lane() >> args.lane_bits);
  for (std::int64_t first = args.r.row_ptr[row]; first < end; first += 32) {
    // Lane l holds entry first + l of R, and where its row of A begins.
    const std::int64_t entry = first + lane();
    std::int64_t begin_a = 0;
    int length = 0;
    Value factor{};
    if (entry < end) {
      const std::uint32_t k = args.r.col_idx[entry];
      factor = args.r.values[entry];
      begin_a = args.a.row_ptr[k];
      length = static_cast<int>(args.a.row_ptr[k + std::int64_t{1}] - begin_a);
    }
    const int longest = max_in_warp(length);
    const int count = static_cast<int>(end - first < 32 ? end - first : 32);
    for (int step = 0; step < count; step += groups * rows_in_flight) {
      for (int base = 0; base < longest; base += lanes) {
        const int j = base + static_cast<int>(lane()) % lanes;
        std::uint32_t column[rows_in_flight];
        Value value[rows_in_flight];
        Value of_r[rows_in_flight];
#pragma unroll
        for (int u = 0; u < rows_in_flight; ++u) {
          const int from = step + u * groups + group;
          const std::int64_t begin = from_lane(begin_a, from);
          const int own = from_lane(length, from);
          of_r[u] = from_lane(factor, from);
          column[u] = none;
          value[u] = Value{};
          if (from < 32 && j < own) {
            column[u] = args.a.col_idx[begin + j];
            value[u] = args.a.values[begin + j];
          }
        }
        Value weight[rows_in_flight];
#pragma unroll
        for (int u = 0; u < rows_in_flight; ++u) {
          weight[u] = Value{};
          if (column[u] != none) {
            const std::uint32_t l = column[u];
            column[u] = args.columns[l];
            weight[u] = args.values[l];
          }
        }
#pragma unroll
        for (int u = 0; u < rows_in_flight; ++u) {
          bool is_full = false;
          const std::uint32_t place = table.place_of(column[u], is_full);
          if (is_full) return false;
          table.add(column[u] != none, place, product(product(of_r[u], value[u]), weight[u]));
        }
      }
    }
  }
  return true;
}

template <class Value, int Tier>
__device__ __forceinline__ void compute_row(const AggregateArguments<Value>& args,
                                            AggregateTable<Value, Tier>& table, std::int64_t row) {
  const bool fits = add_row(args, table, row);
  if constexpr (Tier + 1 < tier_count) {
    if (!fits) {
      __syncwarp();
      if (lane() == 0) {
        const std::uint32_t place = atomicAdd(&args.counters->listed[Tier], 1u);
        args.list[Tier * args.r.rows + place] = static_cast<std::uint32_t>(row);
      }
      table.clear_sums();
      table.clear();
      return;
    }
  }
  __syncwarp();
  const std::uint32_t found = *table.count;
  std::int64_t begin = 0;
  bool writes = true;
  if (args.places != nullptr) {
    if (lane() == 0) {
      begin = static_cast<std::int64_t>(
          atomicAdd(&args.counters->staged, static_cast<unsigned long long>(found)));
      args.row_ptr[row] = found;
      args.places[row] = begin;
    }
    begin = from_lane(begin, 0);
    writes = static_cast<std::uint64_t>(begin) + found <= args.capacity;
  } else {
    begin = args.row_ptr[row];
  }
  table.sort(found);
  for (std::uint32_t rank = lane(); rank < found; rank += 32) {
    const unsigned long long word = table.words()[rank];
    const Value total = table.take(static_cast<std::uint32_t>(word), rank);
    if (writes) {
      args.c_columns[begin + rank] = static_cast<std::uint32_t>(word >> 32);
      args.c_values[begin + rank] = total;
    }
  }
  __syncwarp();
  table.clear();
}

/// A warp computes a row of C at a time, in its AggregateTable in dynamic shared memory: lane l holds
/// an entry of R and where its row of A begins, then products of such rows, which are added to the
/// sums of their columns. Tier 0 takes all rows, and lists those with too many columns for the next.
template <class Value, int Tier>
__global__ void __launch_bounds__(32 * aggregate_tiers[Tier].warps)
    aggregated_rows_kernel(AggregateArguments<Value> args) {
  constexpr int warps = aggregate_tiers[Tier].warps;
  const int warp = static_cast<int>(threadIdx.x / 32);
  std::int64_t number = std::int64_t{blockIdx.x} * warps + warp;
  std::int64_t count = args.r.rows;
  if constexpr (Tier > 0) count = args.counters->listed[Tier - 1];
  if (number >= count) return;
  using Table = AggregateTable<Value, Tier>;
  Table table(dynamic_shared_memory() + warp * Table::bytes);
  table.clear_sums();
  table.clear();
  for (; number < count; number += std::int64_t{gridDim.x} * warps) {
    std::int64_t row = number;
    if constexpr (Tier > 0) row = args.list[(Tier - 1) * args.r.rows + number];
    compute_row(args, table, row);
  }
}

/// One thread for each row of P, and a warp for each row of R.
template <class Value>
__global__ void __launch_bounds__(element_threads)
    read_aggregates_kernel(DeviceCsrView<Value> r, const std::int64_t* a_row_ptr,
                           DeviceCsrView<Value> p, unsigned int blocks_of_p, std::uint32_t* columns,
                           Value* values, AggregateCounters* counters) {
  if (blockIdx.x < blocks_of_p) {
    const std::int64_t row = global_thread();
    std::int64_t entries = 0;
    if (row < p.rows) {
      const std::int64_t begin = p.row_ptr[row];
      entries = p.row_ptr[row + 1] - begin;
      columns[row] = entries != 0 ? p.col_idx[begin] : AggregateRows<Value>::none;
      if (entries != 0) values[row] = p.values[begin];
    }
    if (__syncthreads_or(entries > 1) && threadIdx.x == 0) atomicMax(&counters->longest_row, 2ull);
    return;
  }
  __shared__ unsigned long long all;
  __shared__ unsigned long long most;
  if (threadIdx.x == 0) all = most = 0;
  __syncthreads();
  const std::int64_t row = std::int64_t{blockIdx.x - blocks_of_p} * (element_threads / 32) +
                           static_cast<int>(threadIdx.x / 32);
  unsigned long long products = 0;
  if (row < r.rows) {
    for (std::int64_t i = r.row_ptr[row] + lane(); i < r.row_ptr[row + 1]; i += 32) {
      const std::uint32_t k = r.col_idx[i];
      products += static_cast<unsigned long long>(a_row_ptr[k + std::int64_t{1}] - a_row_ptr[k]);
    }
  }
  products = sum_in_warp(products);
  if (lane() == 0 && products != 0) {
    atomicAdd(&all, products);
    atomicMax(&most, products);
  }
  __syncthreads();
  if (threadIdx.x == 0 && all != 0) {
    atomicAdd(&counters->products, all);
    atomicMax(&counters->longest_row_products, most);
  }
}

/// Lanes that copy a row of C.
constexpr int lanes_of_copy = 8;

/// Copies rows from where they were staged to C, lanes_of_copy lanes for each row.
template <class Value>
__global__ void __launch_bounds__(element_threads)
    copy_staged_rows_kernel(std::int64_t rows, const std::int64_t* row_ptr,
                            const std::int64_t* places, const std::uint32_t* columns,
                            const Value* values, std::uint32_t* c_columns, Value* c_values) {
  const std::int64_t row = global_thread() / lanes_of_copy;
  if (row >= rows) return;
  const std::int64_t begin = row_ptr[row];
  const std::int64_t count = row_ptr[row + 1] - begin;
  const std::int64_t from = places[row];
  for (std::int64_t i = threadIdx.x % lanes_of_copy; i < count; i += lanes_of_copy) {
    c_columns[begin + i] = columns[from + i];
    c_values[begin + i] = values[from + i];
  }
}

template <class Value, int Tier>
void launch_tier(const AggregateArguments<Value>& args, unsigned int blocks, cudaStream_t stream) {
  constexpr int warps = aggregate_tiers[Tier].warps;
  constexpr std::size_t bytes = AggregateTable<Value, Tier>::bytes * warps;
  const auto kernel = aggregated_rows_kernel<Value, Tier>;
  check_cuda(allow_shared_memory(kernel, bytes));
  kernel<<<blocks, 32 * warps, bytes, stream>>>(args);
  check_cuda(cudaGetLastError());
}

template <class Value>
void launch_tiers(const AggregateArguments<Value>& args, const AggregationSize& size,
                  cudaStream_t stream) {
  constexpr unsigned int most_blocks = 1024;  // of the rows of a list
  const auto most_listed = static_cast<unsigned int>(
      std::min<std::uint64_t>(most_blocks, size.products / aggregate_tiers[0].places + 1));
  launch_tier<Value, 0>(args, blocks_for(args.r.rows, aggregate_tiers[0].warps), stream);
  if (size.longest_row_products > aggregate_tiers[0].places)
    launch_tier<Value, 1>(args, most_listed, stream);
  if (size.longest_row_products > aggregate_tiers[1].places)
    launch_tier<Value, 2>(args, most_listed, stream);
}

}  // namespace

template <class Value>
bool has_memory_for_aggregates() {
  return AggregateTable<Value, tier_count - 1>::bytes <=
         static_cast<std::size_t>(max_shared_bytes());
}

template <class Value>
AggregationSize read_aggregates(const DeviceCsrView<Value>& r, const DeviceCsrView<Value>& a,
                                const DeviceCsrView<Value>& p, AggregateRows<Value>& aggregates,
                                cudaStream_t stream) {
  aggregates.cols = p.cols;
  aggregates.columns = DeviceBuffer<std::uint32_t>(p.rows, stream);
  aggregates.values = DeviceBuffer<Value>(p.rows, stream);
  DeviceBuffer<AggregateCounters> counters(1, stream);
  check_cuda(cudaMemsetAsync(counters.data(), 0, counters.bytes(), stream));
  const unsigned int of_p = blocks_for(p.rows);
  const unsigned int of_r = a.row_ptr == nullptr ? 0 : blocks_for(r.rows, element_threads / 32);
  if (of_p + of_r != 0) {
    read_aggregates_kernel<<<of_p + of_r, element_threads, 0, stream>>>(
        r, a.row_ptr, p, of_p, aggregates.columns.data(), aggregates.values.data(),
        counters.data());
    check_cuda(cudaGetLastError());
  }
  PinnedMailbox<AggregateCounters> mailbox(stream);
  check_cuda(cudaMemcpyAsync(mailbox.on_device(), counters.data(), counters.bytes(),
                             cudaMemcpyDeviceToHost, stream));
  mailbox.mark();
  const AggregateCounters& found = mailbox.wait();
  return {found.longest_row, found.products, found.longest_row_products};
}

template <class Value>
DeviceCsr<Value> aggregated_product(const DeviceContext& context, const DeviceCsrView<Value>& r,
                                    const DeviceCsrView<Value>& a,
                                    const AggregateRows<Value>& aggregates,
                                    const AggregationSize& size, std::uint64_t budget) {
  const cudaStream_t stream = context.stream;
  constexpr std::uint64_t of_entry = sizeof(std::uint32_t) + sizeof(Value);
  const auto rows = static_cast<std::uint64_t>(r.rows);
  const std::uint64_t fixed = rows * (aggregated_bytes_per_row + sizeof(std::int64_t));
  if (budget != 0 && fixed > budget)
    throw out_of_memory_error("the rows of R * A * P", fixed, budget);
  DeviceCsr<Value> c{r.rows, aggregates.cols, DeviceBuffer<std::int64_t>(rows + 1, stream), {}, {}};
  check_cuda(cudaMemsetAsync(c.row_ptr.data(), 0, c.row_ptr.bytes(), stream));
  if (size.products == 0) return c;

  // As many entries as C has if each of them is the sum of half as many products as a row of R has
  // entries.
  std::uint64_t capacity = std::min<std::uint64_t>(
      size.products, 2 * size.products / std::max<std::uint64_t>(1, r.nnz / rows));
  if (budget != 0) capacity = std::min(capacity, (budget - fixed) / (2 * of_entry));
  DeviceBuffer<std::uint32_t> columns;
  DeviceBuffer<Value> values;
  try {
    columns = DeviceBuffer<std::uint32_t>(capacity, stream);
    values = DeviceBuffer<Value>(capacity, stream);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory) throw;
    columns.reset();
    capacity = 0;
  }

  DeviceBuffer<std::uint32_t> list((tier_count - 1) * rows, stream);
  DeviceBuffer<std::int64_t> places(rows, stream);
  DeviceBuffer<AggregateCounters> counters(1, stream);
  check_cuda(cudaMemsetAsync(counters.data(), 0, counters.bytes(), stream));
  AggregateArguments<Value> args{.r = r,
                                 .a = a,
                                 .columns = aggregates.columns.data(),
                                 .values = aggregates.values.data(),
                                 .list = list.data(),
                                 .counters = counters.data(),
                                 .row_ptr = c.row_ptr.data(),
                                 .places = places.data(),
                                 .capacity = capacity,
                                 .c_columns = columns.data(),
                                 .c_values = values.data()};
  constexpr int least_bits = 2;
  args.lane_bits = least_bits;
  while (args.lane_bits < 5 &&
         std::int64_t{1} << args.lane_bits < a.nnz / std::max<std::int64_t>(1, a.rows))
    ++args.lane_bits;
  DevicePhase counting(context, "counting");
  launch_tiers(args, size, stream);
  exclusive_sum(c.row_ptr.data(), r.rows + 1, stream);
  PinnedMailbox<std::int64_t> mailbox(stream);
  check_cuda(cudaMemcpyAsync(mailbox.on_device(), c.row_ptr.data() + r.rows, sizeof(std::int64_t),
                             cudaMemcpyDeviceToHost, stream));
  mailbox.mark();
  counting.stop();
  const auto entries = static_cast<std::uint64_t>(mailbox.wait());
  DevicePhase making(context, "making");
  c.col_idx = DeviceBuffer<std::uint32_t>(entries, stream);
  c.values = DeviceBuffer<Value>(entries, stream);
  if (entries <= capacity) {
    copy_staged_rows_kernel<<<blocks_for(rows, element_threads / lanes_of_copy), element_threads, 0,
                              stream>>>(r.rows, c.row_ptr.data(), places.data(), columns.data(),
                                        values.data(), c.col_idx.data(), c.values.data());
    check_cuda(cudaGetLastError());
  } else {
    args.places = nullptr;
    args.c_columns = c.col_idx.data();
    args.c_values = c.values.data();
    check_cuda(cudaMemsetAsync(counters.data(), 0, counters.bytes(), stream));
    launch_tiers(args, size, stream);
  }
  making.stop();
  return c;
}

#define SORTIE_INSTANTIATE(Value)                                                            \
  template bool has_memory_for_aggregates<Value>();                                          \
  template AggregationSize read_aggregates(                                                  \
      const DeviceCsrView<Value>&, const DeviceCsrView<Value>&, const DeviceCsrView<Value>&, \
      AggregateRows<Value>&, cudaStream_t);                                                  \
  template DeviceCsr<Value> aggregated_product(                                              \
      const DeviceContext&, const DeviceCsrView<Value>&, const DeviceCsrView<Value>&,        \
      const AggregateRows<Value>&, const AggregationSize&, std::uint64_t);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
