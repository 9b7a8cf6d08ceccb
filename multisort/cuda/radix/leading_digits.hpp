// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/radix/partition_kernels.hpp"
#include "multisort/plan/radix_partition.hpp"
#include "multisort/plan/sampled_groups.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "sortie/sort_chunks.hpp"

namespace sortie::multisort {

/// Samples the keys of chunks on their devices, and counts their leading digits until the plan is
/// complete.
///
/// | buffer, on each device | numbers | lifetime |
/// |---|---|---|
/// | batch_rows | most_groups for each of at most 2048 batches of tiles | the object's |
/// | tile_rows | with values: most_groups for each tile | the object's |
/// | totals, range | most_groups, 2 | the object's |
/// | counts of refinements | 2^digit_bits for each refined bucket | one round |
/// | sample | 2^16 keys, twice, and temporary storage of CUB's radix sort | sample() |
class LeadingDigits {
 public:
  /// \param digit_bits  bits counted in one pass; 2^digit_bits is at most most_groups
  LeadingDigits(const DeviceGroup& group, const ChunkRequest& request, int digit_bits)
      : group_(group),
        request_(request),
        order_(KeyOrder::of(request.key_type, request.options.order)),
        key_bits_(8 * key_bytes(request.key_type)),
        digit_bits_(std::min(digit_bits, key_bits_)),
        kernels_(partition_kernels(key_bytes(request.key_type), request.value_bytes)),
        shares_(group.size()),
        counted_batches_(group.size(), 0) {
    set_first_digit(key_bits_);
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const CurrentDevice current = group_.current(d);
      const cudaStream_t stream = group_.stream(d);
      GroupCounts& share = shares_[d];
      const std::uint64_t tiles = (request_.chunks[d].size + kernels_.tile - 1) / kernels_.tile;
      share.tiles_per_batch = static_cast<std::uint32_t>(
          std::max<std::uint64_t>(1, (tiles + most_batches - 1) / most_batches));
      share.batches =
          static_cast<std::uint32_t>((tiles + share.tiles_per_batch - 1) / share.tiles_per_batch);
      share.batch_rows =
          DeviceBuffer<std::uint64_t>(std::uint64_t{share.batches} * most_groups, stream);
      if (request_.value_bytes != 0)
        share.tile_rows = DeviceBuffer<std::uint32_t>(tiles * most_groups, stream);
      share.totals = DeviceBuffer<std::uint64_t>(most_groups, stream);
      share.range = DeviceBuffer<std::uint64_t>(2, stream);
      check_cuda(cudaMemsetAsync(share.range.data(), 0xff, sizeof(std::uint64_t), stream));
      check_cuda(cudaMemsetAsync(share.range.data() + 1, 0, sizeof(std::uint64_t), stream));
    }
  }

