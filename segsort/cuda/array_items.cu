// SPDX-License-Identifier: Apache-2.0
#include "segsort/cuda/array_items.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/payload.hpp"
#include "segsort/cuda/array_decision.cuh"
#include "segsort/cuda/array_instances.cuh"
#include "segsort/cuda/array_presets.hpp"
#include "segsort/cuda/array_request.hpp"
#include "segsort/cuda/counting_sort.cuh"
#include "segsort/cuda/double_buffers.hpp"

namespace sortie::segsort {
namespace {

/// Largest arrays of 4-byte keys that are sorted in one kernel for all digits, alone and with
/// values of up to 8 bytes. On an H100 (ca976dd3, u32, eight distributions), the kernel takes this
/// part of the time of cub::DeviceRadixSort; in brackets if arrays are examined, and sorted by what
/// is found:
///
/// | items | alone | values of 4 bytes | values of 8 bytes |
/// |---|---|---|---|
/// | 2^21 | 0.22 to 0.74 (0.39 to 0.81) | 0.22 to 0.94 (0.64 to 1.26) | 0.22 to 0.95 |
/// | 2^22 | 0.22 to 0.73 (0.49 to 1.05) | 0.23 to 1.02 (0.41 to 1.19) | 0.23 to 1.00 (0.38 to 1.14) |
/// | 5 M | 0.22 to 0.80 (0.41 to 1.06) | 0.23 to 1.09 (0.35 to 1.18) | 0.23 to 1.06 (0.28 to 1.13) |
/// | 6 M | 0.23 to 0.84 (0.38 to 1.10) | 0.24 to 1.08 (0.31 to 1.12) | 0.24 to 1.05 (0.26 to 1.11) |
///
/// Of arrays of 2^22 items, those with few distinct keys take the greatest part; if arrays are
/// examined, normally distributed ones do.
constexpr std::uint64_t most_keys_in_one_kernel = 3 << 21;
constexpr std::uint64_t most_pairs_in_one_kernel = 1 << 22;

std::optional<std::uint64_t> preset_least_examined_items;

/// Least number of items that are not sorted in one kernel for all digits.
std::uint64_t least_examined_of(const ArrayRequest& request) {
  if (preset_least_examined_items.has_value()) return *preset_least_examined_items;
  if (request.key_bytes != 4 || request.value_bytes > 8 || has_preset_use_of_digits())
    return least_examined;
  return (request.value_bytes == 0 ? most_keys_in_one_kernel : most_pairs_in_one_kernel) + 1;
}

/// Least number of 4-byte keys with values of 4 bytes whose temporary storage is at most that of
/// cub::DeviceRadixSort for the type of the number of items.
constexpr std::uint64_t least_in_storage_of_cub = 1 << 21;

constexpr std::size_t most_shared_bytes_of_short_digits = std::max(
    {sizeof(radix::PassShared<std::uint8_t, 8, radix::short_shape<std::uint8_t, 8>>),
     sizeof(radix::PassShared<std::uint16_t, 4,
                              radix::short_shape_of<std::uint16_t, 4, radix::ShortTiles::large>>),
     sizeof(radix::PassShared<std::uint16_t, 16, radix::short_shape<std::uint16_t, 16>>),
     sizeof(radix::PassShared<std::uint32_t, 4,
                              radix::short_shape_of<std::uint32_t, 4, radix::ShortTiles::large>>),
     sizeof(radix::PassShared<
            std::uint32_t, 4,
            radix::short_shape_of<std::uint32_t, 4, radix::ShortTiles::large_in_twos>>),
     sizeof(radix::PassShared<std::uint32_t, 8, radix::short_shape<std::uint32_t, 8>>),
     sizeof(radix::PassShared<std::uint64_t, 8, radix::short_shape<std::uint64_t, 8>>)});

/// Least number of keys that are counted: from there on, counters take at most as much storage as
/// cub::DeviceRadixSort.
template <class Word>
std::uint64_t least_counted(const ArrayRequest& request) {
  if (sizeof(Word) == 1) return 1 << 15;
  return alternates(request) ? std::uint64_t{1} << 24 : counting::least_counted<Word>;
}

/// The request of sort_on_device() for the same sort. \pre keys of 4 or 8 bytes
DeviceRequest long_array(const ArrayRequest& request, bool values_are_scratch) {
  const auto of_kind = [&](KeyType unsigned_type, KeyType signed_type, KeyType floating) {
    return request.kind == KeyKind::unsigned_integer ? unsigned_type
           : request.kind == KeyKind::signed_integer ? signed_type
                                                     : floating;
  };
  DeviceRequest device;
  device.key_type = request.key_bytes == 4 ? of_kind(KeyType::u32, KeyType::i32, KeyType::f32)
                                           : of_kind(KeyType::u64, KeyType::i64, KeyType::f64);
  device.value_bytes = static_cast<int>(request.value_bytes);
  device.keys_in = request.keys_in;
  device.keys_out = request.keys_out;
  device.values_in = request.values_in;
  device.values_out = request.values_out;
  device.input_is_scratch = request.input_is_scratch;
  device.value_input_is_scratch = values_are_scratch;
  device.is_array = true;
  device.num_items = request.num_items;
  device.num_segments = 1;
  device.order = request.order;
  device.begin_bit = request.begin_bit;
  device.end_bit = request.end_bit;
  return device;
}

bool has_memory_for_short_digits(const ArrayCall& call) {
  return call.has_shared_memory(most_shared_bytes_of_short_digits);
}

/// Whether passes over digits have two buffers to alternate between: the output and a copy of the
/// items in temporary storage, while the input stays as it is; or both buffers of the caller.
bool has_buffers_for_passes(const ArrayRequest& request) {
  return (!request.input_is_scratch || alternates(request)) && !is_in_place(request);
}

/// Whether an array is of keys of 8 bytes, compared by all bits, and long enough to be examined.
bool is_long_key_examined(const ArrayRequest& request) {
  return item_count(request) >= least_long_keys_examined && request.key_bytes == 8 &&
         compared_bits(request) == 64;
}

/// One phase of the sort of an array, and the choice of its algorithm.
class ItemSort {
 public:
  ItemSort(ArrayCall& call, const ArrayRequest& request)
      : call_(call), request_(request), n_(item_count(request)) {}

