// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/local_indexes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "apps/genome_index/fm_sides.hpp"
#include "apps/genome_index/window_sort.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::genomes {
namespace {

constexpr std::uint64_t window_letters = WindowSorter::most_letters;
constexpr std::uint64_t window_step = 56320;
constexpr std::uint64_t local_word = 2;
constexpr SideLayout local_layout = {.bytes = 64, .word = local_word};
constexpr unsigned local_prefix_letters = 6;
constexpr std::uint64_t local_sample_step = 8;

[[nodiscard]] std::uint64_t local_sides(std::uint64_t bases) {
  return local_layout.sides((bases + 1) / 4 + 1);
}

/// The begin of file .5.
std::string head_of(std::uint64_t windows, std::uint64_t word) {
  WordBytes head(word);
  head.add_int(1);
  head.add(windows);
  for (const std::int32_t number : {6, 2, 3, static_cast<int>(local_prefix_letters), -1})
    head.add_int(number);
  return head.bytes();
}

/// Calls visit(bases before it in the window, begin in the window, bases) for each fragment.
template <class Visit>
void for_each_fragment(const LocalWindow& window, const Visit& visit) {
  std::uint64_t before = 0;
  std::uint64_t at = window.run_begin;
  const std::uint64_t end = window.begin + window.length;
  for (const BaseRun& run : window.runs) {
    const std::uint64_t first = std::max(at + run.gaps, window.begin);
    at += run.gaps + run.bases;
    const std::uint64_t last = std::min(at, end);
    if (first < last) {
      visit(before, first - window.begin, last - first);
      before += last - first;
    }
    if (at >= end) return;
  }
}

/// Appends the index and the samples of a window to the bytes of files .5 and .6.
void add_window(const LocalWindow& window, const std::uint8_t* codes, std::uint64_t word,
                WindowSorter& sorter, std::string& indexes, std::string& samples) {
  WordBytes head(word);
  head.add({window.record, window.begin, window.first_base});
  indexes += head.bytes();
  const std::uint64_t n = window.bases;
  WordBytes local(local_word);
  if (n == 0) {
    local.add({0, 0, 0, 0});
    indexes += local.bytes();
    return;
  }
  local.add({n, n + 1, n + 1, std::uint64_t{2} * local_prefix_letters, 1, window.length,
             window.fragments});
  for_each_fragment(window, [&](std::uint64_t before, std::uint64_t begin, std::uint64_t) {
    local.add({before, 0, begin});
  });
  const std::span text(codes + window.first_base, n);
  const std::span<const std::uint16_t> suffixes = sorter.sort(text);
  const std::uint64_t sides = local_sides(n);
  std::vector<std::uint8_t> letters(sides * local_layout.letters());
  std::uint64_t first_suffix = 0;
  std::vector<std::uint64_t> short_rows;
  for (std::uint64_t row = 0; row <= n; ++row) {
    const std::uint64_t position = suffixes[row];
    if (position == 0) {
      first_suffix = row;
    } else {
      letters[row] = text[position - 1];
    }
    if (n - position < local_prefix_letters) short_rows.push_back(row);
    if (row % local_sample_step == 0)
      samples.append(reinterpret_cast<const char*>(&suffixes[row]), local_word);
  }
  std::string& bytes = local.bytes();
  const std::size_t first_byte = bytes.size();
  bytes.resize(first_byte + sides * local_layout.bytes);
  std::vector<SideCounts> counts(sides);
  for (std::uint64_t i = 0; i < sides; ++i)
    counts[i] = local_layout.pack(&letters[i * local_layout.letters()],
                                  &bytes[first_byte + i * local_layout.bytes]);
  SideCounts before{};
  local_layout.set_numbers(counts, first_suffix / local_layout.letters(), before,
                           &bytes[first_byte]);
  local.add({1, first_suffix, 0});
  // The numbers of all letters, but for those that fill the last side.
  before[0] -= letters.size() - (n + 1);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : before) local.add(sum += count);
  std::vector<std::uint64_t> prefixes(std::uint64_t{1} << 2 * local_prefix_letters);
  add_prefixes<std::uint64_t>(text, local_prefix_letters, prefixes);
  add_prefix_tables(prefixes, short_rows, local_prefix_letters, local_word, bytes);
  indexes += bytes;
}

}  // namespace

