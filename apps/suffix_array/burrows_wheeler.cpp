// SPDX-License-Identifier: Apache-2.0
#include "sortie/burrows_wheeler.hpp"

#include <fmt/format.h>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/device_or_host.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "apps/suffix_array/host/preconditions.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

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

}  // namespace

template <Position Pos>
std::vector<std::uint8_t> host::burrows_wheeler_transform(const Context& context,
                                                          const TextView& text,
                                                          std::span<const Pos> suffixes) {
  const std::uint64_t size = text.size();
  require_memory(context, title, size);
  start_host_runtime(context.threads);
  require_positions(title, suffixes, size);
  report_progress(context, "bwt", 0, size);
  PhaseTimer timer(context, "bwt", size * (2 + sizeof(Pos)));
  std::vector<std::uint8_t> transform = allocate_vector<std::uint8_t>(size);
  std::uint8_t* const result = transform.data();
  const SymbolBefore<Pos> before{text, suffixes.data()};
  for_each_index(0, size, [=](std::uint64_t i) { result[i] = before(i); });
  report_progress(context, "bwt", size, size);
  return transform;
}

template <Position Pos>
std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context, const TextView& text,
                                                    std::span<const Pos> suffixes) {
  require_same_size(title, text, suffixes.size());
  const Backend backend = resolve_backend(context);
  if (suffixes.empty()) return {};
  return device_or_host(
      context, backend, "bwt",
      [&] { return cuda::burrows_wheeler_transform(context, text, suffixes); },
      [&](const Context& here) { return host::burrows_wheeler_transform(here, text, suffixes); });
}

template <Position Pos>
void check_burrows_wheeler(const HostContext& context, const TextView& text,
                           std::span<const Pos> suffixes, std::span<const std::uint8_t> transform) {
  require_same_size(title, text, suffixes.size());
  if (transform.size() != suffixes.size()) {
    throw Error(ErrorKind::check, fmt::format("{}: found {} symbols, expected {}", title,
                                              transform.size(), suffixes.size()));
  }
  start_host_runtime(context.threads);
  report_progress(context, "check bwt", 0, suffixes.size());
  const PhaseTimer timer(context, "check bwt");
  host::require_positions(title, suffixes, text.size());
  const SymbolBefore<Pos> before{text, suffixes.data()};
  const std::uint8_t* symbols = transform.data();
  const std::uint64_t wrong =
      first_index(0, suffixes.size(), [=](std::uint64_t i) { return symbols[i] != before(i); });
  if (wrong == no_index) {
    report_progress(context, "check bwt", suffixes.size(), suffixes.size());
    return;
  }
  throw Error(ErrorKind::check, fmt::format("{}, entry {}: found byte {}, expected byte {}", title,
                                            wrong, transform[wrong], before(wrong)));
}

template decltype(host::burrows_wheeler_transform<std::uint32_t>)
    host::burrows_wheeler_transform<std::uint32_t>;
template decltype(host::burrows_wheeler_transform<std::uint64_t>)
    host::burrows_wheeler_transform<std::uint64_t>;
template decltype(burrows_wheeler_transform<std::uint32_t>)
    burrows_wheeler_transform<std::uint32_t>;
template decltype(burrows_wheeler_transform<std::uint64_t>)
    burrows_wheeler_transform<std::uint64_t>;
template decltype(check_burrows_wheeler<std::uint32_t>) check_burrows_wheeler<std::uint32_t>;
template decltype(check_burrows_wheeler<std::uint64_t>) check_burrows_wheeler<std::uint64_t>;

}  // namespace sortie::suffix_array
