// SPDX-License-Identifier: Apache-2.0

// K-mers of packed runs, on a GPU:
//
//     host     fill chunk 0 | fill chunk 1 | ...
//     bus                   | chunk 0      | chunk 1 | ...
//     GPU                                  | k-mers of chunk 0 | ...    then: sort, count
//
// A letter takes 2 bits of the bus, where its k-mer would take 64.
#include "apps/kmer_count/cuda/device_counts.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <cub/device/device_run_length_encode.cuh>

#include "apps/kmer_count/packed_runs.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::kmers {
namespace {

constexpr cudaStream_t stream = nullptr;

/// Words of a chunk: 32 MiB.
constexpr std::uint64_t chunk_words = std::uint64_t{4} << 20;
/// Cells of k-mers by their leading bits, from which passes are made.
constexpr int cell_bits = 16;

/// Words that a warp scans: one addition to a shared counter for the k-mers of all.
constexpr int warp_words = 8;
constexpr unsigned int warp_lanes = 32;

/// Writes for each word of letters how many letters of its run are left from there on, 0 for words
/// that hold a length. A thread walks from run to run of a block.
/// \param begins  of the blocks, and the end
void write_letters_left(const std::uint64_t* words, const std::uint64_t* begins,
                        std::uint64_t blocks, std::uint32_t* left) {
  const auto walk = [=] __device__(std::uint64_t block) {
    for (std::uint64_t at = begins[block]; at < begins[block + 1];) {
      std::uint64_t letters = words[at];
      left[at++] = 0;
      while (letters != 0) {
        left[at++] = static_cast<std::uint32_t>(letters);
        letters -= letters < letters_per_word ? letters : letters_per_word;
      }
    }
  };
  for_each_item<std::uint64_t>(blocks, walk, stream);
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

/// Blocks of words that are copied together, one in page-locked memory and on the device.
struct Chunk {
  PinnedBuffer<std::uint64_t> host{chunk_words};
  PinnedBuffer<std::uint64_t> host_begins;
  DeviceBuffer<std::uint64_t> words{chunk_words, stream};
  DeviceBuffer<std::uint32_t> left{chunk_words, stream};
  DeviceBuffer<std::uint64_t> begins;
  std::vector<std::uint64_t> block_begins{0};
  CudaEvent used = make_event();
};

}  // namespace

template <class Take>
void DeviceCounts::scan(const ForEachBlock& for_each_block, const Take& take) const {
  std::array<Chunk, 2> chunks;
  std::size_t number = 0;
  const auto submit = [&] {
    Chunk& chunk = chunks[number % 2];
    const std::vector<std::uint64_t>& begins = chunk.block_begins;
    const std::uint64_t size = begins.back();
    if (size == 0) return;
    if (chunk.begins.size() < begins.size()) {
      chunk.begins.reset();
      chunk.begins = DeviceBuffer<std::uint64_t>(2 * begins.size(), stream);
      chunk.host_begins = PinnedBuffer<std::uint64_t>(2 * begins.size());
    }
    std::ranges::copy(begins, chunk.host_begins.data());
    check_cuda(cudaMemcpyAsync(chunk.words.data(), chunk.host.data(), size * sizeof(std::uint64_t),
                               cudaMemcpyHostToDevice, stream));
    check_cuda(cudaMemcpyAsync(chunk.begins.data(), chunk.host_begins.data(),
                               begins.size() * sizeof(std::uint64_t), cudaMemcpyHostToDevice,
                               stream));
    write_letters_left(chunk.words.data(), chunk.begins.data(), begins.size() - 1,
                       chunk.left.data());
    scan_kernel<<<blocks_for((size + warp_words - 1) / warp_words * warp_lanes), element_threads, 0,
                  stream>>>(chunk.words.data(), chunk.left.data(), size, k_, canonical_, take);
    check_cuda(cudaGetLastError());
    check_cuda(cudaEventRecord(chunk.used.get(), stream));
    Chunk& next = chunks[++number % 2];
    check_cuda(cudaEventSynchronize(next.used.get()));
    next.block_begins.assign(1, 0);
  };
  for_each_block([&](std::span<const std::uint64_t> words) {
    if (chunks[number % 2].block_begins.back() + words.size() > chunk_words) submit();
    Chunk& chunk = chunks[number % 2];
    std::memcpy(chunk.host.data() + chunk.block_begins.back(), words.data(), words.size_bytes());
    chunk.block_begins.push_back(chunk.block_begins.back() + words.size());
  });
  submit();
  check_cuda(cudaStreamSynchronize(stream));
}

DeviceCounts::DeviceCounts(const Context& context, int k, bool canonical, std::uint64_t kmers,
                           const ForEachBlock& for_each_block)
    : context_(context), k_(k), canonical_(canonical) {
  const DeviceCall call(context_);
  const std::uint64_t budget = device_memory_budget(context_);
  constexpr std::uint64_t chunk_bytes = 2 * chunk_words * (sizeof(std::uint64_t) + sizeof(int));
  constexpr std::uint64_t item_bytes = 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t);
  // What a sort takes beside the arrays.
  constexpr std::uint64_t sort_bytes = std::uint64_t{64} << 20;
  constexpr std::uint64_t most_items = std::uint64_t{1} << 30;
  const std::uint64_t fixed = chunk_bytes + sort_bytes;
  if (budget < fixed + item_bytes) throw out_of_memory_error("counting k-mers", fixed, budget);
  const std::uint64_t items = std::min((budget - fixed) / item_bytes / 16 * 15 + 1, most_items);
  if (kmers <= items) {
    ranges_.push_back({0, ~std::uint64_t{0} >> (64 - 2 * k_), kmers});
  } else {
    plan(items, for_each_block);
  }
}