std::uint64_t LocalWindow::index_bytes(std::uint64_t word) const {
  if (bases == 0) return 3 * word + 4 * local_word;
  constexpr std::uint64_t tables =
      (std::uint64_t{1} << 2 * local_prefix_letters) + 1 + 2 * local_prefix_letters;
  return 3 * word + (7 + 3 * fragments + 2 + 5 + tables) * local_word +
         local_sides(bases) * local_layout.bytes;
}

std::uint64_t LocalWindow::sample_bytes() const {
  return bases == 0 ? 0 : (bases / local_sample_step + 1) * local_word;
}

std::vector<LocalWindow> local_windows(const BaseText& text) {
  std::vector<LocalWindow> windows;
  std::uint64_t number = 0;
  for (const BaseRecord& record : text.records()) {
    if (record.bases == 0) continue;
    LocalWindow window;
    window.record = number++;
    window.runs = text.runs_of(record);
    std::uint64_t first_base = record.first_base;  // of the first run
    for (; window.begin < record.length; window.begin += window_step) {
      // Runs that end before the window.
      while (window.run_begin + window.runs[0].gaps + window.runs[0].bases <= window.begin) {
        window.run_begin += window.runs[0].gaps + window.runs[0].bases;
        first_base += window.runs[0].bases;
        window.runs = window.runs.subspan(1);
      }
      window.length = std::min(window_letters, record.length - window.begin);
      const std::uint64_t bases_begin = window.run_begin + window.runs[0].gaps;
      window.first_base = first_base + std::max(window.begin, bases_begin) - bases_begin;
      window.bases = 0;
      window.fragments = 0;
      for_each_fragment(window, [&](std::uint64_t, std::uint64_t, std::uint64_t bases) {
        window.bases += bases;
        ++window.fragments;
      });
      windows.push_back(window);
    }
  }
  return windows;
}

std::uint64_t local_index_bytes(std::span<const LocalWindow> windows, std::uint64_t word) {
  std::uint64_t bytes = head_of(windows.size(), word).size() + 1;
  for (const LocalWindow& window : windows) bytes += window.index_bytes(word);
  return bytes;
}

std::uint64_t local_sample_bytes(std::span<const LocalWindow> windows) {
  std::uint64_t bytes = sizeof(std::int32_t);
  for (const LocalWindow& window : windows) bytes += window.sample_bytes();
  return bytes;
}

void write_local_indexes(std::span<const LocalWindow> windows, const std::uint8_t* codes,
                         std::uint64_t word, IndexFile& indexes, IndexFile& samples) {
  indexes.write(head_of(windows.size(), word));
  samples.write_number(std::int32_t{1});
  // A task has windows of about 2^18 letters: many for short records.
  const std::vector<std::uint64_t> tasks = tasks_of_at_least(
      std::uint64_t{1} << 18, windows.size(), [&](std::uint64_t first, std::uint64_t end) {
        std::uint64_t work = 0;
        for (std::uint64_t i = first; i < end; ++i) work += windows[i].bases + 4096;
        return work;
      });
  std::vector<std::uint64_t> index_offsets;
  std::vector<std::uint64_t> sample_offsets;
  for (std::size_t task = 0; task + 1 < tasks.size(); ++task) {
    std::uint64_t index_bytes = 0;
    std::uint64_t sample_bytes = 0;
    for (std::uint64_t i = tasks[task]; i < tasks[task + 1]; ++i) {
      index_bytes += windows[i].index_bytes(word);
      sample_bytes += windows[i].sample_bytes();
    }
    index_offsets.push_back(indexes.reserve(index_bytes));
    sample_offsets.push_back(samples.reserve(sample_bytes));
  }
  for_each_task(tasks.size() - 1, [&](std::uint64_t task) {
    WindowSorter sorter;
    std::string index_bytes;
    std::string sample_bytes;
    for (std::uint64_t i = tasks[task]; i < tasks[task + 1]; ++i)
      add_window(windows[i], codes, word, sorter, index_bytes, sample_bytes);
    indexes.write_at(index_offsets[task], index_bytes);
    samples.write_at(sample_offsets[task], sample_bytes);
  });
  indexes.write_number('\0');
}

}  // namespace sortie::genomes
