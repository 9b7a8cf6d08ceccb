// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/bench/sort/sort_bench.hpp"
#include "sortie/context.hpp"

/// DeviceSort beside cub::DeviceRadixSort, on one array in the memory of one GPU.
namespace sortie::bench {

struct DeviceSortOptions {
  std::vector<std::uint64_t> items;   ///< numbers of items
  std::vector<std::string> types;     ///< key types, or f16 or bf16
  std::vector<std::string> payloads;  ///< "none", "u8" to "u128", "positions32" or "positions64"
  std::vector<std::string> keys;      ///< as parse_sort_case()
  int repetitions = 5;
  std::uint64_t seed = 1;
};

/// Measures every combination: rows for a copy of the arrays, for CUB and for DeviceSort. Times are
/// those of CUDA events around calls with temporary storage that is there already, on new keys in
/// each repetition; all results are checked on the GPU. CUB sorts unsigned keys of the same width, in a
/// further row floating-point numbers of the type (but bf16) alone or with 4-byte values,
/// and positions as values of an array that holds 0, 1, 2, ... before.
/// \throws Error (usage) unknown type, payload or keys; (unavailable) no CUDA
std::vector<Row> device_sort(const Context& context, const DeviceSortOptions& options,
                             const RowSink& sink);

/// One combination.
struct DeviceSortCase {
  std::uint64_t items;
  std::string type;
  int key_bytes;
  KeyKind kind;
  std::string payload;
  int value_bytes;
  bool are_positions;
  SortCase keys;
};

/// The CUDA part of device_sort().
std::vector<Row> device_sort_on_cuda(const Context& context,
                                     const std::vector<DeviceSortCase>& cases, int repetitions,
                                     std::uint64_t seed, const RowSink& sink);

}  // namespace sortie::bench
