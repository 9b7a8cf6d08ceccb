// SPDX-License-Identifier: Apache-2.0
#include "sortie/suffix_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/construction.hpp"
#include "apps/suffix_array/host/induced/induced_sort.hpp"
#include "apps/suffix_array/host/induced/token_build.hpp"
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

template <Position Pos>
std::vector<Pos> double_prefixes(const Context& context, const TextView& text) {
  return on_backend(
      context, [&](const auto& here) { return cuda::build_prefix_doubling<Pos>(here, text); },
      [&](const Context& here) { return host::build_prefix_doubling<Pos>(here, text); });
}

/// On a GPU by prefix doubling; on the host by the algorithm that is faster for the text.
template <Position Pos>
std::vector<Pos> build_automatically(const Context& context, const TextView& text) {
  return on_backend(
      context, [&](const auto& here) { return cuda::build_prefix_doubling<Pos>(here, text); },
      [&](const Context& here) {
        return host::chooses_induction<Pos>(here, text)
                   ? host::build_induced<Pos>(here, text)
                   : host::build_prefix_doubling<Pos>(here, text);
      });
}

/// The library's own algorithms, then the registered ones.
std::vector<ConstructionAlgorithm>& all_algorithms() {
  static std::vector<ConstructionAlgorithm> algorithms = {
      {.name = "prefix-doubling",
       .is_own = true,
       .build = {double_prefixes<std::uint32_t>, double_prefixes<std::uint64_t>},
#ifdef SORTIE_HAVE_CUDA
       .build_on_device = {cuda::build_on_device<std::uint32_t>,
                           cuda::build_on_device<std::uint64_t>},
       .build_arriving = {cuda::build_arriving<std::uint32_t>, cuda::build_arriving<std::uint64_t>}
#endif
      },
      {.name = "induced",
       .backend = Backend::host,
       .is_own = true,
       .build = {host::build_induced<std::uint32_t>, host::build_induced<std::uint64_t>}}};
  return algorithms;
}

template <Position Pos>
void require_addressable(std::uint64_t size) {
  // One value above the last position is the rank of the end of the text; one more keeps position +
  // 1 from wrapping around.
  constexpr std::uint64_t longest = std::numeric_limits<Pos>::max() - std::uint64_t{1};
  if (size > longest) {
    throw Error(ErrorKind::usage,
                fmt::format("suffix array: found a text of {} symbols, expected at most {} for "
                            "{}-bit positions",
                            size, longest, 8 * sizeof(Pos)));
  }
}

void require_separators_in_order(std::uint64_t size, std::span<const std::uint64_t> separators) {
  for (std::size_t i = 0; i < separators.size(); ++i) {
    const std::uint64_t position = separators[i];
    const bool ascending = i == 0 || separators[i - 1] < position;
    if (ascending && position < size) continue;
    throw Error(ErrorKind::usage,
                fmt::format("suffix array, separator {}: found position {}, expected ascending "
                            "positions below {}",
                            i, position, size));
  }
}

ConstructionAlgorithm automatic() {
  ConstructionAlgorithm algorithm = all_algorithms().front();
  algorithm.name = "auto";
  algorithm.build = {build_automatically<std::uint32_t>, build_automatically<std::uint64_t>};
  return algorithm;
}

void require_backend(const ConstructionAlgorithm& algorithm, const Context& context) {
  const bool fits = algorithm.backend == Backend::host
                        ? context.backend != Backend::cuda
                        : algorithm.runs_on(resolve_backend(context));
  if (fits) return;
  throw Error(ErrorKind::unavailable,
              fmt::format("suffix array: {} runs on {} only", algorithm.name,
                          algorithm.backend == Backend::host ? "the host" : "CUDA"));
}

}  // namespace

void register_algorithms(std::initializer_list<ConstructionAlgorithm> algorithms) {
  all_algorithms().insert(all_algorithms().end(), algorithms);
}

std::vector<ConstructionAlgorithm> algorithms_on(Backend backend) {
  std::vector<ConstructionAlgorithm> chosen = all_algorithms();
  std::erase_if(chosen, [=](const auto& algorithm) { return !algorithm.runs_on(backend); });
  return chosen;
}

