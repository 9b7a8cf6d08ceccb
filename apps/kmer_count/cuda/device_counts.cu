// SPDX-License-Identifier: Apache-2.0

// K-mers of packed runs, on a GPU:
//
//     threads, bus   blocks of chunk 0 | blocks of chunk 1 | ...
//     GPU                              | k-mers of chunk 0 | ...    then: sort, count, keep
//
// A letter takes 2 bits of the bus, where its k-mer would take 64.
#include "apps/kmer_count/cuda/device_counts.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <algorithm>
#include <array>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>
#include <iterator>

#include "apps/kmer_count/packed_runs.hpp"
#include "core/cuda/block_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/transfer_blocks.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::kmers {
namespace {

constexpr cudaStream_t stream = nullptr;

/// Words of a chunk: 32 MiB. A block, which is of a piece of a file of 1 MiB, has far fewer.
constexpr std::uint64_t chunk_words = std::uint64_t{4} << 20;
/// Words of runs after which another thread of the GPU continues: write_letters_left() takes the
/// time of as many loads that wait for each other as there are runs.
constexpr std::uint64_t walk_words = 512;
/// Cells of k-mers by their leading bits, from which passes are made.
constexpr int cell_bits = 16;

/// Words that a warp scans: one addition to a shared counter for the k-mers of all.
constexpr int warp_words = 8;
constexpr unsigned int warp_lanes = 32;

/// Writes for each word of letters how many letters of its run are left from there on, 0 for words
/// that hold a length. A thread walks from run to run of a walk.
/// \param begins  of the walks, and the end
void write_letters_left(const std::uint64_t* words, const std::uint64_t* begins,
                        std::uint64_t walks, std::uint32_t* left) {
  const auto walk = [=] __device__(std::uint64_t number) {
    for (std::uint64_t at = begins[number]; at < begins[number + 1];) {
      std::uint64_t letters = words[at];
      left[at++] = 0;
      while (letters != 0) {
        left[at++] = static_cast<std::uint32_t>(letters);
        letters -= letters < letters_per_word ? letters : letters_per_word;
      }
    }
  };
  for_each_item<std::uint64_t>(walks, walk, stream);
}

/// Calls take(kmers, has) on all lanes of a warp, which has `warp_words` words: lane l has for each
/// the k-mer from letter l of the word on, if has[i]. A k-mer lies in two words at most:
///
///     word w    | 31 ... l+1 l ... 1 0 |     letter 0 at the lowest bits
///     word w+1               | ... 1 0 |
template <class Take>
__global__ void __launch_bounds__(element_threads)
    scan_kernel(const std::uint64_t* words, const std::uint32_t* left, std::uint64_t size, int k,
                bool canonical, Take take) {
  const std::uint64_t warp = static_cast<std::uint64_t>(global_thread()) / warp_lanes;
  const int lane = static_cast<int>(threadIdx.x % warp_lanes);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 2 * k);
  std::uint64_t kmers[warp_words];
  bool has[warp_words];
  for (int i = 0; i < warp_words; ++i) {
    const std::uint64_t w = warp * warp_words + static_cast<unsigned>(i);
    const std::int64_t starts = w < size ? static_cast<std::int64_t>(left[w]) - k + 1 : 0;
    has[i] = lane < starts;
    if (!has[i]) continue;
    std::uint64_t letters = words[w] >> (2 * lane);
    if (lane + k > static_cast<int>(letters_per_word)) letters |= words[w + 1] << (64 - 2 * lane);
    letters &= mask;
    const std::uint64_t bits = __brevll(letters);
    const std::uint64_t pairs = (bits >> 1 & 0x5555555555555555) | (bits & 0x5555555555555555) << 1;
    const std::uint64_t forward = pairs >> (64 - 2 * k);
    const std::uint64_t reverse = ~letters & mask;  // the last letter is at the highest bits
    kmers[i] = canonical && reverse < forward ? reverse : forward;
  }
  take(kmers, has);
}

/// Counts k-mers by their leading bits.
struct CellCounter {
  unsigned long long* counts;
  int shift;

  __device__ void operator()(const std::uint64_t (&kmers)[warp_words],
                             const bool (&has)[warp_words]) const {
    for (int i = 0; i < warp_words; ++i)
      if (has[i]) atomicAdd(counts + (kmers[i] >> shift), 1ULL);
  }
};

/// Appends the k-mers of a range, in no order.
struct KmerAppender {
  std::uint64_t* to;
  unsigned long long* size;
  std::uint64_t first;
  std::uint64_t range;  ///< greatest difference from `first`

