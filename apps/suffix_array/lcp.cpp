// SPDX-License-Identifier: Apache-2.0
#include "sortie/lcp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/device_or_host.hpp"
#include "apps/suffix_array/host/common_letters.hpp"
#include "apps/suffix_array/host/preconditions.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array {
namespace {

void require_same_size(const TextView& text, std::uint64_t entries) {
  if (entries == text.size()) return;
  throw Error(ErrorKind::usage,
              fmt::format("LCP array: found a suffix array of {} entries, expected {}, one for "
                          "each symbol",
                          entries, text.size()));
}

Error fault(std::uint64_t entry, const std::string& words) {
  return {ErrorKind::check, fmt::format("LCP array, entry {}: {}", entry, words)};
}

/// Checks one entry, given that all others are right.
template <Position Pos>
struct EntryCheck {
  TextView text;
  const Pos* suffixes;
  const Pos* inverse;
  const Pos* lcp;

  [[nodiscard]] bool is_letter(std::uint64_t position) const {
    return position < text.size() && host::end_of_record(text, position) != position;
  }
  [[nodiscard]] bool is_right(std::uint64_t i) const {
    const std::uint64_t left = suffixes[i - 1];
    const std::uint64_t right = suffixes[i];
    const std::uint64_t common = lcp[i];
    if (common > text.size() - std::max(left, right)) return false;
    if (is_letter(left + common) && is_letter(right + common) &&
        text.symbols[left + common] == text.symbols[right + common]) {
      return false;
    }
    if (common == 0) return true;
    const bool extends_to_left = left > 0 && right > 0 && is_letter(left - 1) &&
                                 is_letter(right - 1) &&
                                 text.symbols[left - 1] == text.symbols[right - 1];
    // Equal letters before two neighbours: with these letters the suffixes are neighbours again.
    if (extends_to_left) return lcp[inverse[right - 1]] == common + 1;
    return host::common_letters(text, left, right) == common;
  }
};

}  // namespace

template <Position Pos>
std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                           std::span<const Pos> suffixes) {
  require_same_size(text, suffixes.size());
  const Backend backend = resolve_backend(context);
  if (suffixes.empty()) return {};
  return device_or_host(
      context, backend, "lcp", [&] { return cuda::lcp_array(context, text, suffixes); },
      [&](const Context& here) { return host::lcp_array(here, text, suffixes); });
}

template <Position Pos>
void check_lcp(const HostContext& context, const TextView& text, std::span<const Pos> suffixes,
               std::span<const Pos> lcp) {
  require_same_size(text, suffixes.size());
  if (lcp.size() != suffixes.size()) {
    throw Error(ErrorKind::check, fmt::format("LCP array: found {} entries, expected {}",
                                              lcp.size(), suffixes.size()));
  }
  if (lcp.empty()) return;
  if (lcp[0] != 0) throw fault(0, fmt::format("found {}, expected 0", lcp[0]));
  report_progress(context, "check lcp", 0, lcp.size());
  const PhaseTimer timer(context, "check lcp");
  Context on_host{context, Backend::host};
  on_host.report = nullptr;  // the inverse counts as part of this phase
  on_host.progress = {};
  const std::vector<Pos> inverse = inverse_suffix_array(on_host, suffixes);
  const EntryCheck<Pos> check{text, suffixes.data(), inverse.data(), lcp.data()};
  const std::uint64_t wrong =
      first_index(1, lcp.size(), [=](std::uint64_t i) { return !check.is_right(i); });
  if (wrong == no_index) {
    report_progress(context, "check lcp", lcp.size(), lcp.size());
    return;
  }
  const auto letters = [&](std::uint64_t i) {
    return host::common_letters(text, suffixes[i - 1], suffixes[i]);
  };
  // If the letters confirm this entry, the entry that it was compared with is wrong.
  std::uint64_t culprit = wrong;
  if (letters(wrong) == lcp[wrong] && suffixes[wrong] > 0) culprit = inverse[suffixes[wrong] - 1];
  if (culprit == 0) culprit = wrong;
  throw fault(culprit, fmt::format("found {}, but positions {} and {} have {} letters in common",
                                   lcp[culprit], suffixes[culprit - 1], suffixes[culprit],
                                   letters(culprit)));
}

template decltype(lcp_array<std::uint32_t>) lcp_array<std::uint32_t>;
template decltype(lcp_array<std::uint64_t>) lcp_array<std::uint64_t>;
template decltype(check_lcp<std::uint32_t>) check_lcp<std::uint32_t>;
template decltype(check_lcp<std::uint64_t>) check_lcp<std::uint64_t>;

}  // namespace sortie::suffix_array
