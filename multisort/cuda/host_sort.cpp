// SPDX-License-Identifier: Apache-2.0

// Sorts host memory on GPUs: shares are copied in, sorted as chunks, and copied back. With the
// radix sort and page-locked memory, copies overlap with the counting and with the sort of the
// buckets.

#include <cstddef>
#include <map>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/device_scope.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "multisort/backends.hpp"
#include "multisort/cuda/chunk_sort.hpp"
#include "multisort/cuda/chunked_sort.hpp"
#include "multisort/cuda/exchange/host_link.hpp"
#include "multisort/cuda/radix/radix_sort.hpp"
#include "primitives/host/shares.hpp"
#include "sortie/device_buffer.hpp"

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
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const CurrentDevice current = group_.current(d);
      keys_.emplace_back(sizes_[d] * request_.key_size(), group_.stream(d));
      values_.emplace_back(sizes_[d] * request_.value_size(), group_.stream(d));
      chunks_.chunks.push_back({keys_[d].data(), values_[d].data(), sizes_[d], group_.ordinal(d)});
    }
    group_.synchronise();
  }

  void run() {
    const bool locked = is_page_locked(request_.keys) &&
                        (request_.value_size() == 0 || is_page_locked(request_.values));
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
  [[nodiscard]] int threads() const {
    return context_.threads > 0 ? context_.threads : default_host_threads();
  }

  [[nodiscard]] std::vector<HostCopy> copies() {
    std::vector<HostCopy> all;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      all.push_back({d, keys_[d].data(), on_host(request_.keys, begins_[d] * request_.key_size()),
                     sizes_[d] * request_.key_size()});
      if (request_.value_size() != 0)
        all.push_back({d, values_[d].data(),
                       on_host(request_.values, begins_[d] * request_.value_size()),
                       sizes_[d] * request_.value_size()});
    }
    return all;
  }

  static std::byte* on_host(void* array, std::uint64_t byte) {
    return static_cast<std::byte*>(array) + byte;
  }

  void run_overlapping() {
    RadixSortHooks hooks;
    hooks.parts = parts_per_share;
    hooks.copy_in = [&](const RadixSortHooks::CountUpTo& count) { copy_in(count); };
    hooks.sorted = [&](std::size_t device, std::uint64_t begin, std::uint64_t end) {
      const CurrentDevice current = group_.current(device);
      group_.wait(group_.stream_out(device), device, group_.stream(device));
      copy_to_host(request_.keys, keys_[device], request_.key_size(), device, begin, end);
      if (request_.value_size() != 0)
        copy_to_host(request_.values, values_[device], request_.value_size(), device, begin, end);
    };
    radix_sort_chunks(context_, group_, chunks_, hooks);
  }

  /// Copies the keys in, counting each part after its copy, and then the values.
  void copy_in(const RadixSortHooks::CountUpTo& count) {
    for (std::uint64_t part = 0; part < parts_per_share; ++part) {
      for (std::size_t d = 0; d < group_.size(); ++d) {
        const std::uint64_t begin = sizes_[d] * part / parts_per_share;
        const std::uint64_t end = sizes_[d] * (part + 1) / parts_per_share;
        copy_to_device(request_.keys, keys_[d], request_.key_size(), d, begin, end);
        count(d, end);
      }
    }
    if (request_.value_size() == 0) return;
    for (std::size_t d = 0; d < group_.size(); ++d)
      copy_to_device(request_.values, values_[d], request_.value_size(), d, 0, sizes_[d]);
  }

  void copy_to_device(void* host, DeviceBuffer<std::byte>& buffer, std::uint64_t item,
                      std::size_t device, std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    const CurrentDevice current = group_.current(device);
    check_cuda(cudaMemcpyAsync(
        buffer.data() + begin * item, on_host(host, (begins_[device] + begin) * item),
        (end - begin) * item, cudaMemcpyHostToDevice, group_.stream_in(device)));
    group_.wait(group_.stream(device), device, group_.stream_in(device));
  }

  void copy_to_host(void* host, const DeviceBuffer<std::byte>& buffer, std::uint64_t item,
                    std::size_t device, std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    check_cuda(cudaMemcpyAsync(on_host(host, (begins_[device] + begin) * item),
                               buffer.data() + begin * item, (end - begin) * item,
                               cudaMemcpyDeviceToHost, group_.stream_out(device)));
  }

  const Context& context_;
  const DeviceGroup& group_;
  const Request& request_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint64_t> begins_;
  ChunkRequest chunks_;
  std::vector<DeviceBuffer<std::byte>> keys_;
  std::vector<DeviceBuffer<std::byte>> values_;
};

/// Whether the GPUs hold all shares and the work space of the radix sort.
bool fits(const Context& context, const std::vector<int>& ordinals, const Request& request) {
  const std::uint64_t share = (request.num_items - 1) / ordinals.size() + 1;
  std::map<int, std::uint64_t> devices_of_gpu;
  for (const int ordinal : ordinals) ++devices_of_gpu[ordinal];
  for (const auto& [ordinal, devices] : devices_of_gpu) {
    const CurrentDevice current(ordinal);
    const std::uint64_t wanted =
        devices * radix_sort_bytes(share, key_bytes(request.key_type) + request.value_bytes);
    if (wanted > device_memory_budget(context)) return false;
  }
  return true;
}

}  // namespace

void sort_on_cuda(const Context& context, const Request& request) {
  const std::vector<int> ordinals = spread_over_gpus(context, request.options.devices);
  const SortAlgorithm algorithm = request.options.algorithm;
  if (request.num_items == 0) return;
  const Algorithm* const other = registered_algorithm(algorithm);
  if (other != nullptr && other->sort_host != nullptr)
    return other->sort_host(context, ordinals, request);
  const bool is_radix = algorithm == SortAlgorithm::automatic || algorithm == SortAlgorithm::radix;
  if (is_radix && !fits(context, ordinals, request))
    return sort_twice_in_chunks(context, ordinals, request);
  static_cast<void>(chunk_sort(algorithm));  // throws before anything is copied
  const DeviceGroup group(ordinals, request.options.transport);
  HostSort(context, group, request).run();
}

}  // namespace sortie::multisort
