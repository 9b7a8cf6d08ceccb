// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/radix/leading_digits.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/cuda/check.hpp"

namespace sortie::multisort {

namespace {

/// Most batches of tiles per chunk; one block counts a batch. Enough blocks for an even load.
constexpr std::uint64_t most_batches = 2048;

}  // namespace

LeadingDigits::LeadingDigits(const DeviceGroup& group, const ChunkRequest& request, int digit_bits)
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
    Share& share = shares_[d];
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

void LeadingDigits::set_first_digit(int bits) {
  const int digit = std::min(digit_bits_, bits);
  first_digit_end_ = bits;
  lookup_.shift = bits - digit;
  lookup_.mask = (1u << digit) - 1;
}

void LeadingDigits::count(std::size_t device, std::uint32_t first_batch, std::uint32_t end_batch,
                          const GroupLookup& lookup, bool with_range) {
  const CurrentDevice current = group_.current(device);
  Share& share = shares_[device];
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

void LeadingDigits::count_up_to(std::size_t device, std::uint64_t end) {
  const Share& share = shares_[device];
  const std::uint64_t size = request_.chunks[device].size;
  const std::uint64_t batch = std::uint64_t{share.tiles_per_batch} * kernels_.tile;
  const auto batches = end == size ? share.batches : static_cast<std::uint32_t>(end / batch);
  if (batches > counted_batches_[device])
    count(device, counted_batches_[device], batches, lookup_, true);
  counted_batches_[device] = std::max(counted_batches_[device], batches);
}

void LeadingDigits::count_groups(std::size_t device, const GroupLookup& lookup) {
  if (shares_[device].batches > 0) count(device, 0, shares_[device].batches, lookup, false);
}

LeadingDigits::Range LeadingDigits::range() {
  std::vector<std::array<std::uint64_t, 2>> found(group_.size());
  for (std::size_t d = 0; d < group_.size(); ++d) {
    const CurrentDevice current = group_.current(d);
    shares_[d].range.copy_to(found[d]);
  }
  group_.synchronise();
  Range all;
  for (std::size_t d = 0; d < group_.size(); ++d) {
    if (request_.chunks[d].size == 0) continue;
    all.least = std::min(all.least, found[d][0]);
    all.greatest = std::max(all.greatest, found[d][1]);
  }
  return all;
}

std::vector<std::uint64_t> LeadingDigits::totals(std::size_t groups) {
  std::vector<std::uint64_t> counts(group_.size() * groups, 0);
  for (std::size_t d = 0; d < group_.size(); ++d) {
    if (request_.chunks[d].size == 0) continue;
    const CurrentDevice current = group_.current(d);
    shares_[d].totals.copy_to(std::span(counts).subspan(d * groups, groups));
  }
  group_.synchronise();
  return counts;
}

std::vector<std::uint64_t> LeadingDigits::refine(const std::vector<plan::Refinement>& wanted) {
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

std::optional<plan::RadixPartition> LeadingDigits::plan(std::uint64_t padding, bool always_divide,
                                                        std::uint64_t largest_moved) {
  plan::PartitionProblem problem;
  problem.key_bits = key_bits_;
  problem.digit_bits = digit_bits_;
  for (const DeviceChunk& chunk : request_.chunks) problem.source_sizes.push_back(chunk.size);
  problem.destination_sizes = problem.source_sizes;
  problem.padding = padding;
  problem.always_divide = always_divide;
  problem.largest_moved = largest_moved;

  for (std::size_t d = 0; d < group_.size(); ++d) count_up_to(d, request_.chunks[d].size);
  const Range keys = range();
  if (keys.least >= keys.greatest) return std::nullopt;
  const int width = static_cast<int>(std::bit_width(keys.least ^ keys.greatest));
  problem.common_prefix_bits = key_bits_ - width;
  problem.common_prefix = width == 64 ? 0 : keys.least >> width;
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

}  // namespace sortie::multisort
