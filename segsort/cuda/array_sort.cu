// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_sort.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/cuda/device_pool.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/payload.hpp"
#include "segsort/cuda/array_decision.cuh"
#include "segsort/cuda/array_presets.hpp"
#include "segsort/cuda/array_values.cuh"
#include "segsort/cuda/counting_sort.cuh"
#include "segsort/cuda/double_buffers.hpp"
#include "segsort/cuda/launch_array_tile.cuh"
#include "segsort/cuda/launch_radix.cuh"
#include "segsort/cuda/launch_short_digits.cuh"

namespace sortie::segsort {

// Each is instantiated in a source file that CMake generates.
#define SORTIE_EXTERN_SHORT_DIGITS(Word, value_bytes, is_large)                                   \
  extern template cudaError_t launch_short_digits<Word, value_bytes, is_large>(                   \
      const LaunchPlan&, const Arguments<Word>&, const ArrayDecision*, radix::ShortPasses<Word>*, \
      radix::Status*)
#define SORTIE_EXTERN_SHORT_DIGITS_OF(Word)   \
  SORTIE_EXTERN_SHORT_DIGITS(Word, 0, false); \
  SORTIE_EXTERN_SHORT_DIGITS(Word, 4, false); \
  SORTIE_EXTERN_SHORT_DIGITS(Word, 8, false)
SORTIE_EXTERN_SHORT_DIGITS_OF(std::uint8_t);
SORTIE_EXTERN_SHORT_DIGITS_OF(std::uint16_t);
SORTIE_EXTERN_SHORT_DIGITS_OF(std::uint32_t);
SORTIE_EXTERN_SHORT_DIGITS_OF(std::uint64_t);
SORTIE_EXTERN_SHORT_DIGITS(std::uint8_t, 4, true);
SORTIE_EXTERN_SHORT_DIGITS(std::uint16_t, 4, true);
SORTIE_EXTERN_SHORT_DIGITS(std::uint32_t, 4, true);
#undef SORTIE_EXTERN_SHORT_DIGITS_OF
#define SORTIE_EXTERN_CARRIED(Word, value_bytes)                                            \
  SORTIE_EXTERN_SHORT_DIGITS(Word, value_bytes, false);                                     \
  extern template cudaError_t launch_radix<Word, value_bytes>(                              \
      const LaunchPlan&, const Arguments<Word>&, const RadixStorage&, const ArrayDecision*, \
      ArrayMethod)
SORTIE_EXTERN_CARRIED(std::uint8_t, 1);
SORTIE_EXTERN_CARRIED(std::uint8_t, 2);
SORTIE_EXTERN_CARRIED(std::uint8_t, 16);
SORTIE_EXTERN_CARRIED(std::uint16_t, 1);
SORTIE_EXTERN_CARRIED(std::uint16_t, 2);
SORTIE_EXTERN_CARRIED(std::uint16_t, 16);
SORTIE_EXTERN_CARRIED(std::uint32_t, 1);
SORTIE_EXTERN_CARRIED(std::uint32_t, 2);
SORTIE_EXTERN_CARRIED(std::uint32_t, 16);
SORTIE_EXTERN_CARRIED(std::uint64_t, 1);
SORTIE_EXTERN_CARRIED(std::uint64_t, 2);
SORTIE_EXTERN_CARRIED(std::uint64_t, 16);
#undef SORTIE_EXTERN_CARRIED
#undef SORTIE_EXTERN_SHORT_DIGITS
#define SORTIE_EXTERN_ARRAY_TILE(Word)                                                     \
  extern template cudaError_t launch_array_tile(const LaunchPlan&, const Arguments<Word>&, \
                                                const PackedField&)
SORTIE_EXTERN_ARRAY_TILE(std::uint8_t);
SORTIE_EXTERN_ARRAY_TILE(std::uint16_t);
SORTIE_EXTERN_ARRAY_TILE(std::uint32_t);
SORTIE_EXTERN_ARRAY_TILE(std::uint64_t);
#undef SORTIE_EXTERN_ARRAY_TILE

namespace {

/// TEMPORARY, for measurements: "cub", "own" or "short" for pairs of 4 bytes each.
char array_trial() {
  static const char* const set = std::getenv("SORTIE_ARRAY_TRY");
  return set == nullptr ? ' ' : *set;
}

/// Least number of items, and largest number of groups, at which several arrays of values are sorted in
/// groups of up to 8 bytes: gathers of long arrays miss the cache. On an H100, two arrays of u64 with u32 keys
/// take 0.77 ms in groups and 0.78 by gathers (2^23), 1.39 and 1.66 (2^24).
constexpr std::uint64_t least_grouped = 1 << 24;
constexpr std::size_t most_groups_of_values = 4;
std::optional<std::uint64_t> preset_least_grouped_items;
constexpr std::size_t most_packed_bytes = 8;
/// Largest values: units of an array in one block are numbered by 32 bits.
constexpr std::size_t most_value_bytes = 1 << 18;
static_assert(most_value_bytes * most_items_of_array_tile < std::uint64_t{1} << 32);
/// Least number of pairs of 4-byte keys and 8-byte values that are examined. On an H100, 2^21 of density 1/x take
/// 0.151 ms in one kernel, and 0.165 if they are examined; uniform ones 0.154 and 0.156 (13ff2809).
constexpr std::uint64_t least_wide_pairs_examined = 1 << 22;
/// Number of pairs of 4-byte keys and values from which on they are not sorted by cub::DeviceRadixSort.
constexpr std::uint64_t least_pairs_beyond_cub = 5 << 19;
/// Largest array that one block sorts.
constexpr std::uint64_t most_items_of_block = longest_of_group_class(group_classes - 1);

constexpr std::size_t most_shared_bytes_of_short_digits = std::max(
    {sizeof(radix::PassShared<std::uint8_t, 8, radix::short_shape<std::uint8_t, 8>>),
     sizeof(radix::PassShared<std::uint16_t, 4, radix::short_shape_of<std::uint16_t, 4, true>>),
     sizeof(radix::PassShared<std::uint16_t, 16, radix::short_shape<std::uint16_t, 16>>),
     sizeof(radix::PassShared<std::uint32_t, 8, radix::short_shape<std::uint32_t, 8>>),
     sizeof(radix::PassShared<std::uint64_t, 8, radix::short_shape<std::uint64_t, 8>>)});

/// One sort in two phases: with null storage nothing is launched, and only its size is found.
/// Before each launch what has been taken is compared with the size.
class ArraySort {
 public:
  ArraySort(void* storage, std::size_t bytes, const ArrayRequest& request, cudaStream_t stream)
      : request_(request),
        stream_(stream),
        storage_(storage),
        carver_(storage),
        available_(bytes),
        measures_(storage == nullptr) {
    // The size may be queried without a GPU.
    const cudaError_t queried = limits_.query();
    const auto has_room = [&](std::size_t shared_bytes) {
      return queried != cudaSuccess ||
             limited_shared_bytes(limits_.shared_bytes) >= static_cast<int>(shared_bytes);
    };
    has_room_for_short_digits_ = has_room(most_shared_bytes_of_short_digits);
    has_room_for_tile_ = has_room(with_key_word(
        request.key_bytes, []<class Word>(Word) { return array_tile_bytes<Word>(); }));
  }

