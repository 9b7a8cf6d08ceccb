// The sort of host memory on GPUs: shares are copied in, sorted as chunks, and copied back; the
// copies overlap with the counting before and the sorting of buckets behind, as far as the
// algorithm and the memory allow.

#include <cstddef>
#include <map>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/multisort/cuda/backend.hpp"
#include "sortie/multisort/cuda/chunk_sort.hpp"
#include "sortie/multisort/cuda/het_sort.hpp"
#include "sortie/multisort/cuda/host_link.hpp"
#include "sortie/multisort/cuda/radix_sort.hpp"
#include "sortie/multisort/plan/shares.hpp"

namespace sortie::multisort {

namespace {

/// Pieces that a share comes in, and goes back in.
constexpr std::uint64_t pieces_of_share = 16;

/// Host memory that is sorted as chunks on the devices of a group.
class HostSort {
 public:
  HostSort(const Context& context, const DeviceGroup& group, const Request& request)
      : context_(context),
        group_(group),
        request_(request),
        sizes_(plan::equal_shares(request.num_items, group.size())),
        begins_(plan::begins_of(sizes_)),
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

  static void* on_host(void* array, std::uint64_t byte) {
    return static_cast<std::byte*>(array) + byte;
  }

  void run_overlapping() {
    RadixSortHooks hooks;
    hooks.parts = pieces_of_share;
    hooks.bring = [&](const RadixSortHooks::CountUpTo& count) { bring(count); };
    hooks.sorted = [&](std::size_t device, std::uint64_t begin, std::uint64_t end) {
      const CurrentDevice current = group_.current(device);
      group_.wait(group_.stream_out(device), device, group_.stream(device));
      take(request_.keys, keys_[device], request_.key_size(), device, begin, end);
      if (request_.value_size() != 0)
        take(request_.values, values_[device], request_.value_size(), device, begin, end);
    };
    radix_sort_chunks(context_, group_, chunks_, hooks);
  }

  /// Brings the keys, each piece counted behind its copy, and then the values.
  void bring(const RadixSortHooks::CountUpTo& count) {
    for (std::uint64_t piece = 0; piece < pieces_of_share; ++piece) {
      for (std::size_t d = 0; d < group_.size(); ++d) {
        const std::uint64_t begin = sizes_[d] * piece / pieces_of_share;
        const std::uint64_t end = sizes_[d] * (piece + 1) / pieces_of_share;
        give(request_.keys, keys_[d], request_.key_size(), d, begin, end);
        count(d, end);
      }
    }
    if (request_.value_size() == 0) return;
    for (std::size_t d = 0; d < group_.size(); ++d)
      give(request_.values, values_[d], request_.value_size(), d, 0, sizes_[d]);
  }

  void give(void* host, DeviceBuffer<std::byte>& buffer, std::uint64_t item, std::size_t device,
            std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    const CurrentDevice current = group_.current(device);
    check_cuda(cudaMemcpyAsync(
        buffer.data() + begin * item, on_host(host, (begins_[device] + begin) * item),
        (end - begin) * item, cudaMemcpyHostToDevice, group_.stream_in(device)));
    group_.wait(group_.stream(device), device, group_.stream_in(device));
  }

  void take(void* host, const DeviceBuffer<std::byte>& buffer, std::uint64_t item,
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

/// Whether the GPUs hold all shares and what the radix sort takes beside them.
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
  if (algorithm == SortAlgorithm::het) {
    het_sort(context, ordinals, request, SecondPass::merge_on_host);
    return;
  }
  const bool is_radix = algorithm == SortAlgorithm::automatic || algorithm == SortAlgorithm::radix;
  if (is_radix && !fits(context, ordinals, request)) {
    het_sort(context, ordinals, request, SecondPass::sort_again);
    return;
  }
  static_cast<void>(chunk_sort(algorithm));  // refused before anything is copied
  const DeviceGroup group(ordinals, request.options.transport);
  HostSort(context, group, request).run();
}

}  // namespace sortie::multisort