ConstructionAlgorithm parse_algorithm(std::string_view name) {
  if (name == "auto") return automatic();
  const auto found = std::ranges::find(all_algorithms(), name, &ConstructionAlgorithm::name);
  if (found != all_algorithms().end()) return *found;
  throw Error(ErrorKind::usage, fmt::format("suffix array algorithm: found {}, expected {}",
                                            sortie::quoted(name), algorithm_names()));
}

std::string algorithm_names() {
  std::vector<std::string_view> names = {"auto"};
  for (const ConstructionAlgorithm& algorithm : all_algorithms()) names.push_back(algorithm.name);
  std::sort(names.begin() + 2, names.end());
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

template <Position Pos>
void require_text(std::uint64_t size, std::span<const std::uint64_t> separators) {
  require_addressable<Pos>(size);
  require_separators_in_order(size, separators);
}

/// Checks the text and the algorithm, and calls `build` unless the text is empty.
template <Position Pos, class Build>
auto checked(const ConstructionAlgorithm& algorithm, const Context& context, const TextView& text,
             const Build& build) -> decltype(build()) {
  require_text<Pos>(text.size(), text.separators);
  require_backend(algorithm, context);
  if (text.size() == 0) return {};
  try {
    return build();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("suffix array: host memory ran out for a text of {} symbols with "
                            "{}-bit positions",
                            text.size(), 8 * sizeof(Pos)));
  }
}

template <Position Pos>
std::vector<Pos> build_by(const ConstructionAlgorithm& algorithm, const Context& context,
                          const TextView& text) {
  return checked<Pos>(algorithm, context, text,
                      [&] { return std::get<Build<Pos>>(algorithm.build)(context, text); });
}

template <Position Pos>
std::vector<Pos> build_tokens_by(const ConstructionAlgorithm& algorithm, const Context& context,
                                 std::span<const std::uint8_t> bytes, int token_bytes) {
  const TextView text{bytes, {}};
  if (token_bytes == 1) return build_by<Pos>(algorithm, context, text);
  const auto width = static_cast<unsigned>(token_bytes);
  const auto sort_bytes = [&](const Context& here) {
    std::vector<Pos> suffixes = build_by<Pos>(algorithm, here, text);
    std::erase_if(suffixes, [=](Pos position) { return position % width != 0; });
    return suffixes;
  };
  const bool is_automatic = algorithm.name == "auto";
  const auto on_device = [&](const auto& here) {
    if (!is_automatic && algorithm.name != "prefix-doubling") return sort_bytes(here);
    try {
      return cuda::build_tokens<Pos>(here, bytes, token_bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory) throw;
    }
    return sort_bytes(here);  // in ranges
  };
  const auto on_host = [&](const Context& here) {
    const bool sorts_tokens =
        (is_automatic || algorithm.name == "induced") &&
        host::can_sort_tokens(here, bytes.size() / width, token_bytes, sizeof(Pos));
    return sorts_tokens ? host::build_tokens<Pos>(here, bytes, token_bytes) : sort_bytes(here);
  };
  return checked<Pos>(algorithm, context, text,
                      [&] { return on_backend(context, on_device, on_host); });
}

template <Position Pos>
ArrivingArray<Pos> build_arriving_by(const ConstructionAlgorithm& algorithm, const Context& context,
                                     const TextView& text) {
  const auto arriving = std::get<BuildArriving<Pos>>(algorithm.build_arriving);
  if (arriving == nullptr || resolve_backend(context) != Backend::cuda)
    return ArrivingArray<Pos>(build_by<Pos>(algorithm, context, text));
  return checked<Pos>(algorithm, context, text, [&] { return arriving(context, text); });
}

template <Position Pos>
std::vector<Pos> build(const Context& context, const TextView& text) {
  return build_by<Pos>(automatic(), context, text);
}

SORTIE_FOR_BOTH_POSITIONS(require_text);
SORTIE_FOR_BOTH_POSITIONS(build_by);
SORTIE_FOR_BOTH_POSITIONS(build_tokens_by);
SORTIE_FOR_BOTH_POSITIONS(build_arriving_by);
SORTIE_FOR_BOTH_POSITIONS(build);

}  // namespace sortie::suffix_array
