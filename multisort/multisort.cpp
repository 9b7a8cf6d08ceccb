// SPDX-License-Identifier: Apache-2.0
#include "sortie/sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "multisort/backends.hpp"
#include "multisort/host/merge_sort.hpp"
#include "primitives/host/items.hpp"
#include "primitives/payload.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/sort_chunks.hpp"
#include "sortie/sort_records.hpp"

namespace sortie {

namespace {

constexpr std::array host_algorithms = {SortAlgorithm::radix, SortAlgorithm::merge};
constexpr std::array<std::pair<Transport, std::string_view>, 3> transports = {
    {{Transport::automatic, "auto"}, {Transport::peer, "peer"}, {Transport::staged, "staged"}}};

/// The library's own algorithms, and those that the program has registered.
std::vector<multisort::Algorithm>& algorithms() {
  static std::vector<multisort::Algorithm> table = {{SortAlgorithm::automatic, "auto"},
                                                    {SortAlgorithm::radix, "radix"},
                                                    {SortAlgorithm::merge, "merge"}};
  return table;
}

const multisort::Algorithm* find_algorithm(SortAlgorithm id) {
  for (const multisort::Algorithm& one : algorithms())
    if (one.id == id) return &one;
  return nullptr;
}

}  // namespace

std::string_view name(SortAlgorithm algorithm) {
  const multisort::Algorithm* const found = find_algorithm(algorithm);
  return found == nullptr ? "unknown" : found->name;
}

SortAlgorithm parse_sort_algorithm(std::string_view text) {
  std::string expected;
  for (const multisort::Algorithm& one : algorithms()) {
    if (text == one.name) return one.id;
    if (!expected.empty()) expected += &one == &algorithms().back() ? " or " : ", ";
    expected += one.name;
  }
  throw Error(ErrorKind::usage,
              fmt::format("sort algorithm: found {}, expected {}", sortie::quoted(text), expected));
}

std::string_view name(Transport transport) {
  for (const auto& [id, text] : transports)
    if (id == transport) return text;
  return "unknown";
}

Transport parse_transport(std::string_view text) {
  for (const auto& [id, known] : transports)
    if (text == known) return id;
  throw Error(ErrorKind::usage, fmt::format("transport: found {}, expected auto, peer or staged",
                                            sortie::quoted(text)));
}

std::vector<SortAlgorithm> sort_algorithms(Backend backend) {
  if (backend != Backend::cuda) return {host_algorithms.begin(), host_algorithms.end()};
  const auto own = multisort::cuda_sort_algorithms();
  std::vector<SortAlgorithm> all(own.begin(), own.end());
  for (const multisort::Algorithm& one : algorithms())
    if (one.is_built()) all.push_back(one.id);
  return all;
}

namespace multisort {

// host/sort_typed_definition.hpp; CMake generates a source file for each key width.
template <class Key>
void sort_keys_of(const Context& context, const Request& request, std::size_t devices);

namespace {

void check_values(int value_bytes) {
  if (value_bytes == 0 || value_bytes == 4 || value_bytes == 8) return;
  throw Error(ErrorKind::usage,
              fmt::format("sort: found values of {} bytes, expected 4 or 8", value_bytes));
}

}  // namespace

void register_algorithm(const Algorithm& algorithm) {
  if (find_algorithm(algorithm.id) == nullptr) algorithms().push_back(algorithm);
}

const Algorithm* registered_algorithm(SortAlgorithm id) {
  const Algorithm* const found = find_algorithm(id);
  return found != nullptr && found->is_built() ? found : nullptr;
}

void require_algorithm(const Context& context, SortAlgorithm algorithm) {
  const Backend backend = resolve_backend(context);
  const std::vector<SortAlgorithm> known = sort_algorithms(backend);
  if (algorithm == SortAlgorithm::automatic ||
      std::find(known.begin(), known.end(), algorithm) != known.end())
    return;
  std::string expected = "auto";
  for (const SortAlgorithm one : known) expected += fmt::format(", {}", name(one));
  throw Error(ErrorKind::unavailable,
              fmt::format("sort: found algorithm {} on backend {}, expected {}", name(algorithm),
                          name(backend), expected));
}

std::size_t start_devices(const HostContext& context, int wanted) {
  if (wanted < 0 || wanted > most_logical_devices)
    throw Error(ErrorKind::usage, fmt::format("sort: found {} devices, expected 1 to {}, or 0 for "
                                              "one for each thread",
                                              wanted, most_logical_devices));
  start_host_runtime(context.threads);
  return static_cast<std::size_t>(wanted > 0 ? wanted : host_threads());
}

void sort_on_host(const Context& context, const Request& request) {
  const std::size_t devices = start_devices(context, request.options.devices);
  try {
    with_key_word(key_bytes(request.key_type),
                  [&]<class Word>(Word) { sort_keys_of<Word>(context, request, devices); });
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("the plan of the sort", request.num_items, host_memory_available());
  }
}

void sort(const Context& context, const Request& request) {
  if (request.value_bytes < 0)
    throw Error(ErrorKind::usage,
                "sort: found different numbers of keys and values, expected one value per key");
  check_values(request.value_bytes);
  require_algorithm(context, request.options.algorithm);
  report_progress(context, "sort", 0, request.num_items);
  if (resolve_backend(context) == Backend::cuda) {
    sort_on_cuda(context, request);
  } else {
    sort_on_host(context, request);
  }
  report_progress(context, "sort", request.num_items, request.num_items);
}

void check_chunks(const Context& context, const ChunkRequest& request) {
  check_values(request.value_bytes);
  if (context.backend == Backend::host)
    throw Error(ErrorKind::unavailable,
                "sort: found backend host, expected cuda: the chunks lie on GPUs");
  for (std::size_t i = 0; i < request.chunks.size(); ++i) {
    const DeviceChunk& chunk = request.chunks[i];
    if (chunk.size == 0) continue;
    if (chunk.keys == nullptr || (request.value_bytes != 0 && chunk.values == nullptr))
      throw Error(ErrorKind::usage,
                  fmt::format("sort: found a null pointer for the {} {} of chunk {}, expected "
                              "device memory",
                              chunk.size, chunk.keys == nullptr ? "keys" : "values", i));
  }
}

#ifndef SORTIE_HAVE_CUDA

[[noreturn]] static void refuse() {
  throw Error(ErrorKind::unavailable, "sort: this build of Sortie has no CUDA");
}

void sort_on_cuda(const Context&, const Request&) {
  refuse();
}

void sort_chunks(const Context& context, const ChunkRequest& request) {
  check_chunks(context, request);
  if (!request.chunks.empty()) refuse();
}

std::span<const SortAlgorithm> cuda_sort_algorithms() {
  return {};
}

#endif

}  // namespace multisort

namespace detail {

namespace {

/// The steps of multisort::merge_sort() for records.
struct RecordSteps {
  const RecordSort& description;
  std::byte* records;
  std::byte* scratch;