  cudaError_t sort(bool values_are_scratch) {
    if (request_.key_bytes == 1) return sort_narrow<std::uint8_t>();
    if (request_.key_bytes == 2) return sort_narrow<std::uint16_t>();
    if (takes_short_digits())
      return request_.key_bytes == 4 ? sort_by_short_digits<std::uint32_t>()
                                     : sort_by_short_digits<std::uint64_t>();
    if (takes_cub()) return sort_by_cub();
    return sort_long_array(long_array(request_, values_are_scratch));
  }

  template <class Word>
  cudaError_t sort_carried() {
    if (request_.value_bytes == 1) return sort_carried<Word, 1>();
    return request_.value_bytes == 2 ? sort_carried<Word, 2>() : sort_carried<Word, 16>();
  }

 private:
  template <class Word, int ValueBytes>
  cudaError_t sort_carried() {
    if constexpr (sizeof(Word) >= 4 && ValueBytes <= 2) {
      const DeviceRequest device = long_array(request_, false);
      if ((is_long_key_examined(request_) || n_ >= least_examined_of(request_)) &&
          has_large_tiles(device))
        return sort_long_array(device);
    }
    if (n_ >= least_examined_of(request_)) return sort_by_long_digits<Word, ValueBytes>();
    if constexpr (sizeof(Word) == 4 && ValueBytes <= 2)
      if (has_narrow_count()) return sort_by_short_digits<Word, ValueBytes, true>();
    return sort_by_short_digits<Word, ValueBytes, false>();
  }

