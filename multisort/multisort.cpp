#include "sortie/multisort/multisort.hpp"

#include <fmt/format.h>

#include <array>

#include "sortie/core/error.hpp"

namespace sortie {

namespace {

constexpr std::array all_algorithms = {SortAlgorithm::automatic, SortAlgorithm::radix,
                                       SortAlgorithm::merge};
constexpr std::array host_algorithms = {SortAlgorithm::radix, SortAlgorithm::merge};

}  // namespace

std::string_view name(SortAlgorithm algorithm) {
  switch (algorithm) {
    case SortAlgorithm::automatic:
      return "auto";
    case SortAlgorithm::radix:
      return "radix";
    case SortAlgorithm::merge:
      return "merge";
  }
  return "unknown";
}

SortAlgorithm parse_sort_algorithm(std::string_view text) {
  for (const SortAlgorithm algorithm : all_algorithms)
    if (text == name(algorithm)) return algorithm;
  throw Error(ErrorKind::usage,
              fmt::format("sort algorithm: found {}, expected auto, radix or merge", quoted(text)));
}

std::span<const SortAlgorithm> sort_algorithms(Backend backend) {
  if (backend == Backend::cuda) return {};
  return host_algorithms;
}

namespace multisort {

void require_host(const Context& context) {
  if (context.backend == Backend::cuda)
    throw Error(ErrorKind::unavailable,
                "sort: found backend cuda, expected host: the sort over several GPUs is not in "
                "this version");
}

void sort(const Context& context, const Request& request) {
  if (request.value_bytes < 0)
    throw Error(ErrorKind::usage,
                "sort: found another number of values than keys, expected one value a key");
  require_host(context);
  sort_on_host(context, request);
}

}  // namespace multisort
}  // namespace sortie
