#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <numeric>

#include "sortie/apps/spgemm/cuda/fused/window_kernels.cuh"
#include "sortie/apps/spgemm/cuda/fused/window_rows.hpp"
#include "sortie/apps/spgemm/cuda/launch.cuh"

namespace sortie::spgemm::cuda {
namespace {

// --- Windows -------------------------------------------------------------------------------------

/// Counters of entries, one a stretch of 1024 columns.
constexpr int kCounters = most_window_columns / 1024;
constexpr int kBoundsThreads = 1024;
/// Of the entries of B, by which its columns are divided: 256 a window. The windows need not be
/// exact, for tasks are made of as many of them as have been counted to fit.
constexpr std::int64_t kSamplesOfThread = 16;
constexpr std::int64_t kSamples = kSamplesOfThread * kBoundsThreads;

/// Of the parts of WindowRows::room, in bytes.
constexpr std::size_t kAlignment = 256;

/// A number that looks drawn by lot, below 2^32.
__device__ __forceinline__ std::uint32_t scrambled(std::uint32_t number) {
  number *= 0x9e3779b9u;
  number ^= number >> 15;
  number *= 0x85ebca6bu;
  return number ^ number >> 13;
}

// One block: window w begins at the stretch of 1024 columns before which w equal shares of the
// sampled entries of B are, or more. Of each of so many equal parts of the entries one is sampled,
// at a place that no pattern of columns follows; of few entries, all are.
//
//   counters[s]: samples in stretch s; then, of all that are before it
//   thread t:    stretches 8t .. 8t + 7; the first 64 threads then search for the windows
__global__ void __launch_bounds__(kBoundsThreads)
    find_bounds_kernel(const std::uint32_t* col_idx, std::int64_t nnz, std::uint32_t stretches,
                       std::uint32_t* bounds) {
  constexpr int own = kCounters / kBoundsThreads;
  constexpr std::uint32_t windows = column_windows;
  using Scan = cub::BlockScan<std::uint32_t, kBoundsThreads>;
  __shared__ std::uint32_t counters[kCounters];
  __shared__ typename Scan::TempStorage scan;
  for (int i = static_cast<int>(threadIdx.x); i < kCounters; i += kBoundsThreads) counters[i] = 0;
  const std::int64_t samples = min(nnz, kSamples);
  const std::int64_t part = nnz / max(samples, std::int64_t{1});
  std::uint32_t found[kSamplesOfThread];  // all reads are under way at once
#pragma unroll
  for (int i = 0; i < kSamplesOfThread; ++i) {
    const std::int64_t sample = i * kBoundsThreads + static_cast<std::int64_t>(threadIdx.x);
    const std::uint64_t lot = scrambled(static_cast<std::uint32_t>(sample));
    const std::uint64_t most = min(part, std::int64_t{1} << 31);
    const auto offset = static_cast<std::int64_t>(lot * most >> 32);
    found[i] = sample < samples ? col_idx[sample * part + offset] / 1024 : kCounters;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSamplesOfThread; ++i)
    if (found[i] < kCounters) atomicAdd(&counters[found[i]], 1);
  __syncthreads();
  std::uint32_t before[own];
#pragma unroll
  for (int i = 0; i < own; ++i) before[i] = counters[threadIdx.x * own + i];
  Scan(scan).ExclusiveSum(before, before);
#pragma unroll
  for (int i = 0; i < own; ++i) counters[threadIdx.x * own + i] = before[i];
  __syncthreads();
  if (threadIdx.x >= windows) return;
  const auto share = static_cast<std::uint32_t>(threadIdx.x * samples);
  std::uint32_t first = 0;  // of the stretches before which there are so many
  std::uint32_t end = stretches;
  while (first < end) {
    const std::uint32_t middle = (first + end) / 2;
    if (counters[middle] * windows < share) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  bounds[threadIdx.x] = first;
  if (threadIdx.x == 0) bounds[windows] = stretches;
}

// --- Tasks ---------------------------------------------------------------------------------------

struct TaskLists {
  WindowTask* first;
  std::uint32_t begin[task_classes];
};

/// What is known of the rows when they have been counted.
struct RowCounts {
  const std::uint32_t* rows;  ///< of C
  const std::uint64_t* image_at;
  const std::uint32_t* entries;  ///< of rows that are counted
  std::int64_t* counts;          ///< of each row of C
};

// Thread i puts row i on the list of its class, and gives C the number of its entries where that is
// the one of a row that it is like. The last class is the parts of long rows: further
// warps divide one of those each, and lane l holds where windows l and 32 + l end.
__global__ void __launch_bounds__(kBlockThreads)
    list_tasks_kernel(std::uint32_t rows, const RowCounts counted,
                      const std::uint32_t* window_starts, std::uint32_t first_of_long,
                      WindowCounters* counters, TaskLists lists) {
  constexpr int parts = task_classes - 1;
  constexpr std::uint32_t most = class_entries(parts);
  static_assert(column_windows == 64);
  const auto row = static_cast<std::uint32_t>(global_thread());
  if (row < (rows + 31) / 32 * 32) {
    int task_class = -1;
    if (row < rows) {
      const std::uint32_t like = counted_row(counted.image_at, row);
      const std::uint32_t entries = counted.entries[like];
      if (like != row) counted.counts[counted.rows[row]] = entries;
      task_class = 0;
      while (task_class < parts && entries > class_entries(task_class)) ++task_class;
    }
    const unsigned members = __match_any_sync(all_lanes, task_class);
    if (task_class < 0 || task_class == parts) return;
    std::uint32_t place = 0;
    const int leader = __ffs(static_cast<int>(members)) - 1;
    if (static_cast<int>(threadIdx.x % 32) == leader)
      place = atomicAdd(&counters->tasks[task_class], __popc(members));
    place = __shfl_sync(members, place, leader) + __popc(members & lanes_below());
    lists.first[lists.begin[task_class] + place] = {row, 0, column_windows};
    return;
  }
  const std::uint32_t own = first_of_long + (row - (rows + 31) / 32 * 32) / 32;
  if (own >= rows) return;
  const std::uint32_t like = counted_row(counted.image_at, own);
  if (counted.entries[like] <= class_entries(parts - 1)) return;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t* const starts =
      window_starts + std::size_t{like - first_of_long} * (column_windows + 1);
  const std::uint32_t end_low = starts[lane + 1];
  const std::uint32_t end_high = starts[lane + 33];
  const auto for_each_part = [&](const auto& take) {
    std::uint32_t before = 0;
    for (int begin = 0; begin < column_windows;) {
      // Windows that end within `most` entries, and one in any case.
      int end = __popc(__ballot_sync(all_lanes, end_low - before <= most || end_low < before)) +
                __popc(__ballot_sync(all_lanes, end_high - before <= most || end_high < before));
      end = max(end, begin + 1);
      const std::uint32_t end_in_low = __shfl_sync(all_lanes, end_low, (end - 1) % 32);
      const std::uint32_t end_in_high = __shfl_sync(all_lanes, end_high, (end - 1) % 32);
      const std::uint32_t up_to = end <= 32 ? end_in_low : end_in_high;
      if (up_to != before) take(begin, end);
      before = up_to;
      begin = end;
    }
  };
  std::uint32_t found = 0;
  for_each_part([&](int, int) { ++found; });
  std::uint32_t place = 0;
  if (lane == 0) place = atomicAdd(&counters->tasks[parts], found);
  WindowTask* task = lists.first + lists.begin[parts] + place;
  for_each_part([&](int begin, int end) {
    if (lane == 0)
      *task++ = {own, static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end)};
  });
}

// One thread. `counters` may be null.
__global__ void post_counters_kernel(const WindowCounters* counters, const std::int64_t* entries,
                                     WindowCounters* posted) {
  WindowCounters found = counters != nullptr ? *counters : WindowCounters{};
  found.entries = *entries;
  *posted = found;
}

// --- Launches ------------------------------------------------------------------------------------

/// Of the kernel that counts.
/// \param room  bytes of shared memory: where a block of many warps has it, it takes what saves it
///              going through the products of a long row again, and again
WindowLayout layout_to_count(int warps, std::int64_t columns, std::size_t room) {
  const auto blocks = static_cast<std::uint32_t>((columns + 31) / 32);
  // More words than that would take an image that is large for the products of a row.
  const std::uint32_t most_of_one_level = warps < 4 ? 1280u : warps < 8 ? 2560u : 5120u;
  if (blocks <= most_of_one_level) return {0, blocks, 0};
  const std::uint32_t upper = (blocks + 31) / 32;
  const std::uint32_t capacity = warps < 8 ? most_of_one_level : 8192u;
  // The image of a row over more blocks is wider than the set of the kernel that makes the row,
  // which then has to read it twice.
  const std::uint32_t near = upper + (warps < 4 ? 320u : warps < 8 ? 640u : 1600u);
  const WindowLayout layout{upper, capacity, 0, std::min(capacity, near)};
  if (warps == 32 && blocks > layout.blocks) {
    WindowLayout all = layout;
    all.blocks = blocks;
    if (all.bytes_to_count() <= room) return all;
  }
  return layout;
}

/// Of the kernel that makes tasks of a class.
template <class Value>
WindowLayout layout_to_make(int task_class, std::int64_t columns) {
  const auto blocks = static_cast<std::uint32_t>((columns + 31) / 32);
  const std::uint32_t entries = class_entries(task_class);
  // Of larger values as many as take the room of 6144 doubles.
  const std::uint32_t sums = std::min(entries, std::uint32_t{49152 / sizeof(Value)});
  if (blocks <= (entries < 4096 ? 1280u : 2560u)) return {0, blocks, sums};
  return {(blocks + 31) / 32, std::min(entries, 3072u), sums};
}

template <int Warps, class Value>
std::size_t bytes_to_count(const WindowLayout& layout) {
  return sizeof(BlockEntries<Value, Warps>) + layout.bytes_to_count();
}

template <int Warps, class Value>
std::size_t bytes_to_make(int task_class, std::int64_t columns) {
  return sizeof(BlockEntries<Value, Warps>) +
         layout_to_make<Value>(task_class, columns).template bytes_to_make<Value>();
}

template <int Warps, class Value>
void launch_count(WindowArguments<Value> args, const RowBins& bins, int bin, KernelGroup& group) {
  if (bins.size(bin) == 0) return;
  args.layout = layout_to_count(Warps, args.columns,
                                most_bytes_of_block() - bytes_to_count<Warps, Value>({}));
  args.first_row = bins.begin[bin] - bins.begin[RowBins::sorted];
  group.launch(count_window_rows_kernel<Warps, Value>, bins.size(bin), 32 * Warps,
               bytes_to_count<Warps, Value>(args.layout), args);
}

template <int Warps, bool IsRanged, class Value>
void launch_make(WindowArguments<Value> args, const WindowRows& rows, const WindowCounters& found,
                 int task_class, KernelGroup& group) {
  if (found.tasks[task_class] == 0) return;
  args.layout = layout_to_make<Value>(task_class, args.columns);
  args.tasks = rows.tasks;
  for (int i = 0; i < task_class; ++i) args.tasks += rows.capacity[i];
  group.launch(make_window_rows_kernel<Warps, IsRanged, Value>, found.tasks[task_class], 32 * Warps,
               bytes_to_make<Warps, Value>(task_class, args.columns), args);
}

template <class Value>
WindowArguments<Value> arguments_for(const ProductOperands<Value>& operands, const RowBins& bins,
                                     const WindowRows& rows) {
  WindowArguments<Value> args{operands.a, operands.b};
  args.columns = static_cast<std::uint32_t>(operands.columns);
  args.rows = bins.rows.data() + bins.begin[RowBins::sorted];
  args.bounds = rows.bounds;
  args.first_of_long = rows.first_of_long;
  args.window_starts = rows.window_starts;
  args.image_at = rows.image_at;
  args.images = const_cast<std::uint32_t*>(rows.images.data());
  return args;
}

}  // namespace

std::size_t most_bytes_of_block() {
  int device = 0;
  int most = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  constexpr std::size_t of_kernels_themselves = 1024;
  return static_cast<std::size_t>(most) - of_kernels_themselves;
}

template <class Value>
std::size_t window_shared_memory(std::int64_t columns) {
  constexpr std::size_t no_room = 0;
  return std::max({bytes_to_count<32, Value>(layout_to_count(32, columns, no_room)),
                   bytes_to_count<8, Value>(layout_to_count(8, columns, no_room)),
                   bytes_to_make<12, Value>(5, columns), bytes_to_make<12, Value>(4, columns),
                   bytes_to_make<8, Value>(3, columns)});
}

template <class Value>
WindowRows find_window_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                            std::int64_t image_words, cudaStream_t stream) {
  WindowRows rows;
  const std::uint32_t count = bins.window_rows();
  if (count == 0) return rows;
  constexpr int first_long_bin = RowBins::count - 2;
  rows.first_of_long = bins.begin[first_long_bin] - bins.begin[RowBins::sorted];
  const std::uint32_t long_rows = count - rows.first_of_long;
  for (int i = 0; i < task_classes; ++i) rows.capacity[i] = count;
  rows.capacity[task_classes - 1] = long_rows * column_windows;
  const auto tasks = std::accumulate(rows.capacity.begin(), rows.capacity.end(), std::size_t{0});
  const auto divide = [&](std::byte* begin) {
    std::size_t end = 0;
    const auto take = [&]<class T>(T*& part, std::size_t size) {
      part = reinterpret_cast<T*>(begin + end);
      end += (size * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    };
    take(rows.counters, 1);
    take(rows.bounds, column_windows + 1);
    take(rows.counts, count);
    take(rows.window_starts, std::size_t{long_rows} * (column_windows + 1));
    take(rows.image_at, count);
    take(rows.tasks, tasks);
    return end;
  };
  rows.room = DeviceBuffer<std::byte>(divide(nullptr), stream);
  divide(rows.room.data());
  check_cuda(cudaMemsetAsync(rows.counters, 0, sizeof(WindowCounters), stream));
  rows.images = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(image_words), stream);
  if (long_rows == 0) return rows;
  find_bounds_kernel<<<1, kBoundsThreads, 0, stream>>>(
      operands.b.col_idx, operands.b_entries,
      static_cast<std::uint32_t>((operands.columns + 1023) / 1024), rows.bounds);
  check_cuda(cudaGetLastError());
  return rows;
}