  /// Whether a short array is sorted by its digits in one kernel without being examined.
  [[nodiscard]] bool takes_short_digits() const {
    return !is_long_key_examined(request_) && n_ > most_items_of_block &&
           n_ < least_examined_of(request_) && has_buffers_for_passes(request_) &&
           compared_bits(request_) != 0 && has_memory_for_short_digits(call_);
  }
  template <class Word>
  cudaError_t sort_by_short_digits() {
    if (request_.value_bytes == 0) return sort_by_short_digits<Word, 0, false>();
    if (request_.value_bytes == 8) return sort_by_short_digits<Word, 8, false>();
    // Of short arrays with a copy of the items, statuses are a small part of the storage.
    const bool has_copy = !alternates(request_) && compared_bits(request_) > radix::digit_bits;
    if constexpr (sizeof(Word) <= 4)
      if (has_narrow_count() && (!has_copy || n_ >= least_in_storage_of_cub))
        return sort_by_short_digits<Word, 4, true>();
    return sort_by_short_digits<Word, 4, false>();
  }
  /// Whether tiles must be as large as those of cub::DeviceRadixSort for numbers of items of 32
  /// bits.
  [[nodiscard]] bool has_narrow_count() const { return request_.has_narrow_count; }
  template <class Word, int ValueBytes, bool IsLarge>
  cudaError_t sort_by_short_digits() {
    Arguments<Word> arguments = arguments_with_scratch<Word, ValueBytes>();
    auto* const passes = reinterpret_cast<radix::ShortPasses<Word>*>(
        call_.take<char>(radix::short_passes_bytes<Word>(digits())));
    auto* const statuses =
        call_.take<radix::Status>(radix::short_status_words<Word, ValueBytes, IsLarge>(n_));
    return call_.launch_if_it_fits([&] {
      return launch_short_digits<Word, ValueBytes, IsLarge>(call_.plan(n_), arguments, nullptr,
                                                            passes, statuses);
    });
  }

  /// By digits, in a kernel for each.
  template <class Word, int ValueBytes>
  cudaError_t sort_by_long_digits() {
    const Arguments<Word> arguments = arguments_with_scratch<Word, ValueBytes>();
    RadixStorage storage;
    storage.passes_bytes = radix::passes_bytes(digits(), n_);
    storage.passes = reinterpret_cast<radix::Passes*>(call_.take<char>(storage.passes_bytes));
    storage.statuses = call_.take<radix::Status>(radix::status_words<Word, ValueBytes>(n_));
    return call_.launch_if_it_fits([&] {
      LaunchPlan plan = call_.plan(n_);
      if (plan.limits.has_dependent_launch) plan.order = LaunchOrder::overlapping;
      plan.is_array = true;
      const cudaError_t status =
          cudaMemsetAsync(storage.passes, 0, storage.passes_bytes, call_.stream());
      return status == cudaSuccess ? launch_radix<Word, ValueBytes>(plan, arguments, storage,
                                                                    nullptr, ArrayMethod::digits)
                                   : status;
    });
  }
  [[nodiscard]] int digits() const {
    return (compared_bits(request_) + radix::digit_bits - 1) / radix::digit_bits;
  }

  /// The arrays of a sort by digits, with a second copy of the items if there are several passes.
  template <class Word, int ValueBytes>
  Arguments<Word> arguments_with_scratch() {
    Arguments<Word> arguments{};
    arguments.keys_in = static_cast<const Word*>(request_.keys_in);
    arguments.keys_out = static_cast<Word*>(request_.keys_out);
    arguments.values_in = request_.values_in;
    arguments.values_out = request_.values_out;
    arguments.value_bytes = ValueBytes;
    arguments.codec = BitRangeCodec<Word>::make(request_.kind, request_.order, request_.begin_bit,
                                                request_.end_bit);
    if (alternates(request_)) {
      const bool ends_in_input = passes_end_in_input(compared_bits(request_));
      auto* const keys = const_cast<void*>(request_.keys_in);
      auto* const values = const_cast<void*>(request_.values_in);
      (ends_in_input ? arguments.keys_out : arguments.keys_scratch) = static_cast<Word*>(keys);
      (ends_in_input ? arguments.values_out : arguments.values_scratch) = values;
      if (ends_in_input) {
        arguments.keys_scratch = static_cast<Word*>(request_.keys_out);
        arguments.values_scratch = request_.values_out;
      }
      set_result(request_, ends_in_input);
    } else if (compared_bits(request_) > radix::digit_bits) {
      arguments.keys_scratch = call_.take<Word>(n_);
      if (ValueBytes != 0) arguments.values_scratch = call_.take<ValueWord<ValueBytes>>(n_);
    }
    return arguments;
  }

  /// By what sort_on_device() finds in the array.
  cudaError_t sort_long_array(const DeviceRequest& device) {
    return call_.with_storage(true, [&](void* storage, std::size_t& bytes) {
      if (!alternates(request_)) return sort_on_device(storage, bytes, device, call_.stream());
      bool is_in_input = false;
      const cudaError_t status =
          sort_double_buffers_on_device(storage, bytes, device, is_in_input, call_.stream());
      set_result(request_, is_in_input);
      return status;
    });
  }

