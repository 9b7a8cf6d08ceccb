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
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

[[nodiscard]] bool ends_line(char byte) {
  return byte == '\n' || byte == '\r';
}

/// End of the piece that starts at the begin of `text`.
std::size_t end_of_piece(std::string_view text) {
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
  find_records();
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
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t header_end = std::min(all.find('\n', begin), all.size());
    const std::size_t body = std::min(header_end + 1, all.size());
    std::size_t end = body;
    // A record also ends where its body is empty.
    while (end < all.size() && !(all[end] == '>' && all[end - 1] == '\n'))
      end = std::min(all.find('>', end + 1), all.size());
    records_.push_back(
        {all.substr(begin + 1, header_end - begin - 1), all.substr(body, end - body)});
    begin = end;
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
  for (std::size_t i = 0; i < records_.size(); ++i) {
    std::string_view rest = records_[i].body;
    GenomePiece piece;
    piece.record = i;
    piece.first = true;
    do {
      piece.bytes = rest.substr(0, end_of_piece(rest));
      rest.remove_prefix(piece.bytes.size());
      pieces_.push_back(piece);
      piece.first = false;
      piece.continues = !piece.bytes.empty() && piece.bytes.back() != '\n';
    } while (!rest.empty());
  }
}

void GenomeText::discard(const GenomePiece& piece) const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* first = content_.data.get() + (piece.bytes.data() - content_.data.get());
  std::size_t rest = piece.bytes.size();
  // Whole pages within the piece; a failure only keeps them.
  if (std::align(page, page, first, rest) != nullptr)
    static_cast<void>(::madvise(first, rest / page * page, MADV_DONTNEED));
}

std::uint64_t GenomeText::line_of(const char* byte) const {
  return static_cast<std::uint64_t>(
             std::count(static_cast<const char*>(content_.data.get()), byte, '\n')) +
         1;
}

}  // namespace sortie::genomes
