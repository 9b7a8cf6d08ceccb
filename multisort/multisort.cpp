// SPDX-License-Identifier: Apache-2.0
#include "sortie/sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/progress.hpp"
#include "multisort/backends.hpp"
#include "sortie/error.hpp"
#include "sortie/sort_chunks.hpp"

namespace sortie {

namespace {

constexpr std::array all_algorithms = {
    SortAlgorithm::automatic, SortAlgorithm::radix, SortAlgorithm::merge,  SortAlgorithm::rmg,
    SortAlgorithm::tanasic,   SortAlgorithm::het,   SortAlgorithm::bitonic};
constexpr std::array host_algorithms = {SortAlgorithm::radix, SortAlgorithm::merge};
constexpr std::array all_transports = {Transport::automatic, Transport::peer, Transport::staged};

}  // namespace

std::string_view name(SortAlgorithm algorithm) {
  switch (algorithm) {
    case SortAlgorithm::automatic:
      return "auto";
    case SortAlgorithm::radix:
      return "radix";
    case SortAlgorithm::merge:
      return "merge";
    case SortAlgorithm::rmg:
      return "rmg";
    case SortAlgorithm::tanasic:
      return "tanasic";
    case SortAlgorithm::het:
      return "het";
    case SortAlgorithm::bitonic:
      return "bitonic";
  }
  return "unknown";
}

SortAlgorithm parse_sort_algorithm(std::string_view text) {
  for (const SortAlgorithm algorithm : all_algorithms)
    if (text == name(algorithm)) return algorithm;
  throw Error(
      ErrorKind::usage,
      fmt::format("sort algorithm: found {}, expected auto, radix, merge, rmg, tanasic, het "
                  "or bitonic",
                  quoted(text)));
}

std::string_view name(Transport transport) {
  switch (transport) {
    case Transport::automatic:
      return "auto";
    case Transport::peer:
      return "peer";
    case Transport::staged:
      return "staged";
  }
  return "unknown";
}

Transport parse_transport(std::string_view text) {
  for (const Transport transport : all_transports)
    if (text == name(transport)) return transport;
  throw Error(ErrorKind::usage,
              fmt::format("transport: found {}, expected auto, peer or staged", quoted(text)));
}

std::span<const SortAlgorithm> sort_algorithms(Backend backend) {
  if (backend == Backend::cuda) return multisort::cuda_sort_algorithms();
  return host_algorithms;
}

namespace multisort {

namespace {

void check_values(int value_bytes) {
  if (value_bytes == 0 || value_bytes == 4 || value_bytes == 8) return;
  throw Error(ErrorKind::usage,
              fmt::format("sort: found values of {} bytes, expected 4 or 8", value_bytes));
}

}  // namespace

void require_algorithm(const Context& context, SortAlgorithm algorithm) {
  const Backend backend = resolve_backend(context);
  const std::span<const SortAlgorithm> known = sort_algorithms(backend);
  if (algorithm == SortAlgorithm::automatic ||
      std::find(known.begin(), known.end(), algorithm) != known.end())
    return;
  std::string expected = "auto";
  for (const SortAlgorithm one : known) expected += fmt::format(", {}", name(one));
  throw Error(ErrorKind::unavailable,
              fmt::format("sort: found algorithm {} on backend {}, expected {}", name(algorithm),
                          name(backend), expected));
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

void sort_chunks(const Context& context, const ChunkRequest& request) {
  check_values(request.value_bytes);
  if (context.backend == Backend::host)
    throw Error(ErrorKind::unavailable,
                "sort: found backend host, expected cuda: the chunks lie on GPUs");
  if (request.chunks.empty()) return;
  for (std::size_t i = 0; i < request.chunks.size(); ++i) {
    const DeviceChunk& chunk = request.chunks[i];
    if (chunk.size == 0) continue;
    if (chunk.keys == nullptr || (request.value_bytes != 0 && chunk.values == nullptr))
      throw Error(ErrorKind::usage,
                  fmt::format("sort: found a null pointer for the {} {} of chunk {}, expected "
                              "device memory",
                              chunk.size, chunk.keys == nullptr ? "keys" : "values", i));
  }
  report_progress(context, "sort", 0, request.num_items());
  sort_chunks_on_cuda(context, request);
  report_progress(context, "sort", request.num_items(), request.num_items());
}

}  // namespace multisort
}  // namespace sortie