  cudaError_t run() {
    if (!measures_ && n() == 0) return fits();
    if (alternates() && request_.begin_bit == request_.end_bit) {
      *request_.result = {true, true};
      return launch_if_it_fits([] { return cudaSuccess; });
    }
    if (request_.several_values.size() == 1) {
      set_values(request_, request_.several_values.front());
      request_.several_values = {};
    }
    if (request_.begin_bit == request_.end_bit) return copy_items();
    if (takes_tile())
      return with_key_word(request_.key_bytes,
                           [&]<class Word>(Word) { return sort_in_tile<Word>(); });
    if (request_.are_positions) return sort_positions();
    if (!request_.several_values.empty()) {
      const std::vector<ValueGroup> groups = groups_of_values();
      if (groups.size() == 1 || takes_groups(groups)) return sort_groups(groups);
      return sort_and_gather();
    }
    if (has_common_values()) return sort_items(request_, request_.input_is_scratch);
    if (is_carried())
      return with_key_word(request_.key_bytes,
                           [&]<class Word>(Word) { return sort_carried<Word>(); });
    return sort_and_gather();
  }
  /// A null pointer would query the size again, so there is at least one byte.
  [[nodiscard]] std::size_t bytes() const {
    return std::max({carver_.used(), most_used_, std::size_t{1}});
  }

 private:
  [[nodiscard]] std::uint64_t n() const { return static_cast<std::uint64_t>(request_.num_items); }
  [[nodiscard]] std::uint64_t keys_size() const {
    return n() * static_cast<std::uint64_t>(request_.key_bytes);
  }
  [[nodiscard]] cudaError_t fits() const {
    return bytes() <= available_ ? cudaSuccess : cudaErrorInvalidValue;
  }
  /// Calls `launches` in the second phase.
  template <class Launches>
  cudaError_t launch_if_it_fits(const Launches& launches) const {
    if (measures_) return cudaSuccess;
    const cudaError_t status = fits();
    return status == cudaSuccess ? launches() : status;
  }
  [[nodiscard]] bool has_narrow_positions() const { return n() <= ~std::uint32_t{0}; }
  /// Whether there are no values, or such of 4 or 8 bytes, which every sort carries.
  [[nodiscard]] bool has_common_values() const {
    return request_.value_bytes == 0 || request_.value_bytes == 4 || request_.value_bytes == 8;
  }