  __device__ void operator()(const std::uint64_t (&kmers)[warp_words],
                             const bool (&has)[warp_words]) const {
    constexpr unsigned int all = 0xffffffff;
    const unsigned int below = (1U << threadIdx.x % warp_lanes) - 1;
    unsigned int lanes[warp_words];
    int count = 0;
    for (int i = 0; i < warp_words; ++i) {
      lanes[i] = __ballot_sync(all, has[i] && kmers[i] - first <= range);
      count += __popc(lanes[i]);
    }
    unsigned long long at = 0;
    if (below == 0 && count != 0) at = atomicAdd(size, static_cast<unsigned long long>(count));
    at = __shfl_sync(all, at, 0);
    for (int i = 0; i < warp_words; ++i) {
      if ((lanes[i] & (below + 1)) != 0)
        to[at + static_cast<unsigned>(__popc(lanes[i] & below))] = kmers[i];
      at += static_cast<unsigned>(__popc(lanes[i]));
    }
  }
};

/// Blocks of words that are scanned together.
struct Chunk {
  DeviceBuffer<std::uint64_t> words{chunk_words, stream};
  DeviceBuffer<std::uint32_t> left{chunk_words, stream};
  DeviceBuffer<std::uint64_t> begins;
  std::vector<std::uint64_t> host_begins;
  CudaEvent used = make_event();
};

/// Appends the begins of walks over the runs of a block.
/// \param first  number of the block's first word in the chunk
void append_walks(std::span<const std::uint64_t> words, std::uint64_t first,
                  std::vector<std::uint64_t>& begins) {
  std::uint64_t next = 0;
  for (std::uint64_t at = 0; at < words.size();
       at += 1 + (words[at] + letters_per_word - 1) / letters_per_word) {
    if (at < next) continue;
    begins.push_back(first + at);
    next = at + walk_words;
  }
}

/// Counts below have counters in shared memory.
constexpr std::uint32_t small_counts = 4096;

/// Adds counts out of range to a histogram. A block of threads has counters of its own for small
/// counts; large counts, of which there are few, are listed.
__global__ void __launch_bounds__(element_threads)
    histogram_kernel(const std::uint32_t* counts, std::uint64_t size, std::uint32_t least,
                     std::uint32_t most, unsigned long long* small, std::uint32_t* large,
                     unsigned long long* large_size) {
  __shared__ unsigned int mine[small_counts];
  for (unsigned int i = threadIdx.x; i < small_counts; i += element_threads) mine[i] = 0;
  __syncthreads();
  const std::uint64_t step = std::uint64_t{gridDim.x} * element_threads;
  for (auto i = static_cast<std::uint64_t>(global_thread()); i < size; i += step) {
    const std::uint32_t count = counts[i];
    if (count >= least && count <= most) continue;
    if (count < small_counts) {
      atomicAdd(mine + count, 1U);
    } else {
      large[atomicAdd(large_size, 1ULL)] = count;
    }
  }
  __syncthreads();
  for (unsigned int i = threadIdx.x; i < small_counts; i += element_threads)
    if (mine[i] != 0) atomicAdd(small + i, static_cast<unsigned long long>(mine[i]));
}

struct IsKept {
  const std::uint32_t* counts;
  std::uint32_t least;
  std::uint32_t most;

  __device__ bool operator()(std::uint32_t i) const {
    return counts[i] >= least && counts[i] <= most;
  }
};

/// Stores the selected k-mers.
/// \param selected  numbers of the k-mers, which their counts replace
void gather(const std::uint64_t* kmers, const std::uint32_t* counts, std::uint64_t size,
            std::uint64_t* to, std::uint32_t* selected) {
  const auto store = [=] __device__(std::uint64_t i) {
    const std::uint32_t from = selected[i];
    to[i] = kmers[from];
    selected[i] = counts[from];
  };
  for_each_item<std::uint64_t>(size, store, stream);
}

/// A bound of counts, which have 32 bits here.
std::uint32_t short_bound(std::uint64_t bound) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bound, ~std::uint32_t{0}));
}

}  // namespace

