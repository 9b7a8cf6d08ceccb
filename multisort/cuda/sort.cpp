// SPDX-License-Identifier: Apache-2.0

// The array sort on GPUs: of chunks in their memory, and of host memory, whose shares are copied in,
// sorted as chunks, and copied back. With the radix sort and page-locked memory, copies overlap with
// the counting and with the sort of the buckets.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "multisort/backends.hpp"
#include "multisort/cuda/chunk_sort.hpp"
#include "multisort/cuda/chunked_sort.hpp"
#include "multisort/cuda/exchange/host_link.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/payload.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

namespace {

/// Number of parts in which a share is copied in and out.
constexpr std::uint64_t parts_per_share = 16;

/// Host memory that is sorted as chunks on the devices of a group.
class HostSort {
 public:
  HostSort(const Context& context, const DeviceGroup& group, const Request& request)
      : context_(context),
        group_(group),
        request_(request),
        sizes_(EqualShares{request.num_items, group.size()}.sizes()),
        begins_(begins_of(sizes_)),
        chunks_{{}, request.key_type, request.value_bytes, request.options} {
    arrays_.push_back({static_cast<std::byte*>(request.keys), request.key_size(), {}});
    if (request.value_bytes != 0)
      arrays_.push_back({static_cast<std::byte*>(request.values), request.value_size(), {}});
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const CurrentDevice current = group_.current(d);
      for (Array& array : arrays_)
        array.chunks.emplace_back(sizes_[d] * array.item_bytes, group_.stream(d));
      chunks_.chunks.push_back(
          {arrays_.front().chunks[d].data(),
           request.value_bytes == 0 ? nullptr : arrays_.back().chunks[d].data(), sizes_[d],
           group_.ordinal(d)});
    }
    group_.synchronise();
  }

  void run() {
    const bool locked = std::all_of(arrays_.begin(), arrays_.end(),
                                    [](const Array& array) { return is_page_locked(array.host); });
    const SortAlgorithm algorithm = request_.options.algorithm;
    if (locked && (algorithm == SortAlgorithm::radix || algorithm == SortAlgorithm::automatic)) {
      run_overlapping();
      return;
    }
    const ChunkSort sort = chunk_sort(algorithm);
    PhaseTimer copy_in(context_, "copy in", request_.bytes());
    copy_by_threads(group_, copies(), true, threads());
    copy_in.stop();
    sort(context_, group_, chunks_);
    const PhaseTimer copy_out(context_, "copy out", request_.bytes());
    copy_by_threads(group_, copies(), false, threads());
  }

 private:
  /// In host memory, and a chunk of it on each device.
  struct Array {
    std::byte* host = nullptr;
    std::uint64_t item_bytes = 0;
    std::vector<DeviceBuffer<std::byte>> chunks;
  };

  [[nodiscard]] int threads() const {
    return context_.threads > 0 ? context_.threads : default_host_threads();
  }

  [[nodiscard]] std::vector<HostCopy> copies() {
    std::vector<HostCopy> all;
    for (Array& array : arrays_)
      for (std::size_t d = 0; d < group_.size(); ++d)
        all.push_back({d, array.chunks[d].data(), array.host + begins_[d] * array.item_bytes,
                       sizes_[d] * array.item_bytes});
    return all;
  }

  void run_overlapping() {
    RadixSortHooks hooks;
    hooks.parts = parts_per_share;
    hooks.copy_in = [&](const RadixSortHooks::CountUpTo& count) { copy_in(count); };
    hooks.sorted = [&](std::size_t device, std::uint64_t begin, std::uint64_t end) {
      const CurrentDevice current = group_.current(device);
      group_.wait(group_.stream_out(device), device, group_.stream(device));
      for (Array& array : arrays_) copy(array, device, begin, end, false);
    };
    radix_sort_chunks(context_, group_, chunks_, hooks);
  }

  /// Copies the keys in, counting each part after its copy, and then the values.
  void copy_in(const RadixSortHooks::CountUpTo& count) {
    for (std::uint64_t part = 0; part < parts_per_share; ++part) {
      for (std::size_t d = 0; d < group_.size(); ++d) {
        const std::uint64_t begin = sizes_[d] * part / parts_per_share;
        const std::uint64_t end = sizes_[d] * (part + 1) / parts_per_share;
        copy(arrays_.front(), d, begin, end, true);
        count(d, end);
      }
    }
    for (std::size_t a = 1; a < arrays_.size(); ++a)
      for (std::size_t d = 0; d < group_.size(); ++d) copy(arrays_[a], d, 0, sizes_[d], true);
  }