  /// A sample of the keys of all chunks, encoded and sorted: 2^16 keys of each chunk, of which some
  /// thousand, evenly spaced in their order, are copied to the host. Waits for the devices.
  /// \pre keys have 4 or 8 bytes
  [[nodiscard]] std::vector<plan::SampledKey> sample() const {
    const auto key_size = static_cast<std::uint64_t>(key_bytes(request_.key_type));
    const std::uint64_t wanted = std::max(least_keys_on_host, keys_on_host / group_.size());
    struct Sample {
      std::uint32_t count = 0;  ///< keys for the host
      DeviceBuffer<std::byte> keys;
      DeviceBuffer<std::byte> other_keys;
      DeviceBuffer<std::byte> temporary;
      void* for_host = nullptr;
      std::vector<std::byte> on_host;
    };
    std::vector<Sample> samples(group_.size());
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const std::uint64_t size = request_.chunks[d].size;
      if (size == 0) continue;
      const CurrentDevice current = group_.current(d);
      const cudaStream_t stream = group_.stream(d);
      Sample& sample = samples[d];
      const std::uint64_t count = std::min(size, sampled_keys);
      sample.count = static_cast<std::uint32_t>(std::min(count, wanted));
      sample.keys = DeviceBuffer<std::byte>(count * key_size, stream);
      sample.other_keys = DeviceBuffer<std::byte>(count * key_size, stream);
      SampleArguments scattered;
      scattered.keys = request_.chunks[d].keys;
      scattered.size = size;
      scattered.order = order_;
      scattered.samples = static_cast<std::uint32_t>(count);
      scattered.scattered = true;
      scattered.sample = sample.keys.data();
      check_cuda(kernels_.sample(scattered, stream));
      RadixBuffers buffers;
      buffers.keys = sample.keys.data();
      buffers.other_keys = sample.other_keys.data();
      const auto sort = [&](void* temporary, std::size_t& bytes) {
        check_cuda(device_radix_sort(temporary, bytes, buffers, count, static_cast<int>(key_size),
                                     0, 0, 8 * static_cast<int>(key_size), stream));
      };
      std::size_t bytes = 0;
      sort(nullptr, bytes);
      sample.temporary = DeviceBuffer<std::byte>(bytes, stream);
      sort(sample.temporary.data(), bytes);
      SampleArguments even;
      even.keys = buffers.keys;
      even.size = count;
      even.samples = sample.count;
      even.sample = buffers.other_keys;
      check_cuda(kernels_.sample(even, stream));
      sample.for_host = buffers.other_keys;
    }
    // Copies to pageable memory block the host; by now all devices have their work.
    for (std::size_t d = 0; d < group_.size(); ++d) {
      Sample& sample = samples[d];
      if (sample.count == 0) continue;
      const CurrentDevice current = group_.current(d);
      sample.on_host.resize(sample.count * key_size);
      check_cuda(cudaMemcpyAsync(sample.on_host.data(), sample.for_host, sample.on_host.size(),
                                 cudaMemcpyDeviceToHost, group_.stream(d)));
    }
    group_.synchronise();
    std::vector<std::vector<plan::SampledKey>> of_chunks;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const Sample& sample = samples[d];
      if (sample.count == 0) continue;
      std::vector<std::uint64_t> keys(sample.count);
      for (std::size_t i = 0; i < keys.size(); ++i)
        std::memcpy(&keys[i], sample.on_host.data() + i * key_size, key_size);  // little-endian
      of_chunks.push_back(plan::weigh_sample(keys, request_.chunks[d].size));
    }
    return plan::merge_samples(std::move(of_chunks));
  }

  /// Counts the first digit of a device's items from the end of the last call up to `end`, on the
  /// device's work stream. For chunks that arrive in parts; plan() counts the rest.
  void count_up_to(std::size_t device, std::uint64_t end) {
    const GroupCounts& share = shares_[device];
    const std::uint64_t size = request_.chunks[device].size;
    const std::uint64_t batch = std::uint64_t{share.tiles_per_batch} * kernels_.tile;
    const auto batches = end == size ? share.batches : static_cast<std::uint32_t>(end / batch);
    if (batches > counted_batches_[device])
      count(device, counted_batches_[device], batches, lookup_, true);
    counted_batches_[device] = std::max(counted_batches_[device], batches);
  }

  /// Sets the first digit to the leading one of the `bits` low bits: according to a sample, keys
  /// agree in all others. \pre nothing is counted yet
  void set_first_digit(int bits) {
    const int digit = std::min(digit_bits_, bits);
    first_digit_end_ = bits;
    lookup_.shift = bits - digit;
    lookup_.mask = (1u << digit) - 1;
  }

  /// Counts until the borders between the chunks are found. Waits for the devices.
  /// \return nothing if all keys are equal, or there are none
  [[nodiscard]] std::optional<plan::RadixPartition> plan(const plan::BorderTolerance& tolerance) {
    plan::PartitionProblem problem;
    problem.key_bits = key_bits_;
    problem.digit_bits = digit_bits_;
    for (const DeviceChunk& chunk : request_.chunks) problem.source_sizes.push_back(chunk.size);
    problem.destination_sizes = problem.source_sizes;
    problem.padding = tolerance.padding;
    problem.always_divide = true;
    problem.largest_moved = tolerance.largest_moved;

    for (std::size_t d = 0; d < group_.size(); ++d) count_up_to(d, request_.chunks[d].size);
    const auto [least, greatest] = range();
    if (least >= greatest) return std::nullopt;
    const int width = static_cast<int>(std::bit_width(least ^ greatest));
    problem.common_prefix_bits = key_bits_ - width;
    problem.common_prefix = width == 64 ? 0 : least >> width;
    if (width != first_digit_end_) {
      // All keys agree in some leading bits: count the digit that follows these.
      set_first_digit(width);
      for (std::size_t d = 0; d < group_.size(); ++d) count_groups(d, lookup_);
    }
    plan::RadixPartition partition(std::move(problem));
    if (!partition.refinements().empty())
      partition.refine(totals(partition.refinements().front().digits()));
    while (!partition.refinements().empty()) partition.refine(refine(partition.refinements()));
    return partition;
  }

  /// The first digit that plan() has chosen.
  [[nodiscard]] const GroupLookup& first_lookup() const { return lookup_; }
  /// Counts again, by other groups; replaces the rows.
  void count_groups(std::size_t device, const GroupLookup& lookup) {
    if (shares_[device].batches > 0) count(device, 0, shares_[device].batches, lookup, false);
  }
  /// The last counts of the first `groups` groups, for each device. Waits for the devices.
  [[nodiscard]] std::vector<std::uint64_t> totals(std::size_t groups) {
    std::vector<std::uint64_t> counts(group_.size() * groups, 0);
    for (std::size_t d = 0; d < group_.size(); ++d) {
      if (request_.chunks[d].size == 0) continue;
      const CurrentDevice current = group_.current(d);
      shares_[d].totals.copy_to(std::span(counts).subspan(d * groups, groups));
    }
    group_.synchronise();
    return counts;
  }
  [[nodiscard]] GroupCounts& share(std::size_t device) { return shares_[device]; }

  [[nodiscard]] const PartitionKernels& kernels() const { return kernels_; }
  [[nodiscard]] const KeyOrder& order() const { return order_; }
  [[nodiscard]] int key_bits() const { return key_bits_; }

 private:
  /// Most batches of tiles per chunk; one block counts a batch. Enough blocks for an even load.
  static constexpr std::uint64_t most_batches = 2048;
  /// Sampled keys per chunk: they locate a border between two devices to 0.3 % of a share, and their
  /// sort is short.
  static constexpr std::uint64_t sampled_keys = std::uint64_t{1} << 16;
  /// Of these, keys copied to the host: in all, and at least per chunk. With two devices they are
  /// 0.025 % of a share apart.
  static constexpr std::uint64_t keys_on_host = 8192;
  static constexpr std::uint64_t least_keys_on_host = 512;

  void count(std::size_t device, std::uint32_t first_batch, std::uint32_t end_batch,
             const GroupLookup& lookup, bool with_range) {
    const CurrentDevice current = group_.current(device);
    GroupCounts& share = shares_[device];
    CountArguments arguments;
    arguments.keys = request_.chunks[device].keys;
    arguments.size = request_.chunks[device].size;
    arguments.order = order_;
    arguments.lookup = lookup;
    arguments.tiles_per_batch = share.tiles_per_batch;
    arguments.first_batch = first_batch;
    arguments.end_batch = end_batch;
    arguments.batch_rows = share.batch_rows.data();
    arguments.tile_rows = share.tile_rows.data();
    arguments.range = with_range ? share.range.data() : nullptr;
    check_cuda(kernels_.count(arguments, kernels_.tile, group_.stream(device)));
    if (end_batch == share.batches)
      check_cuda(sum_batches(share.batch_rows.data(), share.batches, share.totals.data(),
                             group_.stream(device)));
  }
  /// The least and the greatest encoded key of all devices.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> range() {
    std::vector<std::array<std::uint64_t, 2>> found(group_.size());
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const CurrentDevice current = group_.current(d);
      shares_[d].range.copy_to(found[d]);
    }
    group_.synchronise();
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t greatest = 0;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      if (request_.chunks[d].size == 0) continue;
      least = std::min(least, found[d][0]);
      greatest = std::max(greatest, found[d][1]);
    }
    return {least, greatest};
  }
  [[nodiscard]] std::vector<std::uint64_t> refine(const std::vector<plan::Refinement>& wanted) {
    // Order of the counts: refinement, source, digit. One launch counts some refinements of one
    // source.
    const std::size_t digits = wanted.front().digits();
    std::vector<std::uint64_t> counts(wanted.size() * group_.size() * digits, 0);
    std::vector<DeviceBuffer<std::uint64_t>> buffers;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const CurrentDevice current = group_.current(d);
      const cudaStream_t stream = group_.stream(d);
      buffers.emplace_back(wanted.size() * digits, stream);
      check_cuda(cudaMemsetAsync(buffers[d].data(), 0, buffers[d].bytes(), stream));
      for (std::size_t first = 0; first < wanted.size(); first += most_refinements) {
        RefineArguments arguments;
        arguments.keys = request_.chunks[d].keys;
        arguments.size = request_.chunks[d].size;
        arguments.order = order_;
        arguments.digit_bits = wanted.front().digit_bits;
        arguments.shift = key_bits_ - wanted.front().prefix_bits - wanted.front().digit_bits;
        const std::size_t end = std::min(wanted.size(), first + most_refinements);
        arguments.refinements = static_cast<int>(end - first);
        for (std::size_t w = first; w < end; ++w) arguments.prefixes[w - first] = wanted[w].prefix;
        arguments.counts = buffers[d].data() + first * digits;
        check_cuda(kernels_.refine(arguments, stream));
      }
      for (std::size_t w = 0; w < wanted.size(); ++w)
        check_cuda(cudaMemcpyAsync(counts.data() + (w * group_.size() + d) * digits,
                                   buffers[d].data() + w * digits, digits * sizeof(std::uint64_t),
                                   cudaMemcpyDeviceToHost, stream));
    }
    group_.synchronise();
    return counts;
  }

  const DeviceGroup& group_;
  const ChunkRequest& request_;
  KeyOrder order_;
  int key_bits_;
  int digit_bits_;
  int first_digit_end_ = 0;  ///< number of low bits up to the end of the first digit
  const PartitionKernels& kernels_;
  GroupLookup lookup_;
  std::vector<GroupCounts> shares_;
  std::vector<std::uint32_t> counted_batches_;
};

}  // namespace sortie::multisort
