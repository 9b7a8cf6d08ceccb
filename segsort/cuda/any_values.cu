// SPDX-License-Identifier: Apache-2.0
#include "segsort/cuda/any_values.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "segsort/cuda/array_items.cuh"
#include "segsort/cuda/array_presets.hpp"
#include "segsort/cuda/array_request.hpp"
#include "segsort/cuda/array_values.cuh"
#include "segsort/cuda/double_buffers.hpp"
#include "segsort/cuda/radix_digits.cuh"

namespace sortie::segsort {
namespace {

/// Least number of items, and largest number of groups, at which several arrays of values are
/// sorted in groups of up to 8 bytes: gathers of long arrays miss the cache. On an H100, two arrays
/// of u64 with u32 keys take 0.77 ms in groups and 0.78 by gathers (2^23), 1.39 and 1.66 (2^24).
constexpr std::uint64_t least_grouped = 1 << 24;
constexpr std::size_t most_groups_of_values = 4;
std::optional<std::uint64_t> preset_least_grouped_items;

bool has_narrow_positions(const ArrayRequest& request) {
  return item_count(request) <= ~std::uint32_t{0};
}

/// Sorts positions, and gathers the values by them.
class GatherSort {
 public:
  GatherSort(ArrayCall& call, const ArrayRequest& request)
      : call_(call), request_(request), n_(item_count(request)) {}

  template <class Position>
  cudaError_t sort() {
    return keeps_positions_in_output<Position>() ? sort_in_output<Position>()
                                                 : sort_in_storage<Position>();
  }

 private:
  /// Whether two arrays of positions fit the output of the values, which need not be aligned to a
  /// position.
  template <class Position>
  [[nodiscard]] bool keeps_positions_in_output() const {
    return request_.several_values.empty() && request_.value_bytes > 2 * sizeof(Position) &&
           n_ >= 4 * sizeof(Position) &&
           (request_.values_in != request_.values_out || request_.values_in == nullptr);
  }
  /// Sorts positions that are in the output of the values, and gathers the values. Sorted positions
  /// are in the place of a copy of the values, if cub::DeviceRadixSort takes one; otherwise at the
  /// end of the output.
  template <class Position>
  cudaError_t sort_in_output() {
    const auto begin = reinterpret_cast<std::uintptr_t>(request_.values_out);
    const auto end = begin + n_ * request_.value_bytes;
    constexpr auto size = static_cast<std::uint64_t>(sizeof(Position));
    auto* const first = reinterpret_cast<Position*>((begin + size - 1) / size * size);
    auto* const last = reinterpret_cast<Position*>((end / size - n_) * size);
    const int bits = compared_bits(request_);
    ArrayRequest items = request_;
    items.has_narrow_count = false;  // smaller tiles still take less storage than the values would
    if (!alternates(request_) && bits > radix::digit_bits) {
      auto* const positions = call_.take<Position>(n_);
      const cudaError_t status = sort_numbers(items, first, positions, false);
      return status == cudaSuccess && !call_.measures()
                 ? gather(request_.values_in, request_.values_out, positions, request_.value_bytes,
                          n_, call_.stream())
                 : status;
    }
    // Where the result of most sorts is at the end of the output.
    const bool ends_in_input = alternates(request_) && passes_end_in_input(bits);
    cudaError_t status = ends_in_input ? sort_numbers(items, last, first, false)
                                       : sort_numbers(items, first, last, false);
    const bool is_in_input = put_values_into_output();
    if (status != cudaSuccess || call_.measures()) return status;
    if (is_in_input != ends_in_input)
      status = cudaMemcpyAsync(last, first, n_ * size, cudaMemcpyDeviceToDevice, call_.stream());
    return status == cudaSuccess
               ? gather_over_positions(request_.values_in, request_.values_out, last,
                                       request_.value_bytes, n_, call_.stream())
               : status;
  }

  template <class Position>
  cudaError_t sort_in_storage() {
    auto* const numbers = call_.take<Position>(n_);
    auto* const positions = call_.take<Position>(n_);
    cudaError_t status = sort_numbers(request_, numbers, positions, may_overwrite_values(n_));
    if (status != cudaSuccess || call_.measures()) return status;
    const bool is_in_input = put_values_into_output();
    const auto gather_values = [&](const void* in, void* out, std::size_t bytes) {
      return gather(in, out, is_in_input ? numbers : positions, bytes, n_, call_.stream());
    };
    if (request_.several_values.empty())
      return gather_values(request_.values_in, request_.values_out, request_.value_bytes);
    for (const DeviceValues& values : request_.several_values)
      if (status == cudaSuccess) status = gather_values(values.in, values.out, values.bytes);
    return status;
  }