template <class Take>
void DeviceCounts::scan(const Take& take) const {
  std::array<Chunk, 2> chunks;
  TransferBlocks transfers(
      transfer_threads(chunk_words * sizeof(std::uint64_t), threads_, BesideTransfer::waits));
  transfers.wait_for(stream);
  const auto workers = static_cast<int>(transfers.size());
  std::vector<std::vector<std::uint64_t>> buffers(transfers.size());
  std::size_t number = 0;
  for (std::size_t first = 0; first < runs_.size(); ++number) {
    Chunk& chunk = chunks[number % 2];
    std::vector<std::uint64_t> places(1);
    std::size_t end = first;
    for (; end < runs_.size() && places.back() + runs_.words_of(end) <= chunk_words; ++end)
      places.push_back(places.back() + runs_.words_of(end));
    std::vector<std::vector<std::uint64_t>> walks(end - first);
    check_cuda(cudaEventSynchronize(chunk.used.get()));
    BlockSteps steps;
    steps.take = [&](int, std::uint64_t block) { return block < end - first; };
    steps.work = [&](int worker, std::uint64_t block) {
      const std::span<const std::uint64_t> words =
          runs_.load(first + block, buffers[static_cast<std::size_t>(worker)]);
      append_walks(words, places[block], walks[block]);
      // The copy only reads them.
      const BlockTransfer array{reinterpret_cast<std::byte*>(chunk.words.data() + places[block]),
                                const_cast<std::byte*>(std::as_bytes(words).data()),
                                words.size_bytes(), cudaMemcpyHostToDevice};
      for (std::uint64_t part = 0; part < array.blocks(); ++part)
        transfers.copy(worker, array, part);
    };
    run_blocks(workers, steps);
    chunk.host_begins.clear();
    for (const std::vector<std::uint64_t>& begins : walks)
      chunk.host_begins.insert(chunk.host_begins.end(), begins.begin(), begins.end());
    chunk.host_begins.push_back(places.back());
    const std::uint64_t begins = chunk.host_begins.size();
    if (chunk.begins.size() < begins) {
      chunk.begins.reset();
      chunk.begins = DeviceBuffer<std::uint64_t>(2 * begins, stream);
    }
    check_cuda(cudaMemcpyAsync(chunk.begins.data(), chunk.host_begins.data(),
                               begins * sizeof(std::uint64_t), cudaMemcpyHostToDevice, stream));
    write_letters_left(chunk.words.data(), chunk.begins.data(), begins - 1, chunk.left.data());
    const std::uint64_t size = places.back();
    scan_kernel<<<blocks_for((size + warp_words - 1) / warp_words * warp_lanes), element_threads, 0,
                  stream>>>(chunk.words.data(), chunk.left.data(), size, k_, canonical_, take);
    check_cuda(cudaGetLastError());
    check_cuda(cudaEventRecord(chunk.used.get(), stream));
    first = end;
  }
  check_cuda(cudaStreamSynchronize(stream));
}

DeviceCounts::DeviceCounts(const Context& context, int k, bool canonical, std::uint64_t kmers,
                           const RunBlocks& runs)
    : context_(context), threads_(threads_of(context)), k_(k), canonical_(canonical), runs_(runs) {
  const DeviceCall call(context_);
  const std::uint64_t budget = device_memory_budget(context_);
  constexpr std::uint64_t chunk_bytes = 2 * chunk_words * (sizeof(std::uint64_t) + sizeof(int));
  constexpr std::uint64_t item_bytes = 2 * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t);
  // What a sort takes beside the arrays.
  constexpr std::uint64_t sort_bytes = std::uint64_t{64} << 20;
  constexpr std::uint64_t most_items = std::uint64_t{1} << 30;
  const std::uint64_t fixed = chunk_bytes + sort_bytes;
  if (budget < fixed + item_bytes) throw out_of_memory_error("counting k-mers", fixed, budget);
  const std::uint64_t items = std::min((budget - fixed) / item_bytes / 16 * 15 + 1, most_items);
  if (kmers <= items) {
    ranges_.push_back({0, ~std::uint64_t{0} >> (64 - 2 * k_), kmers});
  } else {
    plan(items);
  }
}

DeviceCounts::~DeviceCounts() {
  release_on_device(context_.device, [this] {
    distinct_.reset();
    counts_.reset();
  });
}

void DeviceCounts::plan(std::uint64_t most_items) {
  const int shift = 2 * k_ - cell_bits;
  std::vector<unsigned long long> cells(std::size_t{1} << cell_bits);
  DeviceBuffer<unsigned long long> counts(cells, stream);
  scan(CellCounter{counts.data(), shift});
  counts.copy_to(cells);
  check_cuda(cudaStreamSynchronize(stream));
  KmerRange range;
  for (std::uint64_t cell = 0; cell < cells.size(); ++cell) {
    if (cells[cell] > most_items)
      throw out_of_memory_error("counting k-mers with the same first letters on the device",
                                cells[cell] * 24, most_items * 24);
    if (range.most_items + cells[cell] > most_items) {
      ranges_.push_back(range);
      range = {cell << shift, 0, 0};
    }
    range.last = ((cell + 1) << shift) - 1;
    range.most_items += cells[cell];
  }
  range.last = ~std::uint64_t{0} >> (64 - 2 * k_);
  ranges_.push_back(range);
}

