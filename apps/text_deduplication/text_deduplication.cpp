// SPDX-License-Identifier: Apache-2.0
#include "sortie/text_deduplication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "apps/text_deduplication/duplicate_marks.hpp"
#include "apps/text_deduplication/removed_ranges.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::texts {
namespace {

constexpr std::size_t most_passages = 100;

std::size_t power_of(std::uint64_t number) {
  return static_cast<std::size_t>(std::bit_width(number)) - 1;
}

/// The most repeated passages, of joined windows.
std::vector<Passage> passages_of(std::vector<FirstWindows>& windows, std::uint64_t window) {
  const auto end =
      windows.begin() + static_cast<std::ptrdiff_t>(std::min(most_passages, windows.size()));
  std::partial_sort(
      windows.begin(), end, windows.end(), [](const FirstWindows& a, const FirstWindows& b) {
        return std::tuple(b.copies, b.windows, a.begin) < std::tuple(a.copies, a.windows, b.begin);
      });
  std::vector<Passage> passages;
  for (auto each = windows.begin(); each != end; ++each)
    passages.push_back({each->begin, each->begin + each->windows - 1 + window, each->copies});
  return passages;
}

/// Numbers of documents that the ranges change, and that they empty.
void count_documents(std::span<const std::uint64_t> begins, Deduplication& result) {
  std::uint64_t document = 0;
  std::uint64_t removed = 0;  // bytes of the document
  const auto finish = [&](std::uint64_t next) {
    if (removed != 0) {
      ++result.documents_changed;
      if (removed == begins[document + 1] - begins[document]) ++result.documents_emptied;
    }
    document = next;
    removed = 0;
  };
  for (const ByteRange& range : result.ranges) {
    for (std::uint64_t begin = range.begin; begin < range.end;) {
      const std::uint64_t next = document_of(begins, begin);
      if (next != document) finish(next);
      const std::uint64_t end = std::min(range.end, begins[document + 1]);
      removed += end - begin;
      begin = end;
    }
  }
  if (result.documents != 0) finish(0);
}

}  // namespace

std::string_view name(Keep keep) {
  return keep == Keep::none ? "none" : "first";
}

Keep parse_keep(std::string_view text) {
  for (const Keep keep : {Keep::none, Keep::first}) {
    if (text == name(keep)) return keep;
  }
  throw Error(ErrorKind::usage,
              fmt::format("keep: found {}, expected none or first", sortie::quoted(text)));
}

void DuplicateMarks::add_figures(DuplicateMarks& part) {
  duplicate_windows += part.duplicate_windows;
  for (std::size_t i = 0; i < copies.size(); ++i) copies[i] += part.copies[i];
  first_windows.insert(first_windows.end(), part.first_windows.begin(), part.first_windows.end());
  part.first_windows = {};
}

void DuplicateMarks::join_first_windows() {
  std::ranges::sort(first_windows, {}, &FirstWindows::begin);
  std::size_t kept = 0;
  for (const FirstWindows& next : first_windows) {
    if (kept != 0) {
      FirstWindows& last = first_windows[kept - 1];
      if (last.copies == next.copies && last.begin + last.windows == next.begin) {
        last.windows += next.windows;
        continue;
      }
    }
    first_windows[kept++] = next;
  }
  first_windows.resize(kept);
}

void DuplicateMarks::limit_first_windows(std::uint64_t bytes) {
  join_first_windows();
  const std::uint64_t most = std::max<std::uint64_t>(bytes / sizeof(FirstWindows), 1000);
  if (first_windows.size() > most) {
    std::vector<std::uint64_t> all;
    for (const FirstWindows& each : first_windows) all.push_back(each.copies);
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(most);
    std::ranges::nth_element(all, last, std::greater<>());
    least_copies = std::max(least_copies, *last + 1);
  }
  std::erase_if(first_windows,
                [&](const FirstWindows& each) { return each.copies < least_copies; });
}

