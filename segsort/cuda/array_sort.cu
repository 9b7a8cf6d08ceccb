// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "primitives/payload.hpp"
#include "segsort/cuda/any_values.cuh"
#include "segsort/cuda/array_call.cuh"
#include "segsort/cuda/array_items.cuh"
#include "segsort/cuda/array_request.hpp"
#include "segsort/cuda/array_values.cuh"
#include "segsort/cuda/device_request.hpp"
#include "segsort/cuda/launch_array_tile.cuh"

/// The sort of one array: which kind of sort takes a request.
namespace sortie::segsort {

// Each is instantiated in a source file that CMake generates.
#define SORTIE_EXTERN_ARRAY_TILE(Word)                                                     \
  extern template cudaError_t launch_array_tile(const LaunchPlan&, const Arguments<Word>&, \
                                                const PackedField&)
SORTIE_EXTERN_ARRAY_TILE(std::uint8_t);
SORTIE_EXTERN_ARRAY_TILE(std::uint16_t);
SORTIE_EXTERN_ARRAY_TILE(std::uint32_t);
SORTIE_EXTERN_ARRAY_TILE(std::uint64_t);
#undef SORTIE_EXTERN_ARRAY_TILE

namespace {

/// Largest values: units of an array in one block are numbered by 32 bits.
constexpr std::size_t most_value_bytes = 1 << 18;
static_assert(most_value_bytes * most_items_of_array_tile < std::uint64_t{1} << 32);

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

/// Sorts by no bits.
cudaError_t copy_items(const ArrayCall& call, const ArrayRequest& request) {
  const std::uint64_t n = item_count(request);
  return call.launch_if_it_fits([&] {
    if (request.are_positions) {
      return request.value_bytes == 4
                 ? number_items(static_cast<std::uint32_t*>(request.values_out), n, call.stream())
                 : number_items(static_cast<std::uint64_t*>(request.values_out), n, call.stream());
    }
    cudaError_t status = cudaSuccess;
    const auto copy = [&](const void* in, void* out, std::size_t bytes) {
      if (status == cudaSuccess && in != out && bytes != 0)
        status = cudaMemcpyAsync(out, in, bytes * n, cudaMemcpyDeviceToDevice, call.stream());
    };
    copy(request.keys_in, request.keys_out, static_cast<std::size_t>(request.key_bytes));
    copy(request.values_in, request.values_out, request.value_bytes);
    for (const DeviceValues& values : request.several_values)
      copy(values.in, values.out, values.bytes);
    return status;
  });
}

/// Whether cub::DeviceRadixSort sorts narrow keys in one block of its own faster than
/// narrow_array_kernel. On an H100 (ca976dd3), uniform u16 and 100 distinct ones, alone and with
/// values of 4 bytes, take 0.85 to 0.98 of its time for 2048 items, 1.08 to 1.14 for 4096, 1.4 to
/// 1.6 for 4864, and 0.5 to 0.6 beyond, where it takes several kernels; with values of 8 bytes it
/// does so for 4096.
bool takes_block_of_cub(const ArrayRequest& request) {
  constexpr std::uint64_t most_of_narrow_array = 2048;
  constexpr std::uint64_t most_of_cub_block = 4864;
  const std::uint64_t n = item_count(request);
  return request.key_bytes < 4 && n > most_of_narrow_array && n <= most_of_cub_block &&
         (request.value_bytes == 0 || request.value_bytes == 4) && !request.are_positions &&
         request.several_values.empty();
}

/// Whether one block sorts the array in a tile, and gathers the values.
bool takes_tile(const ArrayCall& call, const ArrayRequest& request) {
  const std::uint64_t n = item_count(request);
  const bool has_values_in_place =
      request.value_bytes != 0 && request.values_in != nullptr && is_in_place(request);
  return n <= most_items_of_array_tile && request.several_values.empty() && !has_values_in_place &&
         !takes_block_of_cub(request) &&
         call.has_shared_memory(with_key_word(
             request.key_bytes, []<class Word>(Word) { return array_tile_bytes<Word>(); }));
}
template <class Word>
cudaError_t sort_in_tile(const ArrayCall& call, const ArrayRequest& request) {
  Arguments<Word> arguments{};
  arguments.keys_in = static_cast<const Word*>(request.keys_in);
  arguments.keys_out = static_cast<Word*>(request.keys_out);
  arguments.codec =
      BitRangeCodec<Word>::make(request.kind, request.order, request.begin_bit, request.end_bit);
  PackedField values{};
  if (request.value_bytes != 0)
    values = field_of(request.values_in, request.values_out, request.value_bytes);
  if (request.are_positions) {
    arguments.keys_out = nullptr;
    values.in = nullptr;
    values.unit = static_cast<unsigned int>(request.value_bytes);
  }
  return call.launch_if_it_fits(
      [&] { return launch_array_tile(call.plan(item_count(request)), arguments, values); });
}

/// One phase of the sort.
cudaError_t sort_array(ArrayCall& call, ArrayRequest request) {
  if (!call.measures() && request.num_items == 0) return call.fits();
  if (alternates(request) && compared_bits(request) == 0) {
    set_result(request, true);
    return call.launch_if_it_fits([] { return cudaSuccess; });
  }
  if (request.several_values.size() == 1) {
    set_values(request, request.several_values.front());
    request.several_values = {};
  }
  if (compared_bits(request) == 0) return copy_items(call, request);
  if (takes_tile(call, request))
    return with_key_word(request.key_bytes,
                         [&]<class Word>(Word) { return sort_in_tile<Word>(call, request); });
  if (request.are_positions) return sort_positions(call, request);
  if (!request.several_values.empty()) return sort_several_values(call, request);
  if (has_common_values(request)) return sort_items(call, request, request.input_is_scratch);
  return is_carried(call, request) ? sort_carried(call, request) : sort_and_gather(call, request);
}

}  // namespace

cudaError_t sort_array_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                 const ArrayRequest& request, cudaStream_t stream) {
  if (!is_valid(request) || !is_aligned_storage(temp_storage)) return cudaErrorInvalidValue;
  ArrayCall call(temp_storage, temp_storage_bytes, stream);
  if (request.result != nullptr) *request.result = {};
  const cudaError_t status = sort_array(call, request);
  if (temp_storage == nullptr && status == cudaSuccess) temp_storage_bytes = call.bytes();
  return status;
}

}  // namespace sortie::segsort
