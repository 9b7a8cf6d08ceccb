// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_index/genome_text.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "core/files/byte_source.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

/// Bytes of a piece. The memory of pieces of large genomes is freed in several large pages at a time:
/// the system divides those of which a part is freed.
constexpr std::size_t least_piece_bytes = std::size_t{1} << 20;
constexpr std::size_t most_piece_bytes = std::size_t{16} << 20;
/// Enough for all threads.
constexpr std::size_t pieces_wanted = 256;

/// Bytes in which a thread searches for records.
constexpr std::size_t searched_bytes = std::size_t{8} << 20;

[[nodiscard]] bool ends_line(char byte) {
  return byte == '\n' || byte == '\r';
}

/// End of the piece that starts at the begin of `text`.
std::size_t end_of_piece(std::string_view text, std::size_t piece_bytes) {
  if (text.size() <= piece_bytes) return text.size();
  const std::size_t line_end = text.rfind('\n', piece_bytes - 1);
  if (line_end != std::string_view::npos) return line_end + 1;
  std::size_t end = piece_bytes;
  while (end < text.size() && (ends_line(text[end - 1]) || ends_line(text[end]))) ++end;
  return end;
}

}  // namespace

GenomeText::GenomeText(const HostContext& context, const std::string& path)
    : name_(path == "-" ? "<stdin>" : path) {
  PhaseTimer timer(context, "read");
  content_ = read_all(path, HostMemoryBudget(context).left(), threads_of(context));
  timer.set_bytes(content_.size);
  report_progress(context, "read", content_.size, content_.size);
  PhaseTimer searching(context, "records");
  find_records();
  searching.stop();
  require_letters();
  require_distinct_names();
  divide_bodies();
}

void GenomeText::find_records() {
  const std::string_view all(content_.data.get(), content_.size);
  if (all.empty()) throw input_error(name_, 0, "an empty file", "a FASTA");
  if (all.front() != '>')
    throw input_error(name_, 1, sortie::quoted(all.substr(0, 1)),
                      "'>': the first header of a FASTA");
  // A record begins at each '>' at the begin of a line.
  const std::size_t tasks = all.size() / searched_bytes + 1;
  std::vector<std::vector<std::size_t>> found(tasks);
  for_each_range<std::size_t>(all.size(), searched_bytes, [&](std::size_t first, std::size_t end) {
    const std::string_view searched = all.substr(0, end);
    for (std::size_t at = searched.find('>', first); at != std::string_view::npos;
         at = searched.find('>', at + 1))
      if (at == 0 || all[at - 1] == '\n') found[first / searched_bytes].push_back(at);
  });
  std::vector<std::size_t> begins;
  for (const std::vector<std::size_t>& of_task : found)
    begins.insert(begins.end(), of_task.begin(), of_task.end());
  begins.push_back(all.size());
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const std::string_view record = all.substr(begins[i], begins[i + 1] - begins[i]);
    const std::size_t header_end = std::min(record.find('\n'), record.size());
    records_.push_back(
        {record.substr(1, header_end - 1), record.substr(std::min(header_end + 1, record.size()))});
  }
}

void GenomeText::require_letters() const {
  const auto is_letter = [](char byte) { return static_cast<unsigned char>(byte) > ' '; };
  const auto has_letter = [&](const GenomeRecord& record) {
    return std::ranges::any_of(record.body, is_letter);
  };
  if (std::ranges::none_of(records_, has_letter))
    throw input_error(name_, 0, "no letters", "a FASTA with a sequence");
}

void GenomeText::require_distinct_names() const {
  std::unordered_map<std::string_view, const char*> known;
  known.reserve(records_.size());
  for (const GenomeRecord& record : records_) {
    const auto [other, is_new] = known.emplace(record.name(), record.header.data());
    if (is_new) continue;
    throw input_error(
        name_, line_of(record.header.data()),
        fmt::format("a second record {}", sortie::quoted(record.name())),
        fmt::format("distinct names (the first is in line {})", line_of(other->second)));
  }
}

void GenomeText::divide_bodies() {
  const std::size_t piece_bytes =
      std::clamp(content_.size / pieces_wanted, least_piece_bytes, most_piece_bytes);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    std::string_view rest = records_[i].body;
    GenomePiece piece;
    piece.record = i;
    piece.first = true;
    do {
      piece.bytes = rest.substr(0, end_of_piece(rest, piece_bytes));
      rest.remove_prefix(piece.bytes.size());
      pieces_.push_back(piece);
      piece.first = false;
      piece.continues = !piece.bytes.empty() && piece.bytes.back() != '\n';
    } while (!rest.empty());
  }
}

void GenomeText::discard(std::string_view part) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* first = content_.data.get() + (part.data() - content_.data.get());
  std::size_t rest = part.size();
  // Whole pages within it; a failure only keeps them.
  if (std::align(page, page, first, rest) != nullptr)
    static_cast<void>(::madvise(first, rest / page * page, MADV_DONTNEED));
}

std::uint64_t GenomeText::line_of(const char* byte) const {
  return static_cast<std::uint64_t>(
             std::count(static_cast<const char*>(content_.data.get()), byte, '\n')) +
         1;
}

}  // namespace sortie::genomes
