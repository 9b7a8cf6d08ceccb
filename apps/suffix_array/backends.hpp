// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arriving_array.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/context.hpp"
#include "sortie/error.hpp"
#include "sortie/query.hpp"
#include "sortie/run_report.hpp"
#include "sortie/suffix_array.hpp"

/// Instantiates a function template for both widths of positions.
#define SORTIE_FOR_BOTH_POSITIONS(function)                           \
  template decltype(function<std::uint32_t>) function<std::uint32_t>; \
  template decltype(function<std::uint64_t>) function<std::uint64_t>

/// The implementations behind suffix_array::build(), which has checked that Pos can address the
/// text and that the text is not empty, and behind the arrays derived from a suffix array. Each
/// exists for both position widths.
namespace sortie::suffix_array {

/// \throws Error (usage) a suffix array of another size than the text; `title` begins the message
void require_same_size(std::string_view title, const TextView& text, std::uint64_t entries);

/// \throws Error (usage) the text is longer than Pos can address, or separators are not ascending
/// positions of it
template <Position Pos>
void require_text(std::uint64_t size, std::span<const std::uint64_t> separators);

/// Checks the entries of a suffix array. \pre the host runtime is started
/// \throws Error (usage) an entry is not below `size`
template <Position Pos>
void require_positions(std::string_view title, std::span<const Pos> suffixes, std::uint64_t size);

/// Checks patterns. \throws Error (usage) their begins are not ascending within their letters
void require_patterns(const PatternView& patterns);

/// Checks the size of an array that is to be checked; `why` ends the message. \throws Error (check)
void require_entries(std::string_view title, std::uint64_t found, std::uint64_t expected,
                     std::string_view why = {});

/// The error (check) of a wrong entry.
[[nodiscard]] Error wrong_entry(std::string_view title, std::uint64_t entry,
                                const std::string& words);

/// Checks entries [begin, end) on the host threads. \throws Error (check) is_wrong(i) for some i;
/// words(i) says of the first what is wrong
template <class IsWrong, class Words>
void require_right(std::string_view title, std::uint64_t begin, std::uint64_t end,
                   const IsWrong& is_wrong, const Words& words) {
  const std::uint64_t wrong = first_index(begin, end, is_wrong);
  if (wrong != no_index) throw wrong_entry(title, wrong, words(wrong));
}

/// What is wrong with a suffix that is not greater than the one before it.
[[nodiscard]] std::string wrong_order(std::uint64_t position, std::uint64_t before);

namespace host {

/// Prefix doubling by Kokkos threads; see host/build/prefix_doubling.cpp for the steps and the
/// memory.
/// \throws Error (out_of_memory) before any work when the budget does not suffice
template <Position Pos>
[[nodiscard]] std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text);

}  // namespace host

/// On a GPU, the suffix array and what is derived from one, as the public calls of these names, for
/// texts, suffix arrays and patterns that are not empty. Builds without CUDA do not define these
/// (on_backend()).
namespace cuda {

template <Position Pos>
[[nodiscard]] std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text);
/// The same without waiting for the copy to the host.
template <Position Pos>
[[nodiscard]] ArrivingArray<Pos> build_arriving(const Context& context, const TextView& text);
/// The suffixes that begin at tokens, as build_tokens_on_device() gives them.
template <Position Pos>
[[nodiscard]] std::vector<Pos> build_tokens(const Context& context,
                                            std::span<const std::uint8_t> bytes, int token_bytes);
template <Position Pos>
[[nodiscard]] std::vector<Pos> invert(const Context& context, std::span<const Pos> suffixes);
template <Position Pos>
[[nodiscard]] std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                                         std::span<const Pos> suffixes);
template <Position Pos>
[[nodiscard]] std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context,
                                                                  const TextView& text,
                                                                  std::span<const Pos> suffixes);
template <Position Pos>
[[nodiscard]] std::vector<EntryRange> find(const Context& context, const TextView& text,
                                           std::span<const Pos> suffixes,
                                           const PatternView& patterns);
template <Position Pos>
[[nodiscard]] Occurrences<Pos> locate(const Context& context, const TextView& text,
                                      std::span<const Pos> suffixes, const PatternView& patterns,
                                      std::uint64_t most_hits);
template <Position Pos>
[[nodiscard]] std::vector<std::uint32_t> document_array(
    const Context& context, std::span<const Pos> suffixes,
    std::span<const std::uint64_t> record_begins);

}  // namespace cuda

/// Calls `on_device` if the context's backend is CUDA, else `on_host`; both with the context.
/// \param on_device  a generic lambda, which builds without CUDA do not instantiate: they have no
///                   definition of what it calls
template <class OnDevice, class OnHost>
auto on_backend(const Context& context, [[maybe_unused]] const OnDevice& on_device,
                const OnHost& on_host) {
  [[maybe_unused]] const Backend backend = resolve_backend(context);
#ifdef SORTIE_HAVE_CUDA
  if (backend == Backend::cuda) return on_device(context);
#endif
  return on_host(context);
}

/// The same for an array derived from a suffix array; an empty one gives an empty result. If
/// `on_device` runs out of memory, `on_host` is called instead: a suffix array that was built in
/// ranges may not fit in device memory together with its text. The report then has the figure
/// "NAME_on_host" (true). The memory budget is that of the device, so the host may use all free
/// host memory.
template <class OnDevice, class OnHost>
auto device_or_host(const Context& context, bool is_empty, std::string_view name,
                    const OnDevice& on_device, const OnHost& on_host) {
  using Result = decltype(on_host(context));
  const auto device_first = [&](const auto& here) -> Result {
    try {
      return on_device(here);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory) throw;
    }
    if (here.report != nullptr) here.report->set(std::string(name) + "_on_host", true);
    Context host = here;
    host.backend = Backend::host;
    host.memory_budget = 0;
    return on_host(host);
  };
  if (is_empty) {
    (void)resolve_backend(context);  // still refuses a backend that cannot run
    return Result();
  }
  return on_backend(context, device_first, on_host);
}

}  // namespace sortie::suffix_array
