// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "apps/kmer_count/table_lines.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/whole_file.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"

namespace sortie::kmers {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 20;

/// Reads the lines of a table of any format.
class TableReader {
 public:
  explicit TableReader(const std::string& path) : source_(path), bytes_(read_bytes) {}

  /// Reads the next k-mer. Returns false at the end. \throws Error (input)
  bool next() {
    std::string_view line = take_line();
    if (line.data() == nullptr) return false;
    const DoubleWord before = kmer_;
    if (line.starts_with('>')) {
      count_ = parse_count(line.substr(1));
      line = take_line();
      if (line.data() == nullptr) fail("the end of the file", "a k-mer after its count");
      parse_kmer(line);
    } else {
      const std::size_t gap = line.find_first_of("\t ");
      if (gap == std::string_view::npos)
        fail(quoted(line), "a k-mer, a tab or a space, and a count");
      parse_kmer(line.substr(0, gap));
      count_ = parse_count(line.substr(gap + 1));
    }
    if (!is_first_ && kmer_ <= before)
      fail("a k-mer that is not above the one before", "k-mers in ascending order");
    is_first_ = false;
    return true;
  }

  /// Bytes of the content read so far.
  [[nodiscard]] std::uint64_t bytes() const { return taken_; }
  /// Letters of the k-mers; 0 before the first one.
  [[nodiscard]] int k() const { return k_; }
  [[nodiscard]] DoubleWord kmer() const { return kmer_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  [[noreturn]] void fail(std::string_view found, std::string_view expected) const {
    throw input_error(source_.name(), line_number_, found, expected);
  }

 private:
  /// The next line, without its end; null at the end of the file.
  std::string_view take_line() {
    const char* end = find_line_end();
    while (end == nullptr && !ended_) {
      // Moves what is left to the front. No line is as long as the buffer.
      std::memmove(bytes_.data(), bytes_.data() + at_, size_ - at_);
      size_ -= at_;
      at_ = 0;
      if (size_ == bytes_.size()) {
        ++line_number_;
        fail(fmt::format("a line of more than {} bytes", size_), "a k-mer and a count");
      }
      const std::size_t got = source_.read(std::span(bytes_).subspan(size_));
      ended_ = got < bytes_.size() - size_;
      size_ += got;
      taken_ += got;
      end = find_line_end();
    }
    if (at_ == size_) return {};
    ++line_number_;
    const char* const begin = bytes_.data() + at_;
    if (end == nullptr) end = bytes_.data() + size_;
    std::string_view line(begin, static_cast<std::size_t>(end - begin));
    at_ = std::min(size_, at_ + line.size() + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  [[nodiscard]] const char* find_line_end() const {
    return static_cast<const char*>(std::memchr(bytes_.data() + at_, '\n', size_ - at_));
  }

  void parse_kmer(std::string_view letters) {
    if (letters.empty() || letters.size() > longest_kmer)
      fail(fmt::format("{} letters", letters.size()), fmt::format("1 to {}", longest_kmer));
    if (k_ == 0) k_ = static_cast<int>(letters.size());
    if (static_cast<int>(letters.size()) != k_)
      fail(fmt::format("{} letters", letters.size()), fmt::format("{}, as before", k_));
    DoubleWord kmer = 0;
    std::uint8_t others = 0;
    for (const char letter : letters) {
      const std::uint8_t code = codes_[static_cast<std::uint8_t>(letter)];
      others |= code;
      kmer = kmer << 2 | (code & 3);
    }
    if (others > 3) fail(quoted(letters), "letters A, C, G and T");
    kmer_ = kmer;
  }

  [[nodiscard]] std::uint64_t parse_count(std::string_view digits) const {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc{} || end != digits.data() + digits.size() || count == 0)
      fail(quoted(digits), "a count of at least 1");
    return count;
  }

  static constexpr std::array<std::uint8_t, 256> codes_ = [] {
    std::array<std::uint8_t, 256> codes{};
    codes.fill(4);
    codes['A'] = 0;
    codes['C'] = 1;
    codes['G'] = 2;
    codes['T'] = 3;
    return codes;
  }();

  ByteSource source_;
  std::vector<char> bytes_;
  std::size_t at_ = 0;    ///< next byte of the line to come
  std::size_t size_ = 0;  ///< bytes read
  bool ended_ = false;
  std::uint64_t taken_ = 0;
  std::uint64_t line_number_ = 0;
  int k_ = 0;
  bool is_first_ = true;
  DoubleWord kmer_ = 0;
  std::uint64_t count_ = 0;
};

/// The count of a k-mer in the result; 0 if it is not there.
std::uint64_t combined(TableOperation operation, std::uint64_t a, std::uint64_t b) {
  switch (operation) {
    case TableOperation::intersect:
      return std::min(a, b);
    case TableOperation::subtract:
      return a > b ? a - b : 0;
    case TableOperation::unite:
      return a + b;
  }
  return 0;
}

}  // namespace

KmerFigures combine_tables(const HostContext& context, TableOperation operation,
                           const std::string& a, const std::string& b, CountRange counts,
                           TableFormat format, const std::string& table,
                           const std::function<void(const KmerFigures&)>& finish) {
  require_range(counts);
  const PhaseTimer timer(context, "combine");
  TableReader left(a);
  TableReader right(b);
  bool has_left = left.next();
  bool has_right = right.next();
  if (has_left && has_right && left.k() != right.k())
    right.fail(fmt::format("k-mers of {} letters", right.k()),
               fmt::format("{}, as those of the other table", left.k()));
  std::optional<WholeFile> file;
  if (!table.empty()) file.emplace(table);
  TableLines lines(std::max({left.k(), right.k(), 1}), counts, format, file.has_value(), false);
  const auto write = [&](std::size_t limit) {
    if (!file || lines.text().size() <= limit) return;
    file->write(lines.text());
    lines.clear();
    report_progress(context, "combine", left.bytes() + right.bytes(), 0);
  };
  while (has_left || has_right) {
    const bool takes_left = has_left && (!has_right || left.kmer() <= right.kmer());
    const bool takes_right = has_right && (!has_left || right.kmer() <= left.kmer());
    if (takes_left && takes_right && left.count() > ~right.count())
      right.fail("counts whose sum is 2^64 or more", "smaller counts");
    const std::uint64_t count =
        combined(operation, takes_left ? left.count() : 0, takes_right ? right.count() : 0);
    if (count != 0) lines.add(takes_left ? left.kmer() : right.kmer(), count);
    write(read_bytes);
    if (takes_left) has_left = left.next();
    if (takes_right) has_right = right.next();
  }
  write(0);
  const std::uint64_t bytes = left.bytes() + right.bytes();
  report_progress(context, "combine", bytes, bytes);
  KmerFigures figures;
  lines.add_to(figures);
  finish_figures(figures);
  if (file) {
    figures.table_bytes = file->bytes_written();
    file->flush();
  }
  // Files get names only when the bytes of all are written.
  if (finish) finish(figures);
  if (file) file->commit();
  return figures;
}

}  // namespace sortie::kmers