DeviceCounts::~DeviceCounts() {
  release_on_device(context_.device, [this] {
    distinct_.reset();
    counts_.reset();
  });
}

void DeviceCounts::plan(std::uint64_t most_items, const ForEachBlock& for_each_block) {
  const int shift = 2 * k_ - cell_bits;
  std::vector<unsigned long long> cells(std::size_t{1} << cell_bits);
  DeviceBuffer<unsigned long long> counts(cells, stream);
  scan(for_each_block, CellCounter{counts.data(), shift});
  counts.copy_to(cells);
  check_cuda(cudaStreamSynchronize(stream));
  KmerRange range;
  for (std::uint64_t cell = 0; cell < cells.size(); ++cell) {
    if (cells[cell] > most_items)
      throw out_of_memory_error("counting k-mers with the same first letters on the device",
                                cells[cell] * 20, most_items * 20);
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

std::uint64_t DeviceCounts::count(std::size_t pass, const ForEachBlock& for_each_block) {
  const DeviceCall call(context_);
  const KmerRange& range = ranges_[pass];
  distinct_.reset();
  counts_.reset();
  if (range.most_items == 0) return 0;
  DeviceBuffer<std::uint64_t> kmers(range.most_items, stream);
  DeviceBuffer<std::uint64_t> other(range.most_items, stream);
  DeviceBuffer<unsigned long long> size(std::vector<unsigned long long>(1), stream);
  PhaseTimer copying(context_, "k-mers");
  scan(for_each_block,
       KmerAppender{kmers.data(), size.data(), range.first, range.last - range.first});
  std::vector<unsigned long long> items(1);
  size.copy_to(items);
  check_cuda(cudaStreamSynchronize(stream));
  copying.stop();
  if (items[0] == 0) return 0;

  const PhaseTimer sorting(context_, "sort");
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
  distinct_ = buffers.other_keys == kmers.data() ? std::move(kmers) : std::move(other);
  size.copy_to(items);
  check_cuda(cudaStreamSynchronize(stream));
  return items[0];
}

void DeviceCounts::copy(std::uint64_t first, std::span<std::uint64_t> kmers,
                        std::span<std::uint32_t> counts, cudaStream_t copies) const {
  check_cuda(cudaMemcpyAsync(kmers.data(), distinct_.data() + first, kmers.size_bytes(),
                             cudaMemcpyDeviceToHost, copies));
  check_cuda(cudaMemcpyAsync(counts.data(), counts_.data() + first, counts.size_bytes(),
                             cudaMemcpyDeviceToHost, copies));
  check_cuda(cudaStreamSynchronize(copies));
}

}  // namespace sortie::kmers