  [[nodiscard]] std::byte* at(std::byte* array, std::uint64_t i) const {
    return array + i * description.record_bytes;
  }
  void sort(std::size_t, std::uint64_t begin, std::uint64_t size) const {
    description.sort_share(at(records, begin), at(scratch, begin), size);
  }
  [[nodiscard]] const void* read(std::uint64_t i) const { return at(records, i); }
  [[nodiscard]] bool before(const void* a, const void* b) const { return description.before(a, b); }
  void copy(std::uint64_t begin, std::uint64_t size, std::uint64_t to) const {
    std::memcpy(at(scratch, to), at(records, begin), size * description.record_bytes);
  }
  [[nodiscard]] RecordRun run(std::uint64_t begin, std::uint64_t size) const {
    return {at(scratch, begin), size};
  }
  void merge(const std::vector<RecordRun>& runs, std::uint64_t begin, std::uint64_t) const {
    description.merge(runs, at(records, begin));
  }
};

}  // namespace

void sort_records(const Context& context, const RecordSort& sort, int devices) {
  if (context.backend == Backend::cuda)
    throw Error(ErrorKind::unavailable,
                "sort: found backend cuda, expected host: a comparator of the host cannot run on a "
                "GPU");
  const std::size_t count = multisort::start_devices(context, devices);
  const ItemStorage<std::byte, NoValue> storage(context, sort.count * sort.record_bytes,
                                                "scratch of the sort");
  RecordSteps steps{sort, static_cast<std::byte*>(sort.records), storage.items().keys};
  report_progress(context, "sort", 0, sort.count);
  if (count > 1) {
    multisort::merge_sort(context, sort.count, sort.record_bytes, count, steps);
  } else {
    const PhaseTimer timer(context, "local sort");
    steps.sort(0, 0, sort.count);
  }
  report_progress(context, "sort", sort.count, sort.count);
}

}  // namespace detail
}  // namespace sortie