  /// Whether cub::DeviceRadixSort takes less time than our passes: long arrays by some of the bits.
  /// On an H100, 24 bits of 2^24 u32 with u32 values take 0.51 ms, by our passes 0.59; 40 bits of
  /// u64 0.77 and 0.87.
  [[nodiscard]] bool takes_cub() const {
    const bool takes_digits =
        request_.key_bytes == 4 ? request_.value_bytes != 0 : alternates(request_);
    const bool can_take_cub =
        (request_.key_bytes == 4 && request_.value_bytes == 4 && n_ <= ~std::uint32_t{0}) ||
        (request_.kind == KeyKind::unsigned_integer && request_.order == Order::ascending);
    return takes_digits && can_take_cub && n_ >= least_examined && compared_bits(request_) != 0 &&
           compared_bits(request_) != 8 * request_.key_bytes && has_buffers_for_passes(request_);
  }
  /// By cub::DeviceRadixSort. \pre that of encoded_radix_sort()
  cudaError_t sort_by_cub() {
    // CUB does not reject each size that is too small.
    const auto sort_from = [&](auto& arrays) {
      return call_.with_storage(false, [&](void* storage, std::size_t& bytes) {
        return encoded_radix_sort(storage, bytes, arrays, n_, request_.key_bytes, request_.kind,
                                  request_.order, static_cast<int>(request_.value_bytes),
                                  request_.begin_bit, request_.end_bit, call_.stream());
      });
    };
    if (alternates(request_)) {
      RadixBuffers buffers{const_cast<void*>(request_.keys_in), request_.keys_out,
                           const_cast<void*>(request_.values_in), request_.values_out};
      const cudaError_t status = sort_from(buffers);
      set_result(request_, buffers.keys == request_.keys_in);
      return status;
    }
    const RadixArrays arrays{request_.keys_in, request_.keys_out, request_.values_in,
                             request_.values_out};
    return sort_from(arrays);
  }

  template <class Word>
  cudaError_t sort_narrow() {
    const KeyCodec<Word> codec(request_.kind, request_.order);
    if (request_.value_bytes == 0 && compared_bits(request_) == codec.bits &&
        n_ >= least_counted<Word>(request_)) {
      void* const storage = call_.take<char>(counting::storage_bytes<Word>);
      return call_.launch_if_it_fits([&] {
        return counting::sort(static_cast<const Word*>(request_.keys_in),
                              static_cast<Word*>(request_.keys_out), counting::CountedRange{n_},
                              codec, storage, call_.limits(), call_.stream());
      });
    }
    if (takes_short_digits()) return sort_by_short_digits<Word>();
    // CUB's passes take 0.30 ms for 2^24 sorted f16 keys with u32 values on an H100, and 4.2 for
    // 2^28; ours took 0.36 and 4.9.
    return sort_by_cub();
  }

  ArrayCall& call_;
  const ArrayRequest& request_;
  std::uint64_t n_;
};

}  // namespace

void preset_least_examined(std::optional<std::uint64_t> items) {
  preset_least_examined_items = items;
}

cudaError_t sort_items(ArrayCall& call, const ArrayRequest& request, bool values_are_scratch) {
  return ItemSort(call, request).sort(values_are_scratch);
}

// Positions would need more storage than values of 1 or 2 bytes. Where passes are few or short,
// they would need more time than values of 16 bytes.
bool is_carried(const ArrayCall& call, const ArrayRequest& request) {
  const std::size_t bytes = request.value_bytes;
  const auto addresses = reinterpret_cast<std::uintptr_t>(request.values_in) |
                         reinterpret_cast<std::uintptr_t>(request.values_out);
  const std::uint64_t least_by_positions =
      request.key_bytes == 4 ? least_examined : least_long_keys_examined;
  const bool carries_long =
      compared_bits(request) <= 2 * radix::digit_bits || item_count(request) < least_by_positions;
  return (bytes <= 2 || (bytes == 16 && carries_long)) && addresses % bytes == 0 &&
         has_buffers_for_passes(request) && has_memory_for_short_digits(call);
}

cudaError_t sort_carried(ArrayCall& call, const ArrayRequest& request) {
  return with_key_word(request.key_bytes, [&]<class Word>(Word) {
    return ItemSort(call, request).template sort_carried<Word>();
  });
}

}  // namespace sortie::segsort
