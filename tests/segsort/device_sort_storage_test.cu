// SPDX-License-Identifier: Apache-2.0

// Temporary storage of DeviceSort beside that of cub::DeviceRadixSort with the same types.

#include <gtest/gtest.h>

#include <cub/device/dispatch/tuning/tuning_radix_sort.cuh>
#include <cub/version.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "primitives/cuda/device_radix_sort.hpp"
#include "sortie/device_sort.hpp"

// The sizes that CUB asks for follow from its tuning, whose names are those of one version.
#if CUB_VERSION / 100 == 3000

namespace sortie::test {
namespace {

/// What the size depends on.
struct StorageCase {
  int key_bytes;
  int value_bytes;
  bool is_float;
  bool has_buffers;
  bool has_narrow_count;  ///< the number of items has 32 bits
  int bits;
};

struct CubTuning {
  std::uint64_t tile;
  std::uint64_t most_in_single_tile;
};

template <std::size_t Bytes>
struct Value {
  unsigned char bytes[Bytes];
};

/// \tparam Count  the unsigned type of the number of items
template <class Key, class Values, class Count>
constexpr CubTuning tuning_of() {
  using Policy = typename cub::detail::radix::policy_hub<Key, Values, Count>::Policy900;
  using Onesweep = typename Policy::OnesweepPolicy;
  using Single = typename Policy::SingleTilePolicy;
  return {static_cast<std::uint64_t>(Onesweep::BLOCK_THREADS) * Onesweep::ITEMS_PER_THREAD,
          static_cast<std::uint64_t>(Single::BLOCK_THREADS) * Single::ITEMS_PER_THREAD};
}
template <class Key, class Values>
CubTuning tuning_of(bool has_narrow_count) {
  return has_narrow_count ? tuning_of<Key, Values, std::uint32_t>()
                          : tuning_of<Key, Values, unsigned long long>();
}
template <class Key>
CubTuning tuning_of(const StorageCase& c) {
  switch (c.value_bytes) {
    case 0:
      return tuning_of<Key, cub::NullType>(c.has_narrow_count);
    case 1:
      return tuning_of<Key, Value<1>>(c.has_narrow_count);
    case 2:
      return tuning_of<Key, Value<2>>(c.has_narrow_count);
    case 4:
      return tuning_of<Key, Value<4>>(c.has_narrow_count);
    case 8:
      return tuning_of<Key, Value<8>>(c.has_narrow_count);
    case 12:
      return tuning_of<Key, Value<12>>(c.has_narrow_count);
    case 16:
      return tuning_of<Key, Value<16>>(c.has_narrow_count);
    default:
      return tuning_of<Key, Value<64>>(c.has_narrow_count);
  }
}
CubTuning tuning_of(const StorageCase& c) {
  if (c.key_bytes == 1) return tuning_of<std::uint8_t>(c);
  if (c.key_bytes == 2) return tuning_of<std::uint16_t>(c);
  if (c.key_bytes == 8) return tuning_of<std::uint64_t>(c);
  return c.is_float ? tuning_of<float>(c) : tuning_of<std::uint32_t>(c);
}

/// Bytes that cub::DeviceRadixSort of CUDA 13.0 asks for on a GPU of compute capability 9.0.
std::uint64_t bytes_of_cub(const StorageCase& c, std::uint64_t n) {
  const CubTuning tuning = tuning_of(c);
  if (c.bits == 0 || n <= tuning.most_in_single_tile) return 1;
  constexpr std::uint64_t digits = 256;
  constexpr std::uint64_t alignment = 256;
  constexpr std::uint64_t most_in_portion = (1 << 28) - 1;
  const std::uint64_t portion = most_in_portion / tuning.tile * tuning.tile;
  const std::uint64_t portions = (n - 1) / portion + 1;
  const auto passes = static_cast<std::uint64_t>((c.bits + 7) / 8);
  const bool is_copied = !c.has_buffers && passes > 1;
  std::uint64_t bytes = alignment - 1;
  for (const std::uint64_t array :
       {portions * passes * digits * (c.has_narrow_count ? 4 : 8),
        ((std::min(n, portion) - 1) / tuning.tile + 1) * digits * 4,
        is_copied ? n * static_cast<std::uint64_t>(c.key_bytes) : 0,
        is_copied ? n * static_cast<std::uint64_t>(c.value_bytes) : 0, portions * passes * 4})
    bytes += (array + alignment - 1) / alignment * alignment;
  return bytes;
}

/// Bytes that DeviceSort asks for; 0 if there is no GPU, and the size is that of CUB's sort.
std::uint64_t bytes_of_sortie(const StorageCase& c, std::uint64_t n, KeyKind kind, Order order) {
  segsort::ArrayRequest request;
  segsort::ResultPlace result;
  request.key_bytes = c.key_bytes;
  request.kind = kind;
  request.order = order;
  request.end_bit = c.bits;
  request.value_bytes = static_cast<std::size_t>(c.value_bytes);
  request.input_is_scratch = c.has_buffers;
  if (c.has_buffers) request.result = &result;
  request.num_items = static_cast<std::int64_t>(n);
  request.has_narrow_count = c.has_narrow_count;
  std::size_t bytes = 0;
  const cudaError_t status = segsort::sort_array_on_device(nullptr, bytes, request, nullptr);
  return status == cudaSuccess ? bytes : 0;
}

/// Calls function(case, number of items).
template <class Function>
void for_each_case(std::initializer_list<int> value_sizes, const Function& function) {
  for (const int key_bytes : {1, 2, 4, 8})
    for (const int value_bytes : value_sizes)
      for (const bool has_buffers : {false, true})
        for (const bool has_narrow_count : {false, true})
          for (const int bits : {8 * key_bytes, 4 * key_bytes, 3, 0})
            for (int log_n = 0; log_n <= 31; ++log_n)
              for (const std::uint64_t more : {0, 1, 12'345})
                if (!has_narrow_count || log_n < 31)
                  function(StorageCase{key_bytes, value_bytes, false, has_buffers, has_narrow_count,
                                       bits},
                           (std::uint64_t{1} << log_n) + more);
}

std::string name_of(const StorageCase& c, std::uint64_t n) {
  return std::to_string(n) + " keys of " + std::to_string(c.key_bytes) + " bytes, values of " +
         std::to_string(c.value_bytes) + ", by " + std::to_string(c.bits) + " bits" +
         (c.has_buffers ? ", double buffers" : "") +
         (c.has_narrow_count ? ", count of 32 bits" : "");
}

class DeviceSortStorage : public testing::Test {
 protected:
  void SetUp() override {
    int device = 0;
    int major = 9;
    int minor = 0;
    if (cudaGetDevice(&device) == cudaSuccess) {
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    }
    if (major != 9 || minor != 0) GTEST_SKIP() << "the sizes are those for compute capability 9.0";
  }
};

TEST_F(DeviceSortStorage, SizesOfCubFollowFromItsTuning) {
  for_each_case({0, 4, 8}, [](const StorageCase& c, std::uint64_t n) {
    // Our calls pass numbers of 32 bits, but for these items.
    const bool is_wide = (c.key_bytes == 2 && c.value_bytes == 8 && n > 1 << 16) ||
                         (c.key_bytes == 4 && c.value_bytes == 0);
    if (c.has_narrow_count == is_wide) return;
    std::size_t bytes = 0;
    RadixBuffers buffers;
    const cudaError_t status =
        c.has_buffers ? device_radix_sort(nullptr, bytes, buffers, n, c.key_bytes, c.value_bytes, 0,
                                          c.bits, nullptr)
                      : device_radix_sort(nullptr, bytes, RadixArrays{}, n, c.key_bytes,
                                          c.value_bytes, 0, c.bits, nullptr);
    if (status == cudaSuccess) {
      EXPECT_EQ(bytes, bytes_of_cub(c, n)) << name_of(c, n);
    }
  });
}

TEST_F(DeviceSortStorage, IsAtMostThatOfCub) {
  for_each_case({0, 1, 2, 4, 8, 12, 16, 64}, [](StorageCase c, std::uint64_t n) {
    for (const KeyKind kind :
         {KeyKind::unsigned_integer, KeyKind::signed_integer, KeyKind::floating_point}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        if (kind == KeyKind::floating_point && c.key_bytes == 1) continue;
        c.is_float = kind == KeyKind::floating_point && c.key_bytes == 4;
        // Tiles of short arrays with values of 4 bytes out of place are as large as CUB's for
        // numbers of 64 bits.
        StorageCase compared = c;
        if (c.value_bytes == 4 && c.key_bytes < 8 && n < 1 << 21 && !c.has_buffers && c.bits > 8)
          compared.has_narrow_count = false;
        const std::uint64_t of_cub = bytes_of_cub(compared, n);
        // Lists of ranges, of long arrays out of place.
        const std::uint64_t lists =
            !c.has_buffers && n > std::uint64_t{1} << 28 && c.key_bytes >= 4 ? of_cub / 190 : 0;
        EXPECT_LE(bytes_of_sortie(c, n, kind, order), of_cub + lists)
            << name_of(c, n) << ", kind " << static_cast<int>(kind) << ", order "
            << static_cast<int>(order);
      }
    }
  });
}

TEST_F(DeviceSortStorage, ShortArraysWithValuesOfAnySizeHaveNone) {
  for_each_case({1, 2, 16}, [](const StorageCase& c, std::uint64_t n) {
    if (n > 8192) return;
    EXPECT_EQ(bytes_of_sortie(c, n, KeyKind::floating_point, Order::descending), 1u)
        << name_of(c, n);
  });
}

}  // namespace
}  // namespace sortie::test

#endif