  /// Whether the result may be in the input.
  [[nodiscard]] bool alternates() const { return request_.result != nullptr; }
  void set_result(bool is_in_input) {
    if (alternates()) *request_.result = {is_in_input, is_in_input};
  }

  /// Sorts by no bits.
  cudaError_t copy_items() {
    return launch_if_it_fits([&] {
      if (request_.are_positions) {
        return request_.value_bytes == 4
                   ? number_items(static_cast<std::uint32_t*>(request_.values_out), n(), stream_)
                   : number_items(static_cast<std::uint64_t*>(request_.values_out), n(), stream_);
      }
      cudaError_t status = cudaSuccess;
      const auto copy = [&](const void* in, void* out, std::size_t bytes) {
        if (status == cudaSuccess && in != out && bytes != 0)
          status = cudaMemcpyAsync(out, in, bytes * n(), cudaMemcpyDeviceToDevice, stream_);
      };
      copy(request_.keys_in, request_.keys_out, static_cast<std::size_t>(request_.key_bytes));
      copy(request_.values_in, request_.values_out, request_.value_bytes);
      for (const DeviceValues& values : request_.several_values)
        copy(values.in, values.out, values.bytes);
      return status;
    });
  }

  /// Whether one block sorts the array in a tile, and gathers the values.
  [[nodiscard]] bool takes_tile() const {
    const bool has_values_in_place =
        request_.value_bytes != 0 && request_.values_in != nullptr && is_in_place(request_);
    return n() <= most_items_of_array_tile && request_.several_values.empty() &&
           !has_values_in_place && has_room_for_tile_;
  }
  template <class Word>
  cudaError_t sort_in_tile() {
    Arguments<Word> arguments{};
    arguments.keys_in = static_cast<const Word*>(request_.keys_in);
    arguments.keys_out = static_cast<Word*>(request_.keys_out);
    arguments.codec = BitRangeCodec<Word>::make(request_.kind, request_.order, request_.begin_bit,
                                                request_.end_bit);
    PackedField values{};
    if (request_.value_bytes != 0)
      values = field_of(request_.values_in, request_.values_out, request_.value_bytes);
    if (request_.are_positions) {
      arguments.keys_out = nullptr;
      values.in = nullptr;
      values.unit = static_cast<unsigned int>(request_.value_bytes);
    }
    return launch_if_it_fits([&] {
      return launch_array_tile(LaunchPlan{n(), 1, limits_, stream_}, arguments, values);
    });
  }

  cudaError_t sort_positions() {
    ArrayRequest items = request_;
    items.keys_out = carver_.take<char>(keys_size());
    const auto sort = [&]<class Position>(Position* positions) {
      items.values_in = positions;
      const cudaError_t status =
          launch_if_it_fits([&] { return number_items(positions, n(), stream_); });
      return status == cudaSuccess ? sort_items(items, values_are_scratch()) : status;
    };
    return request_.value_bytes == 4 ? sort(carver_.take<std::uint32_t>(n()))
                                     : sort(carver_.take<std::uint64_t>(n()));
  }

  /// Whether values that were made for a sort may be overwritten by it. Arrays that may be sorted by
  /// digits need them until the first pass has ended, and thus a copy.
  [[nodiscard]] bool values_are_scratch() const { return n() <= most_items_of_block; }

