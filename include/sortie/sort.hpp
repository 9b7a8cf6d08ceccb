// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/key_types.hpp"

namespace sortie {

/// How an array sort divides its work among devices. A program may register further algorithms,
/// which then are values of this type: Sortie's own program registers the designs of papers/
/// (papers/papers.hpp, not installed), where `options.algorithm = papers::rmg` is written like
/// SortAlgorithm::merge.
enum class SortAlgorithm : int {
  automatic,  ///< radix
  /// Divides keys by leading digits, exchanges them, and sorts; no merging. Host data beyond GPU
  /// memory passes through the GPUs twice, in chunks.
  radix,
  merge,  ///< sorts shares, splits them at exact pivots, exchanges, merges
};

[[nodiscard]] SORTIE_API std::string_view name(SortAlgorithm algorithm);
/// "auto", "radix", "merge" and registered names. \throws Error (usage)
[[nodiscard]] SORTIE_API SortAlgorithm parse_sort_algorithm(std::string_view text);
/// The algorithms of a backend in this build, the default first; registered ones last.
[[nodiscard]] SORTIE_API std::vector<SortAlgorithm> sort_algorithms(Backend backend);

/// How items move between GPUs.
enum class Transport {
  automatic,  ///< peer access between each pair of GPUs that has it, staged between the others
  peer,       ///< peer access only; an error if any pair of GPUs has none
  staged,     ///< through page-locked host memory only
};

[[nodiscard]] SORTIE_API std::string_view name(Transport transport);
/// "auto", "peer" or "staged". \throws Error (usage)
[[nodiscard]] SORTIE_API Transport parse_transport(std::string_view text);

/// Options of an array sort.
struct SortOptions {
  Order order = Order::ascending;
  bool stable = false;  ///< Equal keys keep their order. Read by the host backend only.
  SortAlgorithm algorithm = SortAlgorithm::automatic;
  /// Number of logical devices that share the array. Host: one thread runs one device at a time; 0
  /// means one device per thread; fewer devices than threads leave threads idle. CUDA: devices are
  /// assigned to the GPUs round-robin, so several may share a GPU; 0 means one device per GPU.
  int devices = 0;
  Transport transport = Transport::automatic;  ///< of the cuda backend
};

namespace multisort {

/// A type-erased in-place sort of host memory. The backends implement it.
struct Request {
  void* keys = nullptr;
  KeyType key_type = KeyType::u32;
  std::uint64_t num_items = 0;
  void* values = nullptr;
  int value_bytes = 0;  ///< 0 (keys only), 4 or 8
  SortOptions options;

  [[nodiscard]] std::uint64_t key_size() const {
    return static_cast<std::uint64_t>(key_bytes(key_type));
  }
  [[nodiscard]] std::uint64_t value_size() const { return static_cast<std::uint64_t>(value_bytes); }
  /// Bytes of all keys and values.
  [[nodiscard]] std::uint64_t bytes() const { return num_items * (key_size() + value_size()); }
};

/// Checks a request, chooses the backend and runs it.
SORTIE_API void sort(const Context& context, const Request& request);

}  // namespace multisort

/// Sorts the keys of one array, in place. For many short arrays use segmented_sort(); for an array
/// that is in GPU memory already use sort_chunks() (sort_chunks.hpp).
///
/// \param context  backend, threads, progress;
///                 memory budget: bytes of work space, on CUDA of each GPU;
///                 report: host phases "order", "range", "histogram", "scatter", "exchange",
///                 "local sort", with merge "local sort", "pivots", "exchange", "merge"; CUDA
///                 phases "copy in", those of sort_chunks(), "copy out"; beyond GPU memory "sort
///                 chunks", "sort parts"
/// \param options  direction, stability, algorithm, devices, transport
/// \throws Error (usage)          the number of devices is out of range
/// \throws Error (out_of_memory)  the work space does not fit the budget or the memory
/// \throws Error (unavailable)    no GPU, or the backend does not have the algorithm
///
/// Complexity: radix O(n * key bits / 8) at most, less if keys differ in their leading bits; on the
/// host O(n) if the input is sorted or reversed. Merge: O(n log G) more for G devices.
/// Extra memory, host: keys alone a few MiB; with values one copy if `stable` is set, else some
/// MiB. CUDA: on each GPU the chunk and what sort_chunks() takes; in host memory none, or one copy
/// beyond GPU memory.
///
/// Page-locked host memory is copied at bus speed, and the radix sort overlaps these copies with
/// its work. Pageable memory is copied through page-locked blocks.
/// Stability, with values: on the host every sort is stable if `stable` is set, and merge always
/// is. On CUDA every sort is stable. The result does not depend on the number of threads or devices.
///
/// Source: Ilic: RMG Sort (2022), section 3; Tanasic et al. (GPGPU 2013), section 3; Gowanlock and
/// Karsin: Sorting Large Datasets with Heterogeneous CPU/GPU Architectures (IPDPSW 2018).
/// multisort/README.md lists the differences.
template <SortKey Key>
void sort(const Context& context, std::span<Key> keys, const SortOptions& options = {}) {
  multisort::sort(context, {keys.data(), key_type_of<Key>(), keys.size(), nullptr, 0, options});
}

/// As above, with a value for each key.
/// \throws Error (usage) also if values.size() differs from keys.size()
template <SortKey Key, SortValue Value>
void sort(const Context& context, std::span<Key> keys, std::span<Value> values,
          const SortOptions& options = {}) {
  multisort::Request request{
      keys.data(), key_type_of<Key>(), keys.size(), values.data(), static_cast<int>(sizeof(Value)),
      options};
  if (values.size() != keys.size()) request.value_bytes = -1;  // refused by sort()
  multisort::sort(context, request);
}

}  // namespace sortie