template <class Value>
void count_window_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                       WindowRows& rows, std::int64_t* counts, KernelGroup& group) {
  if (bins.window_rows() == 0) return;
  WindowArguments<Value> args = arguments_for(operands, bins, rows);
  args.image_capacity = rows.images.size();
  args.counters = rows.counters;
  args.entries = rows.counts;
  args.counts = counts;
  launch_count<32>(args, bins, RowBins::sorted + 3, group);
  launch_count<8>(args, bins, RowBins::sorted + 2, group);
  launch_count<4>(args, bins, RowBins::sorted + 1, group);
  launch_count<2>(args, bins, RowBins::sorted, group);
}

void list_window_tasks(const RowBins& bins, WindowRows& rows, std::int64_t* counts,
                       cudaStream_t stream) {
  const std::uint32_t count = bins.window_rows();
  if (count == 0) return;
  TaskLists lists{rows.tasks, {}};
  for (int i = 0; i + 1 < task_classes; ++i) lists.begin[i + 1] = lists.begin[i] + rows.capacity[i];
  const std::int64_t threads = (count + 31) / 32 * 32 + (count - rows.first_of_long) * 32ll;
  list_tasks_kernel<<<blocks_for(threads), kBlockThreads, 0, stream>>>(
      count,
      RowCounts{bins.rows.data() + bins.begin[RowBins::sorted], rows.image_at, rows.counts, counts},
      rows.window_starts, rows.first_of_long, rows.counters, lists);
  check_cuda(cudaGetLastError());
}