std::uint64_t DeviceCounts::count(std::size_t pass, CountRange kept, CountHistogram& left_out) {
  const DeviceCall call(context_);
  const KmerRange& range = ranges_[pass];
  distinct_.reset();
  counts_.reset();
  if (range.most_items == 0) return 0;
  DeviceBuffer<std::uint64_t> kmers(range.most_items, stream);
  DeviceBuffer<std::uint64_t> other(range.most_items, stream);
  DeviceBuffer<unsigned long long> size(std::vector<unsigned long long>(1), stream);
  PhaseTimer copying(context_, "k-mers");
  scan(KmerAppender{kmers.data(), size.data(), range.first, range.last - range.first});
  std::vector<unsigned long long> items(1);
  size.copy_to(items);
  check_cuda(cudaStreamSynchronize(stream));
  copying.stop();
  if (items[0] == 0) return 0;

  PhaseTimer sorting(context_, "sort");
  RadixBuffers buffers{kmers.data(), other.data(), nullptr, nullptr};
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return device_radix_sort(scratch, bytes, buffers, items[0], sizeof(std::uint64_t), 0, 0, 2 * k_,
                             stream);
  });
  counts_ = DeviceBuffer<std::uint32_t>(items[0], stream);
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(
        scratch, bytes, static_cast<const std::uint64_t*>(buffers.keys),
        static_cast<std::uint64_t*>(buffers.other_keys), counts_.data(), size.data(),
        static_cast<std::int64_t>(items[0]), stream);
  });
  size.copy_to(items);
  check_cuda(cudaStreamSynchronize(stream));
  sorting.stop();
  const bool is_other = buffers.other_keys != kmers.data();
  distinct_ = std::move(is_other ? other : kmers);
  if (kept.least <= 1 && kept.most >= range.most_items) return items[0];
  const PhaseTimer keeping(context_, "keep");
  return keep(items[0], kept, std::move(is_other ? kmers : other), left_out);
}

/// Replaces the distinct k-mers and their counts by those whose counts are in range.
/// \param unused  memory for all of them
std::uint64_t DeviceCounts::keep(std::uint64_t distinct, CountRange kept,
                                 DeviceBuffer<std::uint64_t> unused, CountHistogram& left_out) {
  const std::uint32_t least = short_bound(kept.least);
  const std::uint32_t most = kept.least > ~std::uint32_t{0} ? 0 : short_bound(kept.most);
  // The k-mers of a pass are at most as many as items; each large count stands for many.
  const std::uint64_t most_large = counts_.size() / small_counts + 1;
  DeviceBuffer<unsigned long long> small(std::vector<unsigned long long>(small_counts + 1), stream);
  DeviceBuffer<std::uint32_t> large(most_large, stream);
  constexpr std::uint64_t histogram_blocks = 1024;
  const auto blocks = static_cast<unsigned int>(std::min<std::uint64_t>(
      histogram_blocks, (distinct + element_threads - 1) / element_threads));
  histogram_kernel<<<blocks, element_threads, 0, stream>>>(counts_.data(), distinct, least, most,
                                                           small.data(), large.data(),
                                                           small.data() + small_counts);
  check_cuda(cudaGetLastError());
  std::vector<unsigned long long> numbers(small_counts + 1);
  small.copy_to(numbers);
  check_cuda(cudaStreamSynchronize(stream));
  std::uint64_t left = numbers[small_counts];
  std::vector<std::uint32_t> large_counts(left);
  large.copy_to(large_counts);
  check_cuda(cudaStreamSynchronize(stream));
  for (std::uint32_t count = 1; count < small_counts; ++count) {
    left += numbers[count];
    if (numbers[count] != 0) left_out.emplace_back(count, numbers[count]);
  }
  for (const std::uint32_t count : large_counts) left_out.emplace_back(count, 1);
  const std::uint64_t items = distinct - left;
  if (items == 0) return 0;

  // Numbers of the kept ones, then the k-mers and counts in their place.
  DeviceBuffer<std::uint32_t> selected(items, stream);
  DeviceBuffer<std::uint64_t> found(1, stream);
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0),
                                 selected.data(), found.data(), static_cast<std::int64_t>(distinct),
                                 IsKept{counts_.data(), least, most}, stream);
  });
  gather(distinct_.data(), counts_.data(), items, unused.data(), selected.data());
  check_cuda(cudaStreamSynchronize(stream));
  distinct_ = std::move(unused);
  counts_ = std::move(selected);
  return items;
}

void DeviceCounts::copy(std::uint64_t first, std::span<std::uint64_t> kmers,
                        std::span<std::uint32_t> counts) const {
  const DeviceCall call(context_);
  copy_to_host_in_blocks(std::as_writable_bytes(kmers), distinct_.data() + first, stream, threads_);
  copy_to_host_in_blocks(std::as_writable_bytes(counts), counts_.data() + first, stream, threads_);
}

}  // namespace sortie::kmers
