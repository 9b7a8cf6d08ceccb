// SPDX-License-Identifier: Apache-2.0
#include "sortie/suffix_array.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <new>

#include "apps/suffix_array/backends.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array {

void require_same_size(std::string_view title, const TextView& text, std::uint64_t entries) {
  if (entries == text.size()) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: found a suffix array of {} entries, expected {}, one for each symbol", title,
                  entries, text.size()));
}

namespace {

#ifdef SORTIE_HAVE_DIVSUFSORT
constexpr std::array host_algorithms = {Algorithm::prefix_doubling, Algorithm::reference,
                                        Algorithm::divsufsort};
#else
constexpr std::array host_algorithms = {Algorithm::prefix_doubling, Algorithm::reference};
#endif
constexpr std::array cuda_algorithms = {Algorithm::prefix_doubling, Algorithm::dc3};

constexpr std::array all_algorithms = {Algorithm::automatic, Algorithm::prefix_doubling,
                                       Algorithm::dc3, Algorithm::divsufsort, Algorithm::reference};

template <Position Pos>
void require_addressable(const TextView& text) {
  // One value above the last position is the rank of the end of the text; one more keeps position +
  // 1 from wrapping around.
  constexpr std::uint64_t longest = std::numeric_limits<Pos>::max() - std::uint64_t{1};
  if (text.size() > longest) {
    throw Error(ErrorKind::usage,
                fmt::format("suffix array: found a text of {} symbols, expected at most {} for "
                            "{}-bit positions",
                            text.size(), longest, 8 * sizeof(Pos)));
  }
}

void require_separators_in_order(const TextView& text) {
  for (std::size_t i = 0; i < text.separators.size(); ++i) {
    const std::uint64_t position = text.separators[i];
    const bool ascending = i == 0 || text.separators[i - 1] < position;
    if (ascending && position < text.size()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("suffix array, separator {}: found position {}, expected ascending "
                            "positions below {}",
                            i, position, text.size()));
  }
}

/// The backend for an algorithm: baselines run on the host unless the context names CUDA, which is
/// an error; dc3 runs on CUDA.
Backend backend_for(const Context& context, Algorithm algorithm) {
  if (algorithm == Algorithm::prefix_doubling) return resolve_backend(context);
  if (algorithm == Algorithm::dc3) {
    if (resolve_backend(context) == Backend::cuda) return Backend::cuda;
    throw Error(ErrorKind::unavailable, "suffix array: dc3 runs on CUDA only");
  }
  if (context.backend == Backend::cuda) {
    throw Error(ErrorKind::unavailable,
                fmt::format("suffix array: {} runs on the host only", name(algorithm)));
  }
  return Backend::host;
}

}  // namespace

std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "auto";
    case Algorithm::prefix_doubling:
      return "prefix-doubling";
    case Algorithm::reference:
      return "reference";
    case Algorithm::divsufsort:
      return "divsufsort";
    case Algorithm::dc3:
      return "dc3";
  }
  return "unknown";
}

Algorithm parse_algorithm(std::string_view text) {
  for (const Algorithm algorithm : all_algorithms) {
    if (text == name(algorithm)) return algorithm;
  }
  throw Error(ErrorKind::usage,
              fmt::format("suffix array algorithm: found {}, expected auto, prefix-doubling, "
                          "dc3, divsufsort or reference",
                          quoted(text)));
}

std::span<const Algorithm> algorithms(Backend backend) {
  if (backend == Backend::cuda) return cuda_algorithms;
  return host_algorithms;
}

template <Position Pos>
std::vector<Pos> build(const Context& context, const TextView& text, Algorithm algorithm) {
  require_addressable<Pos>(text);
  require_separators_in_order(text);
  if (algorithm == Algorithm::automatic) algorithm = Algorithm::prefix_doubling;
  const Backend backend = backend_for(context, algorithm);
  if (text.size() == 0) return {};
  try {
    if (algorithm == Algorithm::reference) return baselines::build_reference<Pos>(context, text);
    if (algorithm == Algorithm::divsufsort) return baselines::build_divsufsort<Pos>(context, text);
    if (algorithm == Algorithm::dc3) return cuda::build_dc3<Pos>(context, text);
    return backend == Backend::cuda ? cuda::build_prefix_doubling<Pos>(context, text)
                                    : host::build_prefix_doubling<Pos>(context, text);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("suffix array: host memory ran out for a text of {} symbols with "
                            "{}-bit positions",
                            text.size(), 8 * sizeof(Pos)));
  }
}

template decltype(build<std::uint32_t>) build<std::uint32_t>;
template decltype(build<std::uint64_t>) build<std::uint64_t>;

}  // namespace sortie::suffix_array