  /// Sorts the numbers of the items as values from one array to another.
  template <class Position>
  cudaError_t sort_numbers(ArrayRequest items, Position* numbers, Position* sorted,
                           bool numbers_are_scratch) {
    set_values(items, {numbers, sorted});
    const cudaError_t status =
        call_.launch_if_it_fits([&] { return number_items(numbers, n_, call_.stream()); });
    return status == cudaSuccess ? sort_items(call_, items, numbers_are_scratch) : status;
  }
  /// The values are gathered from the input, whichever array has the keys or the positions.
  /// \return whether the sorted positions are in the array that had the numbers
  bool put_values_into_output() {
    if (!alternates(request_)) return false;
    const bool is_in_input = request_.result->values_in_input;
    request_.result->values_in_input = false;
    return is_in_input;
  }

  ArrayCall& call_;
  const ArrayRequest& request_;
  std::uint64_t n_;
};

/// Arrays of values that are sorted together.
struct ValueGroup {
  std::vector<DeviceValues> arrays;
  std::size_t bytes = 0;  ///< of a value of each
};

/// Puts each array into the first group that stays within 8 bytes. An array of larger values has a
/// group of its own.
std::vector<ValueGroup> groups_of_values(const ArrayRequest& request) {
  std::vector<ValueGroup> groups;
  for (const DeviceValues& values : request.several_values) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const ValueGroup& other) {
      return other.bytes + values.bytes <= most_packed_bytes;
    });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->arrays.push_back(values);
    group->bytes += values.bytes;
  }
  return groups;
}

/// Whether a sort for each group takes less time than one for positions and a gather of each
/// array. The keys must stay as they are.
bool takes_groups(const ArrayRequest& request, const std::vector<ValueGroup>& groups) {
  return item_count(request) >= preset_least_grouped_items.value_or(least_grouped) &&
         groups.size() <= most_groups_of_values && request.keys_in != request.keys_out &&
         std::all_of(groups.begin(), groups.end(),
                     [](const ValueGroup& group) { return group.bytes <= most_packed_bytes; });
}

/// Sorts words into which the values of an item are packed, and unpacks them.
/// \pre the values together fit a word
template <class Word>
cudaError_t sort_packed(ArrayCall& call, const ArrayRequest& request,
                        std::span<const DeviceValues> arrays) {
  const std::uint64_t n = item_count(request);
  PackedFields fields{};
  for (const DeviceValues& values : arrays)
    fields.fields[fields.count++] = field_of(values.in, values.out, values.bytes);
  auto* const packed = call.take<Word>(n);
  auto* const sorted = call.take<Word>(n);
  ArrayRequest items = request;
  set_values(items, {packed, sorted});
  cudaError_t status =
      call.launch_if_it_fits([&] { return pack(fields, packed, n, call.stream()); });
  if (status == cudaSuccess) status = sort_items(call, items, may_overwrite_values(n));
  if (status != cudaSuccess || call.measures()) return status;
  return unpack(fields, sorted, n, call.stream());
}

cudaError_t sort_group(ArrayCall& call, const ArrayRequest& request, const ValueGroup& group) {
  const DeviceValues& first = group.arrays.front();
  if (group.arrays.size() == 1 && first.in != first.out && (first.bytes == 4 || first.bytes == 8)) {
    ArrayRequest items = request;
    set_values(items, first);
    return sort_items(call, items, false);
  }
  return group.bytes <= 4 ? sort_packed<std::uint32_t>(call, request, group.arrays)
                          : sort_packed<std::uint64_t>(call, request, group.arrays);
}

/// Sorts the keys with each group anew.
cudaError_t sort_groups(ArrayCall& call, const ArrayRequest& request,
                        const std::vector<ValueGroup>& groups) {
  for (const ValueGroup& group : groups) {
    const cudaError_t status =
        call.with_reused_storage([&] { return sort_group(call, request, group); });
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace

void preset_least_grouped(std::optional<std::uint64_t> items) {
  preset_least_grouped_items = items;
}

cudaError_t sort_positions(ArrayCall& call, const ArrayRequest& request) {
  const std::uint64_t n = item_count(request);
  ArrayRequest items = request;
  items.keys_out = call.take<char>(n * static_cast<std::uint64_t>(request.key_bytes));
  const auto sort = [&]<class Position>(Position* positions) {
    items.values_in = positions;
    const cudaError_t status =
        call.launch_if_it_fits([&] { return number_items(positions, n, call.stream()); });
    return status == cudaSuccess ? sort_items(call, items, may_overwrite_values(n)) : status;
  };
  return request.value_bytes == 4 ? sort(call.take<std::uint32_t>(n))
                                  : sort(call.take<std::uint64_t>(n));
}

cudaError_t sort_and_gather(ArrayCall& call, const ArrayRequest& request) {
  GatherSort sort(call, request);
  return has_narrow_positions(request) ? sort.sort<std::uint32_t>() : sort.sort<std::uint64_t>();
}

cudaError_t sort_several_values(ArrayCall& call, const ArrayRequest& request) {
  const std::vector<ValueGroup> groups = groups_of_values(request);
  if (groups.size() == 1 || takes_groups(request, groups))
    return sort_groups(call, request, groups);
  return sort_and_gather(call, request);
}

}  // namespace sortie::segsort
