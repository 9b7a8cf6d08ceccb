// SPDX-License-Identifier: Apache-2.0
#include "sortie/burrows_wheeler.hpp"

#include <fmt/format.h>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/device_or_host.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/progress.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array {
namespace {

constexpr std::string_view title = "Burrows-Wheeler transform";

/// The symbol before each suffix, by definition.
template <Position Pos>
struct SymbolBefore {
  TextView text;
  const Pos* suffixes;

  std::uint8_t operator()(std::uint64_t i) const {
    const std::uint64_t position = suffixes[i];
    return text.symbols[(position == 0 ? text.size() : position) - 1];
  }
};

template <Position Pos>
std::vector<std::uint8_t> transform_on_host(const Context& context, const TextView& text,
                                            std::span<const Pos> suffixes) {
  const std::uint64_t size = text.size();
  require_memory(context, title, size);
  start_host_runtime(context.threads);
  require_positions(title, suffixes, size);
  report_progress(context, "bwt", 0, size);
  PhaseTimer timer(context, "bwt", size * (2 + sizeof(Pos)));
  std::vector<std::uint8_t> transform = host::allocate_vector<std::uint8_t>(size);
  std::uint8_t* const result = transform.data();
  const SymbolBefore<Pos> before{text, suffixes.data()};
  for_each_index(0, size, [=](std::uint64_t i) { result[i] = before(i); });
  report_progress(context, "bwt", size, size);
  return transform;
}

}  // namespace

template <Position Pos>
std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context, const TextView& text,
                                                    std::span<const Pos> suffixes) {
  require_same_size(title, text, suffixes.size());
  return device_or_host(
      context, suffixes.empty(), "bwt",
      [&](const auto& here) { return cuda::burrows_wheeler_transform(here, text, suffixes); },
      [&](const Context& here) { return transform_on_host(here, text, suffixes); });
}

template <Position Pos>
void check_burrows_wheeler(const HostContext& context, const TextView& text,
                           std::span<const Pos> suffixes, std::span<const std::uint8_t> transform) {
  require_same_size(title, text, suffixes.size());
  require_entries(title, transform.size(), suffixes.size());
  start_host_runtime(context.threads);
  report_progress(context, "check bwt", 0, suffixes.size());
  const PhaseTimer timer(context, "check bwt");
  require_positions(title, suffixes, text.size());
  const SymbolBefore<Pos> before{text, suffixes.data()};
  const std::uint8_t* symbols = transform.data();
  const std::uint64_t wrong =
      first_index(0, suffixes.size(), [=](std::uint64_t i) { return symbols[i] != before(i); });
  if (wrong != no_index) {
    throw wrong_entry(
        title, wrong,
        fmt::format("found byte {}, expected byte {}", transform[wrong], before(wrong)));
  }
  report_progress(context, "check bwt", suffixes.size(), suffixes.size());
}

SORTIE_FOR_BOTH_POSITIONS(burrows_wheeler_transform);
SORTIE_FOR_BOTH_POSITIONS(check_burrows_wheeler);

}  // namespace sortie::suffix_array
