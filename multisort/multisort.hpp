#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "sortie/core/context.hpp"
#include "sortie/multisort/host/comparison_sort.hpp"
#include "sortie/multisort/host/devices.hpp"
#include "sortie/multisort/host/merge_sort.hpp"
#include "sortie/multisort/key_types.hpp"

namespace sortie {

/// How the sort of one array divides its work among devices.
enum class SortAlgorithm {
  automatic,  ///< radix
  /// Keys are divided by leading digits, exchanged, sorted: no merging. Host memory that the GPUs
  /// do not hold goes through them twice, in chunks.
  radix,
  merge,    ///< shares are sorted, divided by exact pivots, exchanged, merged
  rmg,      ///< GPUs: the radix sort as Ilic published it
  tanasic,  ///< GPUs: the merge sort in log2(G) stages as Tanasic et al. published it
  het,      ///< GPUs and host: chunks sorted on the GPUs are merged by the host's threads
  bitonic,  ///< one GPU: in place, with constant extra memory
};

[[nodiscard]] std::string_view name(SortAlgorithm algorithm);
/// "auto", "radix", "merge", ... \throws Error (usage)
[[nodiscard]] SortAlgorithm parse_sort_algorithm(std::string_view text);
/// Those that a backend has; of the cuda backend, what this build has.
[[nodiscard]] std::span<const SortAlgorithm> sort_algorithms(Backend backend);

/// How items come from one GPU to another.
enum class Transport {
  automatic,  ///< by peer access where there is some between all, else staged
  peer,       ///< by peer access; an error where there is none
  staged,     ///< through page-locked host memory
};

[[nodiscard]] std::string_view name(Transport transport);
/// "auto", "peer" or "staged". \throws Error (usage)
[[nodiscard]] Transport parse_transport(std::string_view text);

/// How to sort one array.
struct SortOptions {
  Order order = Order::ascending;
  bool stable = false;  ///< Equal keys keep their order.
  SortAlgorithm algorithm = SortAlgorithm::automatic;
  /// Devices that share the array; 0: as many as there are. On the host they are logical ones, each
  /// run by one thread at a time; 0 is one for each thread, and fewer leave threads idle. On CUDA
  /// they run on the GPUs in turn, so that more of them than GPUs share some; 0 is one for each
  /// GPU.
  int devices = 0;
  Transport transport = Transport::automatic;  ///< of the cuda backend
};

namespace multisort {

/// One sort on host memory, in place, type erased: what the backends implement.
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
  /// Of all items.
  [[nodiscard]] std::uint64_t bytes() const { return num_items * (key_size() + value_size()); }
};

/// Checks a request, chooses the backend and runs it.
void sort(const Context& context, const Request& request);

/// The host backend. `request` has been checked by sort().
void sort_on_host(const Context& context, const Request& request);

/// \throws Error (unavailable) a GPU is asked for
void require_host(const Context& context);

/// \throws Error (unavailable) the context's backend does not have the algorithm, or is not there
void require_algorithm(const Context& context, SortAlgorithm algorithm);

}  // namespace multisort

/// Sorts the keys of one array, in place.
///
/// For one long array. Many short ones are sorted by segmented_sort() at once; an array that lies
/// on GPUs already, by sort_chunks() (device_sort.hpp).
///
/// \param context  backend, threads, progress; memory budget: bytes of work space, on CUDA of each
///                 GPU; report: the host's phases are "order", "range", "histogram", "scatter",
///                 "exchange", "local sort", with the merge algorithm "local sort", "pivots",
///                 "exchange", "merge"; on CUDA "copy in", those of sort_chunks(), "copy out", with
///                 het "sort chunks", "merge"
/// \param options  direction, stability, algorithm, devices, transport
/// \throws Error (usage)          a number of devices that is none
/// \throws Error (out_of_memory)  the work space does not fit the budget or the memory
/// \throws Error (unavailable)    no GPU where one is asked for, or an algorithm that the backend
///                                does not have
///
/// Complexity: radix O(n * key bits / 8) at most, less where keys differ early, on the host O(n)
/// where they come in order or in the opposite one; merge O(n log G)
/// more for G devices. Extra memory on the host: for keys alone a few MiB, with values one copy
/// where `stable` is asked for, else some MiB; on CUDA, none in host memory
/// but with het and beyond the GPUs' memory (one copy), and on the GPUs what sort_chunks() takes.
/// Copies run at the speed of the bus, and beside the work of the radix sort, where host memory is
/// page-locked; else through page-locked blocks. Stable on the host but as said, and on CUDA where
/// sort_chunks() is; the same for any number of threads and devices. Source: Ilic: RMG Sort (2022),
/// section 3; Tanasic et al. (GPGPU 2013), section 3; Gowanlock and Karsin: Sorting Large Datasets
/// with Heterogeneous CPU/GPU Architectures (IPDPSW 2018). multisort/README.md tells more.
template <ArrayKey Key>
void sort(const Context& context, std::span<Key> keys, const SortOptions& options = {}) {
  multisort::sort(context,
                  {keys.data(), multisort::key_type_of<Key>(), keys.size(), nullptr, 0, options});
}

/// As above, with a value that travels with each key.
/// \throws Error (usage) also when values.size() differs from keys.size()
template <ArrayKey Key, SortValue Value>
void sort(const Context& context, std::span<Key> keys, std::span<Value> values,
          const SortOptions& options = {}) {
  multisort::Request request{keys.data(),   multisort::key_type_of<Key>(),   keys.size(),
                             values.data(), static_cast<int>(sizeof(Value)), options};
  if (values.size() != keys.size()) request.value_bytes = -1;  // refused by sort()
  multisort::sort(context, request);
}

/// Sorts records by a comparator, in place, with the merge algorithm.
///
/// \param before  strict weak order of records; called by several threads at once; must not throw
/// \param devices  as SortOptions::devices
/// \throws Error as sort()
///
/// Complexity O(n log n) comparisons. Extra memory: one copy of the records. Always stable, and the
/// same for any number of threads and devices.
template <class Record, class Before>
requires std::is_trivially_copyable_v<Record>
void sort_records(const Context& context, std::span<Record> records, Before before,
                  int devices = 0) {
  using multisort::Items;
  using multisort::NoValue;
  multisort::require_host(context);
  const std::size_t count = multisort::start_devices(context, devices);
  const Items<Record, NoValue> items{records.data(), nullptr};
  multisort::merge_sort(
      context, items, records.size(), count,
      [&](std::size_t, Items<Record, NoValue> part, Items<Record, NoValue> scratch,
          std::uint64_t n) { multisort::comparison_sort(part, scratch, n, before); },
      before, [](Items<Record, NoValue>, std::uint64_t) {});
}

}  // namespace sortie