  /// Whether passes over digits carry values of another size: positions would need more storage than
  /// values of 1 or 2 bytes, and where passes are few or short more time than those of 16.
  [[nodiscard]] bool is_carried() const {
    const std::size_t bytes = request_.value_bytes;
    const auto addresses = reinterpret_cast<std::uintptr_t>(request_.values_in) |
                           reinterpret_cast<std::uintptr_t>(request_.values_out);
    const std::uint64_t least_by_positions =
        request_.key_bytes == 4 ? least_examined : least_long_keys_examined;
    const bool carries_long =
        request_.end_bit - request_.begin_bit <= 2 * radix::digit_bits || n() < least_by_positions;
    return (bytes <= 2 || (bytes == 16 && carries_long)) && addresses % bytes == 0 &&
           (!request_.input_is_scratch || alternates()) && !is_in_place(request_) &&
           has_room_for_short_digits_;
  }
  template <class Word>
  cudaError_t sort_carried() {
    if (request_.value_bytes == 1) return sort_carried<Word, 1>();
    return request_.value_bytes == 2 ? sort_carried<Word, 2>() : sort_carried<Word, 16>();
  }
  template <class Word, int ValueBytes>
  cudaError_t sort_carried() {
    if constexpr (sizeof(Word) >= 4 && ValueBytes <= 2) {
      const DeviceRequest device = long_array(request_, false);
      if ((is_long_key_examined(request_) || n() >= least_examined) && has_large_tiles(device))
        return sort_long_array(device);
    }
    return n() < least_examined ? sort_by_short_digits<Word, ValueBytes, false>(request_)
                                : sort_by_long_digits<Word, ValueBytes>();
  }
  /// By digits, in a kernel for each.
  template <class Word, int ValueBytes>
  cudaError_t sort_by_long_digits() {
    const Arguments<Word> arguments = arguments_with_scratch<Word, ValueBytes>(request_);
    const int bits = request_.end_bit - request_.begin_bit;
    RadixStorage storage;
    storage.passes_bytes =
        radix::passes_bytes((bits + radix::digit_bits - 1) / radix::digit_bits, n());
    storage.passes = reinterpret_cast<radix::Passes*>(carver_.take<char>(storage.passes_bytes));
    storage.statuses = carver_.take<radix::Status>(radix::status_words<Word, ValueBytes>(n()));
    return launch_if_it_fits([&] {
      const LaunchPlan plan{
          n(),
          1,
          limits_,
          stream_,
          limits_.has_dependent_launch ? LaunchOrder::overlapping : LaunchOrder::after,
          true};
      const cudaError_t status = cudaMemsetAsync(storage.passes, 0, storage.passes_bytes, stream_);
      return status == cudaSuccess ? launch_radix<Word, ValueBytes>(plan, arguments, storage,
                                                                    nullptr, ArrayMethod::digits)
                                   : status;
    });
  }

  cudaError_t sort_and_gather() {
    if (keeps_positions_in_output<std::uint32_t>() && has_narrow_positions())
      return sort_and_gather_in_output<std::uint32_t>();
    if (keeps_positions_in_output<std::uint64_t>() && !has_narrow_positions())
      return sort_and_gather_in_output<std::uint64_t>();
    return has_narrow_positions() ? sort_and_gather_by<std::uint32_t>()
                                  : sort_and_gather_by<std::uint64_t>();
  }
  /// Whether two arrays of positions fit the output of the values, which need not be aligned to a
  /// position.
  template <class Position>
  [[nodiscard]] bool keeps_positions_in_output() const {
    return request_.several_values.empty() && request_.value_bytes > 2 * sizeof(Position) &&
           n() >= 4 * sizeof(Position) &&
           (request_.values_in != request_.values_out || request_.values_in == nullptr);
  }
  /// Sorts positions that are in the output of the values, and gathers the values. Sorted positions are
  /// in the place of a copy of the values, if cub::DeviceRadixSort takes one; otherwise at the end of the
  /// output.
  template <class Position>
  cudaError_t sort_and_gather_in_output() {
    const auto begin = reinterpret_cast<std::uintptr_t>(request_.values_out);
    const auto end = begin + n() * request_.value_bytes;
    constexpr auto size = static_cast<std::uint64_t>(sizeof(Position));
    auto* const first = reinterpret_cast<Position*>((begin + size - 1) / size * size);
    auto* const last = reinterpret_cast<Position*>((end / size - n()) * size);
    const int bits = request_.end_bit - request_.begin_bit;
    ArrayRequest items = request_;
    items.value_bytes = sizeof(Position);
    items.has_narrow_count = false;  // smaller tiles still take less storage than the values would
    if (!alternates() && bits > radix::digit_bits) {
      auto* const positions = carver_.take<Position>(n());
      const cudaError_t status = sort_numbers(items, first, positions);
      return status == cudaSuccess && !measures_
                 ? gather(request_.values_in, request_.values_out, positions, request_.value_bytes,
                          n(), stream_)
                 : status;
    }
    // Where the result of most sorts is at the end of the output.
    const bool ends_in_input = alternates() && passes_end_in_input(bits);
    cudaError_t status =
        ends_in_input ? sort_numbers(items, last, first) : sort_numbers(items, first, last);
    const bool is_in_input = alternates() && request_.result->values_in_input;
    if (alternates()) request_.result->values_in_input = false;
    if (status != cudaSuccess || measures_) return status;
    if (is_in_input != ends_in_input)
      status = cudaMemcpyAsync(last, first, n() * size, cudaMemcpyDeviceToDevice, stream_);
    return status == cudaSuccess ? gather_over_positions(request_.values_in, request_.values_out,
                                                         last, request_.value_bytes, n(), stream_)
                                 : status;
  }
  /// Sorts the numbers of the items as values from one array to another.
  template <class Position>
  cudaError_t sort_numbers(ArrayRequest items, Position* numbers, Position* sorted) {
    items.values_in = numbers;
    items.values_out = sorted;
    const cudaError_t status =
        launch_if_it_fits([&] { return number_items(numbers, n(), stream_); });
    return status == cudaSuccess ? sort_items(items, false) : status;
  }
  template <class Position>
  cudaError_t sort_and_gather_by() {
    ArrayRequest items = request_;
    auto* const numbers = carver_.take<Position>(n());
    auto* const positions = carver_.take<Position>(n());
    items.values_in = numbers;
    items.values_out = positions;
    items.value_bytes = sizeof(Position);
    cudaError_t status = launch_if_it_fits([&] { return number_items(numbers, n(), stream_); });
    if (status == cudaSuccess) status = sort_items(items, values_are_scratch());
    if (status != cudaSuccess || measures_) return status;
    const bool is_in_input = alternates() && request_.result->values_in_input;
    if (alternates()) request_.result->values_in_input = false;
    const auto gather_values = [&](const void* in, void* out, std::size_t bytes) {
      return gather(in, out, is_in_input ? numbers : positions, bytes, n(), stream_);
    };
    if (request_.several_values.empty())
      return gather_values(request_.values_in, request_.values_out, request_.value_bytes);
    for (const DeviceValues& values : request_.several_values)
      if (status == cudaSuccess) status = gather_values(values.in, values.out, values.bytes);
    return status;
  }