void post_counters(const WindowRows& rows, const std::int64_t* entries, WindowCounters* posted,
                   cudaStream_t stream) {
  post_counters_kernel<<<1, 1, 0, stream>>>(rows.counters, entries, posted);
  check_cuda(cudaGetLastError());
}

template <class Value>
void make_window_rows(const ProductOperands<Value>& operands, const RowBins& bins,
                      const WindowRows& rows, const WindowCounters& found,
                      const ProductRows<Value>& c, KernelGroup& group) {
  if (bins.window_rows() == 0) return;
  WindowArguments<Value> args = arguments_for(operands, bins, rows);
  args.c_row_ptr = c.row_ptr;
  args.c_col_idx = c.col_idx;
  args.c_values = c.values;
  launch_make<12, true>(args, rows, found, 5, group);
  launch_make<12, false>(args, rows, found, 4, group);
  launch_make<8, false>(args, rows, found, 3, group);
  launch_make<8, false>(args, rows, found, 2, group);
  launch_make<4, false>(args, rows, found, 1, group);
  launch_make<2, false>(args, rows, found, 0, group);
}

#define SORTIE_INSTANTIATE(Value)                                                                  \
  template std::size_t window_shared_memory<Value>(std::int64_t);                                  \
  template WindowRows find_window_rows(const ProductOperands<Value>&, const RowBins&,              \
                                       std::int64_t, cudaStream_t);                                \
  template void count_window_rows(const ProductOperands<Value>&, const RowBins&, WindowRows&,      \
                                  std::int64_t*, KernelGroup&);                                    \
  template void make_window_rows(const ProductOperands<Value>&, const RowBins&, const WindowRows&, \
                                 const WindowCounters&, const ProductRows<Value>&, KernelGroup&);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)

}  // namespace sortie::spgemm::cuda