std::vector<std::uint64_t> window_borders(std::span<const std::uint64_t> begins,
                                          const DeduplicationOptions& options) {
  if (!options.across_documents) return {begins.begin(), begins.end()};
  std::vector<std::uint64_t> borders{0};
  if (options.has_other_corpus()) borders.push_back(begins[options.other_corpus]);
  borders.push_back(begins.back());
  return borders;
}

void require_options(const DeduplicationOptions& options) {
  if (options.min_length < 1 || options.min_length > most_min_length) {
    throw Error(ErrorKind::usage,
                fmt::format("minimum length: found {} bytes, expected from 1 to {}",
                            options.min_length, most_min_length));
  }
  if (options.protect_first && options.keep != Keep::first)
    throw Error(ErrorKind::usage, "found protected first occurrences, expected to keep them");
  if (options.has_other_corpus() && options.keep == Keep::first)
    throw Error(ErrorKind::usage,
                "found another corpus and first occurrences to keep, expected one of them");
}

Backend backend_for(const Context& context, std::uint64_t text_bytes, std::uint64_t documents,
                    const DeduplicationOptions& options) {
  const Backend backend = resolve_backend(context);
#ifdef SORTIE_HAVE_CUDA
  if (backend == Backend::cuda && context.backend == Backend::automatic) {
    try {
      static_cast<void>(cuda::plan_marking(context, text_bytes, documents, options));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_memory) throw;
      return Backend::host;
    }
  }
#else
  static_cast<void>(text_bytes);
  static_cast<void>(documents);
  static_cast<void>(options);
#endif
  return backend;
}

void require_begins(std::span<const std::uint64_t> begins, std::uint64_t text_bytes,
                    const DeduplicationOptions& options) {
  if (begins.empty() || begins.front() != 0 || begins.back() != text_bytes ||
      !std::ranges::is_sorted(begins)) {
    throw Error(ErrorKind::usage,
                fmt::format("found begins of documents that are not ascending from 0 to {}, the "
                            "size of the text",
                            text_bytes));
  }
  if (options.has_other_corpus() && options.other_corpus >= begins.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("other corpus: found document {}, expected at most {}",
                            options.other_corpus, begins.size() - 1));
  }
  if (text_bytes > most_text_bytes) {
    throw Error(ErrorKind::usage, fmt::format("found a text of {} bytes, expected at most {}",
                                              text_bytes, most_text_bytes));
  }
}

Deduplication result_of(DuplicateMarks& marks, std::span<const std::uint64_t> begins,
                        const DeduplicationOptions& options, std::vector<ByteRange> ranges) {
  Deduplication result;
  result.text_bytes = begins.back();
  result.documents = begins.size() - 1;
  result.ranges = std::move(ranges);
  result.other_begin = other_begin_of(begins, options);
  result.duplicate_windows = marks.duplicate_windows;
  result.copies = marks.copies;
  for (const ByteRange& range : result.ranges) {
    result.bytes_removed += range.end - range.begin;
    ++result.range_lengths[power_of(range.end - range.begin)];
  }
  count_documents(begins, result);
  result.passages = passages_of(marks.first_windows, options.min_length);
  result.least_copies_of_passages = marks.least_copies;
  return result;
}

Deduplication find_duplicates(const Context& context, std::span<const std::uint8_t> text,
                              std::span<const std::uint64_t> begins,
                              const DeduplicationOptions& options) {
  require_options(options);
  require_begins(begins, text.size(), options);
  const bool on_device =
      backend_for(context, text.size(), begins.size() - 1, options) == Backend::cuda;
#ifdef SORTIE_HAVE_CUDA
  const auto mark = on_device ? cuda::mark_duplicates : host::mark_duplicates;
#else
  static_cast<void>(on_device);
  const auto mark = host::mark_duplicates;
#endif
  DuplicateMarks marks = mark(context, text, begins, options);
  const PhaseTimer timer(context, "ranges");
  // A search on a device does not start the host runtime, whose idle threads would slow the writing.
  const OwnThreads threads(threads_of(context));
  return result_of(marks, begins, options, removed_ranges(marks, text, begins, options));
}

}  // namespace sortie::texts