  static void set_values(ArrayRequest& request, const DeviceValues& values) {
    request.values_in = values.in;
    request.values_out = values.out;
    request.value_bytes = values.bytes;
  }

  /// Arrays of values that are sorted together.
  struct ValueGroup {
    std::vector<DeviceValues> arrays;
    std::size_t bytes = 0;  ///< of a value of each
  };
  /// Puts each array into the first group that stays within 8 bytes. An array of larger values has a
  /// group of its own.
  [[nodiscard]] std::vector<ValueGroup> groups_of_values() const {
    std::vector<ValueGroup> groups;
    for (const DeviceValues& values : request_.several_values) {
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
  [[nodiscard]] bool takes_groups(const std::vector<ValueGroup>& groups) const {
    return n() >= preset_least_grouped_items.value_or(least_grouped) &&
           groups.size() <= most_groups_of_values && request_.keys_in != request_.keys_out &&
           std::all_of(groups.begin(), groups.end(),
                       [](const ValueGroup& group) { return group.bytes <= most_packed_bytes; });
  }
  cudaError_t sort_groups(const std::vector<ValueGroup>& groups) {
    const StorageCarver all = carver_;
    for (const ValueGroup& group : groups) {
      carver_ = all;
      const cudaError_t status = sort_group(group);
      if (status != cudaSuccess) return status;
      most_used_ = std::max(most_used_, carver_.used());
    }
    return cudaSuccess;
  }
  cudaError_t sort_group(const ValueGroup& group) {
    const DeviceValues& first = group.arrays.front();
    if (group.arrays.size() == 1 && first.in != first.out &&
        (first.bytes == 4 || first.bytes == 8)) {
      ArrayRequest items = request_;
      set_values(items, first);
      return sort_items(items, false);
    }
    return group.bytes <= 4 ? sort_packed<std::uint32_t>(group.arrays)
                            : sort_packed<std::uint64_t>(group.arrays);
  }
  /// Values in the largest units, of up to 8 bytes, that their size and addresses allow.
  static PackedField field_of(const void* in, void* out, std::size_t bytes) {
    const std::uint64_t all = reinterpret_cast<std::uintptr_t>(in) |
                              reinterpret_cast<std::uintptr_t>(out) | bytes | most_packed_bytes;
    const auto unit = static_cast<unsigned int>(all & (~all + 1));
    return {in, out, unit, static_cast<unsigned int>(bytes) / unit};
  }
  /// \pre the values together fit a word
  template <class Word>
  cudaError_t sort_packed(std::span<const DeviceValues> arrays) {
    PackedFields fields{};
    for (const DeviceValues& values : arrays)
      fields.fields[fields.count++] = field_of(values.in, values.out, values.bytes);
    ArrayRequest items = request_;
    auto* const packed = carver_.take<Word>(n());
    auto* const sorted = carver_.take<Word>(n());
    items.values_in = packed;
    items.values_out = sorted;
    items.value_bytes = sizeof(Word);
    cudaError_t status = launch_if_it_fits([&] { return pack(fields, packed, n(), stream_); });
    if (status == cudaSuccess) status = sort_items(items, values_are_scratch());
    if (status != cudaSuccess || measures_) return status;
    return unpack(fields, sorted, n(), stream_);
  }

  /// Whether an array is sorted in place. A query of the size may be without arrays: then it is not.
  [[nodiscard]] static bool is_in_place(const ArrayRequest& items) {
    return items.keys_in != nullptr && items.keys_in == items.keys_out;
  }

  /// Whether an array is of keys of 8 bytes, compared by all bits, and long enough to be examined.
  [[nodiscard]] static bool is_long_key_examined(const ArrayRequest& items) {
    return static_cast<std::uint64_t>(items.num_items) >= least_long_keys_examined &&
           items.key_bytes == 8 && items.end_bit - items.begin_bit == 64;
  }

  /// Whether a short array is sorted by its digits in one kernel without being examined. The input
  /// must stay as it is, since passes alternate between the output and the scratch, unless the result
  /// may be in it.
  [[nodiscard]] bool takes_short_digits(const ArrayRequest& items) {
    const auto n = static_cast<std::uint64_t>(items.num_items);
    const bool is_wide_pair =
        items.key_bytes == 4 && items.value_bytes == 8 && !has_preset_use_of_digits();
    return !is_long_key_examined(items) && n > most_items_of_block &&
           n < (is_wide_pair ? least_wide_pairs_examined : least_examined) &&
           (!items.input_is_scratch || alternates()) && !is_in_place(items) &&
           items.begin_bit != items.end_bit && has_room_for_short_digits_;
  }
  template <class Word>
  cudaError_t sort_by_short_digits(const ArrayRequest& items) {
    if (items.value_bytes == 0) return sort_by_short_digits<Word, 0, false>(items);
    if (items.value_bytes == 8) return sort_by_short_digits<Word, 8, false>(items);
    // Beside a copy of the items, the statuses hardly matter.
    const bool has_copy = !alternates() && items.end_bit - items.begin_bit > radix::digit_bits;
    if constexpr (sizeof(Word) <= 4)
      if (items.has_narrow_count && !has_copy) return sort_by_short_digits<Word, 4, true>(items);
    return sort_by_short_digits<Word, 4, false>(items);
  }
  template <class Word, int ValueBytes, bool IsLarge>
  cudaError_t sort_by_short_digits(const ArrayRequest& items) {
    Arguments<Word> arguments = arguments_with_scratch<Word, ValueBytes>(items);
    const int bits = items.end_bit - items.begin_bit;
    auto* const passes = reinterpret_cast<radix::ShortPasses<Word>*>(carver_.take<char>(
        radix::short_passes_bytes<Word>((bits + radix::digit_bits - 1) / radix::digit_bits)));
    auto* const statuses =
        carver_.take<radix::Status>(radix::short_status_words<Word, ValueBytes, IsLarge>(n()));
    return launch_if_it_fits([&] {
      return launch_short_digits<Word, ValueBytes, IsLarge>(LaunchPlan{n(), 1, limits_, stream_},
                                                            arguments, nullptr, passes, statuses);
    });
  }

  /// Sorts keys alone, or with values of 4 or 8 bytes.
  cudaError_t sort_items(const ArrayRequest& items, bool values_are_scratch) {
    if (items.key_bytes == 1) return sort_narrow<std::uint8_t>(items);
    if (items.key_bytes == 2) return sort_narrow<std::uint16_t>(items);
    if (array_trial() == 'c' && items.key_bytes == 4 && items.value_bytes == 4 &&
        n() > most_items_of_block && !is_in_place(items) &&
        (!items.input_is_scratch || alternates()))
      return sort_by_cub(items);
    if (array_trial() == 's' && items.key_bytes == 4 && n() > most_items_of_block &&
        !is_in_place(items) && (!items.input_is_scratch || alternates()))
      return sort_by_short_digits<std::uint32_t>(items);
    if (takes_short_digits(items))
      return items.key_bytes == 4 ? sort_by_short_digits<std::uint32_t>(items)
                                  : sort_by_short_digits<std::uint64_t>(items);
    if (takes_cub(items)) return sort_by_cub(items);
    return sort_long_array(long_array(items, values_are_scratch));
  }
  /// \pre keys of 4 or 8 bytes
  static DeviceRequest long_array(const ArrayRequest& items, bool values_are_scratch) {
    const auto of_kind = [&](KeyType unsigned_type, KeyType signed_type, KeyType floating) {
      return items.kind == KeyKind::unsigned_integer ? unsigned_type
             : items.kind == KeyKind::signed_integer ? signed_type
                                                     : floating;
    };
    DeviceRequest device;
    device.key_type = items.key_bytes == 4 ? of_kind(KeyType::u32, KeyType::i32, KeyType::f32)
                                           : of_kind(KeyType::u64, KeyType::i64, KeyType::f64);
    device.value_bytes = static_cast<int>(items.value_bytes);
    device.keys_in = items.keys_in;
    device.keys_out = items.keys_out;
    device.values_in = items.values_in;
    device.values_out = items.values_out;
    device.input_is_scratch = items.input_is_scratch;
    device.value_input_is_scratch = values_are_scratch;
    device.is_array = true;
    device.num_items = items.num_items;
    device.num_segments = 1;
    device.order = items.order;
    device.begin_bit = items.begin_bit;
    device.end_bit = items.end_bit;
    return device;
  }
  cudaError_t sort_long_array(const DeviceRequest& device) {
    return with_storage(true, [&](void* storage, std::size_t& bytes) {
      if (alternates()) {
        bool is_in_input = false;
        const cudaError_t status =
            sort_double_buffers_on_device(storage, bytes, device, is_in_input, stream_);
        set_result(is_in_input);
        return status;
      }
      return sort_on_device(storage, bytes, device, stream_);
    });
  }

  /// Whether cub::DeviceRadixSort takes less time than our passes: some of the bits, and the shortest pairs
  /// that are examined. On an H100, 24 bits of 2^24 u32 with u32 values take 0.51 ms, by our passes 0.59; 40
  /// bits of u64 0.77 and 0.87; 2^21 u32 with u32 values 0.136 and 0.143, in DoubleBuffers 0.135 and 0.157.
  [[nodiscard]] bool takes_cub(const ArrayRequest& items) const {
    const bool is_pair = items.key_bytes == 4 && items.value_bytes == 4;
    const bool is_short_pair = is_pair && n() < least_pairs_beyond_cub &&
                               !has_preset_use_of_digits() && array_trial() != 'o';
    const bool takes_digits = items.key_bytes == 4 ? items.value_bytes != 0 : alternates();
    const bool can_take_cub =
        (is_pair && has_narrow_positions()) ||
        (items.kind == KeyKind::unsigned_integer && items.order == Order::ascending);
    return takes_digits && can_take_cub && n() >= least_examined &&
           items.end_bit != items.begin_bit &&
           (is_short_pair || items.end_bit - items.begin_bit != 8 * items.key_bytes) &&
           !is_in_place(items) && (!items.input_is_scratch || alternates());
  }
  /// By cub::DeviceRadixSort. \pre that of encoded_radix_sort()
  cudaError_t sort_by_cub(const ArrayRequest& items) {
    // CUB does not reject each size that is too small.
    if (alternates()) {
      RadixBuffers buffers{const_cast<void*>(items.keys_in), items.keys_out,
                           const_cast<void*>(items.values_in), items.values_out};
      const cudaError_t status = with_storage(false, [&](void* storage, std::size_t& bytes) {
        return encoded_radix_sort(storage, bytes, buffers, n(), items.key_bytes, items.kind,
                                  items.order, static_cast<int>(items.value_bytes), items.begin_bit,
                                  items.end_bit, stream_);
      });
      set_result(buffers.keys == items.keys_in);
      return status;
    }
    const RadixArrays arrays{items.keys_in, items.keys_out, items.values_in, items.values_out};
    return with_storage(false, [&](void* storage, std::size_t& bytes) {
      return encoded_radix_sort(storage, bytes, arrays, n(), items.key_bytes, items.kind,
                                items.order, static_cast<int>(items.value_bytes), items.begin_bit,
                                items.end_bit, stream_);
    });
  }

  /// Least number of keys that are counted: from there on, counters take at most as much storage as
  /// cub::DeviceRadixSort.
  template <class Word>
  [[nodiscard]] std::uint64_t least_counted() const {
    if (sizeof(Word) == 1) return 1 << 15;
    return alternates() ? std::uint64_t{1} << 24 : counting::least_counted<Word>;
  }
  template <class Word>
  cudaError_t sort_narrow(const ArrayRequest& items) {
    const KeyCodec<Word> codec(items.kind, items.order);
    if (items.value_bytes == 0 && items.end_bit - items.begin_bit == codec.bits &&
        n() >= least_counted<Word>()) {
      void* const storage = carver_.take<char>(counting::storage_bytes<Word>);
      return launch_if_it_fits([&] {
        return counting::sort(static_cast<const Word*>(items.keys_in),
                              static_cast<Word*>(items.keys_out), counting::CountedRange{n()},
                              codec, storage, limits_, stream_);
      });
    }
    if (takes_short_digits(items)) return sort_by_short_digits<Word>(items);
    // CUB's passes take 0.30 ms for 2^24 sorted f16 keys with u32 values on an H100, and 4.2 for 2^28; ours took
    // 0.36 and 4.9.
    return sort_by_cub(items);
  }

  /// The arrays of a sort by digits, with a second copy of the items if there are several passes.
  template <class Word, int ValueBytes>
  Arguments<Word> arguments_with_scratch(const ArrayRequest& items) {
    Arguments<Word> arguments{};
    arguments.keys_in = static_cast<const Word*>(items.keys_in);
    arguments.keys_out = static_cast<Word*>(items.keys_out);
    arguments.values_in = items.values_in;
    arguments.values_out = items.values_out;
    arguments.value_bytes = ValueBytes;
    arguments.codec =
        BitRangeCodec<Word>::make(items.kind, items.order, items.begin_bit, items.end_bit);
    if (alternates()) {
      const bool ends_in_input = passes_end_in_input(items.end_bit - items.begin_bit);
      auto* const keys = const_cast<void*>(items.keys_in);
      auto* const values = const_cast<void*>(items.values_in);
      (ends_in_input ? arguments.keys_out : arguments.keys_scratch) = static_cast<Word*>(keys);
      (ends_in_input ? arguments.values_out : arguments.values_scratch) = values;
      if (ends_in_input) {
        arguments.keys_scratch = static_cast<Word*>(items.keys_out);
        arguments.values_scratch = items.values_out;
      }
      set_result(ends_in_input);
    } else if (items.end_bit - items.begin_bit > radix::digit_bits) {
      arguments.keys_scratch = carver_.take<Word>(n());
      if (ValueBytes != 0) arguments.values_scratch = carver_.take<ValueWord<ValueBytes>>(n());
    }
    return arguments;
  }

  /// Calls a two-phase sort with storage of its own. If it has all of the storage, and checks its size,
  /// the size need not be queried again.
  template <class Sort>
  cudaError_t with_storage(bool is_checked, const Sort& sort) {
    if (is_checked && !measures_ && carver_.used() == 0) return sort(storage_, available_);
    std::size_t bytes = 0;
    const cudaError_t status = sort(nullptr, bytes);
    if (status != cudaSuccess) return status;
    if (carver_.used() == 0) {
      most_used_ = std::max(most_used_, bytes);
      return launch_if_it_fits([&] { return sort(storage_, bytes); });
    }
    void* const storage = carver_.take<char>(bytes);
    return launch_if_it_fits([&] { return sort(storage, bytes); });
  }

  ArrayRequest request_;
  cudaStream_t stream_;
  void* storage_;
  StorageCarver carver_;
  std::size_t most_used_ = 0;  ///< by the groups of values, or by a sort that has all storage
  std::size_t available_;
  bool measures_;
  DeviceLimits limits_;
  bool has_room_for_short_digits_ = false;
  bool has_room_for_tile_ = false;
};

bool is_valid(const ArrayRequest& request) {
  if (request.num_items < 0 || request.begin_bit < 0 || request.end_bit < request.begin_bit)
    return false;
  if (request.are_positions && request.value_bytes == 4 && request.num_items >> 32 != 0)
    return false;
  if (request.value_bytes > most_value_bytes ||
      std::any_of(request.several_values.begin(), request.several_values.end(),
                  [](const DeviceValues& values) { return values.bytes > most_value_bytes; }))
    return false;
  return request.end_bit <= 8 * request.key_bytes;
}

}  // namespace

void preset_least_grouped(std::optional<std::uint64_t> items) {
  preset_least_grouped_items = items;
}

cudaError_t sort_array_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                 const ArrayRequest& request, cudaStream_t stream) {
  if (!is_valid(request) || !is_aligned_storage(temp_storage)) return cudaErrorInvalidValue;
  ArraySort sort(temp_storage, temp_storage_bytes, request, stream);
  if (request.result != nullptr) *request.result = {};
  const cudaError_t status = sort.run();
  if (temp_storage == nullptr && status == cudaSuccess) temp_storage_bytes = sort.bytes();
  return status;
}

}  // namespace sortie::segsort
