// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "sortie/device_sort.hpp"

/// What the sorts of one array ask about a request.
namespace sortie::segsort {

[[nodiscard]] inline std::uint64_t item_count(const ArrayRequest& request) {
  return static_cast<std::uint64_t>(request.num_items);
}

/// Number of bits that are compared.
[[nodiscard]] inline int compared_bits(const ArrayRequest& request) {
  return request.end_bit - request.begin_bit;
}

/// Whether an array is sorted in place. A query of the size may be without arrays: then it is not.
[[nodiscard]] inline bool is_in_place(const ArrayRequest& request) {
  return request.keys_in != nullptr && request.keys_in == request.keys_out;
}

/// Whether there are no values, or one array of values of 4 or 8 bytes, which every sort carries.
[[nodiscard]] inline bool has_common_values(const ArrayRequest& request) {
  return request.value_bytes == 0 || request.value_bytes == 4 || request.value_bytes == 8;
}

/// Whether the result may be in the input: passes may alternate between the two buffers.
[[nodiscard]] inline bool alternates(const ArrayRequest& request) {
  return request.result != nullptr;
}

/// Tells the caller where keys and values are, if they may be in either buffer.
inline void set_result(const ArrayRequest& request, bool is_in_input) {
  if (alternates(request)) *request.result = {is_in_input, is_in_input};
}

/// Makes `values` the array of values that is sorted.
inline void set_values(ArrayRequest& request, const DeviceValues& values) {
  request.values_in = values.in;
  request.values_out = values.out;
  request.value_bytes = values.bytes;
}

}  // namespace sortie::segsort
