// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/rank_memory.hpp"
#include "core/files/input_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "matrices/chunked_text.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/cluster.hpp"

/// The entries of a Matrix Market file, of which each rank parses a range of bytes.
namespace sortie::cluster {

/// Entries of the lines of this rank, in file order.
template <matrices::Scalar Value, matrices::Index Idx>
struct TextEntries {
  matrices::detail::EntryStore<Value, Idx> store{0, false, false};
  std::vector<matrices::detail::EntryRange> ranges;  ///< slots of the store that are entries
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< of the store
};

/// First byte of the first line that begins at `at` or later; the end of the file if there is none.
/// \param first  where a line begins; `at` is not before
[[nodiscard]] inline std::uint64_t find_line(const InputFile& file, std::uint64_t first,
                                             std::uint64_t at) {
  if (at <= first) return first;
  constexpr std::size_t step = 1 << 16;
  std::vector<char> bytes(step);
  for (std::uint64_t from = at - 1; from < file.size();) {
    const std::size_t read = file.read_at(from, bytes);
    if (read == 0) break;
    const char* const end = bytes.data() + read;
    const char* const newline = matrices::detail::find_newline(bytes.data(), end);
    if (newline != end) return from + static_cast<std::uint64_t>(newline - bytes.data()) + 1;
    from += read;
  }
  return file.size();
}

/// The lines that begin in this rank's share of the bytes behind the header.
[[nodiscard]] inline HostArray<char> read_lines(const Ranks& ranks, const HostContext& context,
                                                RankMemory& memory, const InputFile& file,
                                                std::uint64_t data_begin, std::uint64_t& size) {
  const EqualShares shares{file.size() - data_begin, static_cast<std::uint64_t>(ranks.size())};
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const std::uint64_t begin = find_line(file, data_begin, data_begin + shares.begin(rank));
  const std::uint64_t end = find_line(file, data_begin, data_begin + shares.begin(rank + 1));
  size = end - begin;
  memory.take("the text of a rank", {size, file.size() - data_begin});
  HostArray<char> text = allocate_array<char>(size + 1);
  size = file.read_at(begin, {text.get(), size}, threads_of(context));
  return text;
}

/// Collective: reads and parses. `memory` holds the entries then. The first error in
/// the file is thrown by the rank that has its line.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] TextEntries<Value, Idx> read_entries(Ranks& ranks, const HostContext& context,
                                                   RankMemory& memory, const InputFile& file,
                                                   const matrices::detail::ParsedHeader& parsed) {
  using namespace matrices::detail;
  using matrices::Field;
  std::uint64_t size = 0;
  HostArray<char> text;
  PhaseTimer reading(context, "read");
  ranks.together("read text", [&] {
    matrices::detail::check_types<Value, Idx>(file.name(), parsed);
    text = read_lines(ranks, context, memory, file, parsed.data_begin, size);
  });
  reading.set_bytes(size);
  reading.stop();
  const PhaseTimer parsing(context, "parse", size);
  TextEntries<Value, Idx> entries;
  std::optional<matrices::detail::ChunkedText> lines;
  ranks.together("parse text", [&] {
    start_host_runtime(context.threads);
    lines.emplace(std::string_view(text.get(), size), parsed.size_line + 1,
                  matrices::TextPartition{}.chunk_bytes);
    const bool numbers = parsed.header.field != Field::pattern;
    const std::uint64_t entry_bytes = 2 * sizeof(Idx) + (numbers ? sizeof(Value) : 0);
    entries.bytes = static_cast<std::uint64_t>(lines->lines()) * entry_bytes;
    memory.take("the entries of a rank",
                {entries.bytes, static_cast<std::uint64_t>(parsed.header.entries) * entry_bytes});
    entries.store = EntryStore<Value, Idx>(static_cast<std::size_t>(lines->lines()), true, numbers);
    parse_chunks(context, parsed.header, lines->chunks(), entries.store);
    entries.ranges = entry_ranges(lines->chunks());
    for (const EntryRange& range : entries.ranges)
      entries.count += static_cast<std::uint64_t>(range.end - range.begin);
  });
  std::uint64_t before[2] = {static_cast<std::uint64_t>(lines->lines()), entries.count};
  ranks.sum_before(before);
  ranks.together("check text", [&] {
    throw_first_fault(file.name(), parsed, lines->chunks(),
                      {.lines_before = static_cast<std::int64_t>(before[0]),
                       .entries_before = static_cast<std::int64_t>(before[1]),
                       .lines = lines->lines(),
                       .ends_file = ranks.rank() + 1 == ranks.size()});
  });
  memory.release(size);
  return entries;
}

}  // namespace sortie::cluster