  /// Copies items [begin, end) of a chunk from or to the host.
  void copy(Array& array, std::size_t device, std::uint64_t begin, std::uint64_t end,
            bool to_device) {
    if (begin == end) return;
    std::byte* const on_device = array.chunks[device].data() + begin * array.item_bytes;
    std::byte* const on_host = array.host + (begins_[device] + begin) * array.item_bytes;
    const std::uint64_t bytes = (end - begin) * array.item_bytes;
    const CurrentDevice current = group_.current(device);
    if (to_device) {
      const cudaStream_t in = group_.stream_in(device);
      check_cuda(cudaMemcpyAsync(on_device, on_host, bytes, cudaMemcpyHostToDevice, in));
      group_.wait(group_.stream(device), device, in);
    } else {
      check_cuda(cudaMemcpyAsync(on_host, on_device, bytes, cudaMemcpyDeviceToHost,
                                 group_.stream_out(device)));
    }
  }

  const Context& context_;
  const DeviceGroup& group_;
  const Request& request_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint64_t> begins_;
  ChunkRequest chunks_;
  std::vector<Array> arrays_;  ///< the keys, and the values if there are any
};

}  // namespace

void sort_on_cuda(const Context& context, const Request& request) {
  const std::vector<int> ordinals = spread_over_gpus(context, request.options.devices);
  const SortAlgorithm algorithm = request.options.algorithm;
  if (request.num_items == 0) return;
  const Algorithm* const other = registered_algorithm(algorithm);
  if (other != nullptr && other->sort_host != nullptr)
    return other->sort_host(context, ordinals, request);
  const bool is_radix = algorithm == SortAlgorithm::automatic || algorithm == SortAlgorithm::radix;
  const std::uint64_t share = (request.num_items - 1) / ordinals.size() + 1;
  if (is_radix && radix_sort_bytes(share, key_bytes(request.key_type) + request.value_bytes) >
                      budget_of_device(context, ordinals))
    return sort_twice_in_chunks(context, ordinals, request);
  static_cast<void>(chunk_sort(algorithm));  // throws before anything is copied
  const DeviceGroup group(ordinals, request.options.transport);
  HostSort(context, group, request).run();
}

ChunkSort chunk_sort(SortAlgorithm algorithm) {
  if (algorithm == SortAlgorithm::automatic || algorithm == SortAlgorithm::radix)
    return [](const Context& context, const DeviceGroup& group, const ChunkRequest& request) {
      radix_sort_chunks(context, group, request);
    };
  if (algorithm == SortAlgorithm::merge) return merge_sort_chunks;
  const Algorithm* const other = registered_algorithm(algorithm);
  if (other != nullptr && other->sort_chunks != nullptr) return other->sort_chunks;
  throw Error(ErrorKind::usage,
              fmt::format("sort: found algorithm {}, expected one that sorts chunks in GPU memory",
                          name(algorithm)));
}

// Not inline: a source that sees the definition of merge_sort_typed() as well would compile the
// kernels of all widths.
void merge_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request) {
  with_key_word(key_bytes(request.key_type), [&]<class Word>(Word) {
    with_value_bytes(request.value_bytes, [&]<class Value>(Value) {
      merge_sort_typed<Word, Value>(context, group, request);
    });
  });
}

std::span<const SortAlgorithm> cuda_sort_algorithms() {
  static constexpr std::array algorithms = {SortAlgorithm::radix, SortAlgorithm::merge};
  return algorithms;
}

void sort_chunks(const Context& context, const ChunkRequest& request) {
  check_chunks(context, request);
  if (request.chunks.empty()) return;
  report_progress(context, "sort", 0, request.num_items());
  std::vector<int> ordinals;
  for (const DeviceChunk& chunk : request.chunks) ordinals.push_back(chunk.device);
  const DeviceGroup group(ordinals, request.options.transport);
  chunk_sort(request.options.algorithm)(context, group, request);
  report_progress(context, "sort", request.num_items(), request.num_items());
}

}  // namespace sortie::multisort
