// SPDX-License-Identifier: Apache-2.0

// The index of STAR, without annotation.
//
// STAR's text is the genome with padding after each record, followed by its reverse complement, 2N
// bytes in all. Its order is A < C < G < T < N < padding; of suffixes that agree up to their
// padding, the one with the lower position is first. Rows that begin with N or padding are left
// out.
//
// Ours has no padding, and everything inverted: letters of inverted order (T, G, C, A are 2 to 5),
// the records of the 2N bytes in inverted order, each followed by a separator. Its suffix array,
// read backwards, is that of STAR up to the positions.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "apps/genome_index/formats.hpp"
#include "apps/genome_index/packed_numbers.hpp"
#include "apps/genome_index/star_letters.hpp"
#include "apps/genome_index/star_prefix_index.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/version.hpp"

namespace sortie::genomes {
namespace {

using suffix_array::TextView;

/// Bits of a position in the genome. STAR reserves positions for a million junctions of 201 bases.
int position_bits(std::uint64_t genome_size) {
  const double most = static_cast<double>(genome_size + 201'000'000);
  // As STAR computes it, for the same rounding.
  return std::max(32, static_cast<int>(std::floor(std::log(most) / std::log(2.0))) + 1);
}

std::uint64_t bytes_of_rows(std::uint64_t rows, int bits) {
  return (rows - 1) * static_cast<std::uint64_t>(bits + 1) / 8 + sizeof(std::uint64_t);
}

/// The text of both strands in inverted order, and the way back from its positions to STAR's.
class InvertedText {
 public:
  /// \param codes  of letters.write()
  InvertedText(const HostContext& context, const StarLetters& letters, const std::uint8_t* codes,
               int bits)
      : size_(2 * (letters.size() + letters.records().size())),
        symbols_(allocate_array<std::uint8_t>(context, "index: the text of both strands",
                                              size_ + prefix_bytes)) {
    std::memset(symbols_.get() + size_, 0, prefix_bytes);
    const std::vector<StarLetters::Record>& records = letters.records();
    const std::size_t count = records.size();
    segments_.resize(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      const StarLetters::Record& record = records[i];
      const std::uint64_t complement = record.number + i;
      const std::uint64_t forward = size_ - complement - record.length - 1;
      segments_[i] = {complement, (std::uint64_t{1} << bits) + letters.genome_size() -
                                      record.begin - record.length - complement};
      segments_[2 * count - 1 - i] = {forward, record.begin - forward};
      symbols_[complement + record.length] = symbols_[forward + record.length] = 0;
      separators_.push_back(complement + record.length);
      separators_.push_back(forward + record.length);
    }
    std::ranges::sort(separators_);
    for_each_range(
        letters.size(), std::uint64_t{1} << 20, [&](std::uint64_t begin, std::uint64_t end) {
          auto record =
              std::ranges::upper_bound(records, begin, {}, &StarLetters::Record::number) - 1;
          while (begin < end) {
            const auto i = static_cast<std::size_t>(record - records.begin());
            const std::uint64_t last = std::min(end, record->number + record->length);
            copy_letters(codes, begin, last, segments_[2 * count - 1 - i].begin, record->number + i,
                         *record);
            begin = last;
            ++record;
          }
        });
    first_segments_.reserve(size_ / granule + 1);
    for (std::size_t i = 0; first_segments_.size() <= size_ / granule;) {
      const std::uint64_t position = first_segments_.size() * granule;
      while (i + 1 < segments_.size() && segments_[i + 1].begin <= position) ++i;
      first_segments_.push_back(static_cast<std::uint32_t>(i));
    }
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] TextView view() const { return {{symbols_.get(), size_}, separators_}; }

  /// STAR's number for the suffix at a position.
  [[nodiscard]] std::uint64_t entry(std::uint64_t position) const {
    std::size_t i = first_segments_[position / granule];
    while (i + 1 < segments_.size() && segments_[i + 1].begin <= position) ++i;
    return position + segments_[i].shift;
  }

  void prefetch(std::uint64_t position) const { __builtin_prefetch(symbols_.get() + position); }

  [[nodiscard]] SuffixPrefix prefix(std::uint64_t row, std::uint64_t position,
                                    std::uint32_t depth) const {
    const auto [high, of_high] = eight_letters(position);
    const auto [low, of_low] = eight_letters(position + 8);
    const std::uint32_t valid = std::min(of_high < 8 ? of_high : 8 + of_low, depth);
    const std::uint64_t after = 0xffffffff >> (valid == 16 ? 31 : 2 * valid) >> (valid == 16);
    return {row, static_cast<std::uint32_t>((high << 16 | low) & ~after), valid};
  }

 private:
  static constexpr std::uint64_t prefix_bytes = 16;
  static constexpr std::uint64_t granule = 4096;

  /// A record of one strand, up to its separator.
  struct Segment {
    std::uint64_t begin;
    std::uint64_t shift;  ///< from a position to STAR's number
  };

  void copy_letters(const std::uint8_t* codes, std::uint64_t begin, std::uint64_t end,
                    std::uint64_t forward, std::uint64_t complement,
                    const StarLetters::Record& record) {
    std::uint8_t* const symbols = symbols_.get();
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint8_t code = codes[i];
      const std::uint64_t at = i - record.number;
      symbols[forward + at] = static_cast<std::uint8_t>(5 - code);
      symbols[complement + record.length - 1 - at] =
          static_cast<std::uint8_t>(code < 4 ? 2 + code : 1);
    }
  }

  /// Codes of eight letters, 2 bits each, the first in the highest, and how many are before an N
  /// or separator. Codes from there on are of no use.
  [[nodiscard]] std::pair<std::uint64_t, std::uint32_t> eight_letters(
      std::uint64_t position) const {
    std::uint64_t eight = 0;
    std::memcpy(&eight, symbols_.get() + position, sizeof eight);
    eight = 0x0505050505050505 - eight;  // letters 0 to 3, N 4, separators 5
    const std::uint64_t ends = eight & 0x0404040404040404;
    const int valid = ends == 0 ? 8 : std::countr_zero(ends) / 8;
    std::uint64_t codes = __builtin_bswap64(eight & 0x0303030303030303);
    codes = (codes | codes >> 6) & 0x000f000f000f000f;
    codes = (codes | codes >> 12) & 0x000000ff000000ff;
    codes = (codes | codes >> 24) & 0xffff;
    return {codes, static_cast<std::uint32_t>(valid)};
  }

  std::uint64_t size_;
  HostArray<std::uint8_t> symbols_;
  std::vector<std::uint64_t> separators_;
  std::vector<Segment> segments_;              ///< ascending
  std::vector<std::uint32_t> first_segments_;  ///< of the position at each multiple of granule
};

/// File `SA`: entries of one bit more than a position, for the strand.
class StarRows {
 public:
  StarRows(IndexFile& file, std::uint64_t rows, int bits)
      : file_(file), bits_(bits + 1), end_(bytes_of_rows(rows, bits)) {
    (void)file.reserve(end_);
  }

  void append(std::span<const std::uint64_t> entries) {
    if (!waiting_.empty()) {
      const std::size_t taken = std::min(8 - waiting_.size(), entries.size());
      waiting_.insert(waiting_.end(), entries.begin(), entries.begin() + taken);
      entries = entries.subspan(taken);
      if (waiting_.size() < 8) return;
      write(waiting_);
    }
    const std::size_t whole = entries.size() / 8 * 8;
    write(entries.first(whole));
    waiting_.assign(entries.begin() + whole, entries.end());
  }
  void finish() {
    write(waiting_);
    file_.write_at(offset_, std::vector<char>(end_ - offset_));
  }

 private:
  void write(std::span<const std::uint64_t> entries) {
    for_each_range(
        entries.size(), std::uint64_t{1} << 16, [&](std::uint64_t begin, std::uint64_t end) {
          PackedNumbers packed(bits_, end - begin);
          for (std::uint64_t i = begin; i < end; ++i) packed.append(entries[i]);
          file_.write_at(offset_ + begin / 8 * static_cast<std::uint64_t>(bits_), packed.finish());
        });
    offset_ += PackedNumbers::bytes_of(bits_, entries.size());
  }

  IndexFile& file_;
  int bits_;
  std::uint64_t end_;
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t> waiting_;  ///< fewer than the eight that fill bytes
};

/// File `Genome`: a byte a letter, with padding.
void write_genome(const StarLetters& letters, const std::uint8_t* codes, IndexFile& file) {
  const std::vector<char> padding(std::size_t{1} << 18, char{StarLetters::padding});
  std::uint64_t end = 0;
  const auto pad = [&](std::uint64_t to) {
    for (; end < to; end += std::min<std::uint64_t>(padding.size(), to - end))
      file.write(std::span(padding).first(std::min<std::uint64_t>(padding.size(), to - end)));
  };
  for (const StarLetters::Record& record : letters.records()) {
    pad(record.begin);
    file.write({reinterpret_cast<const char*>(codes) + record.number, record.length});
    end += record.length;
  }
  pad(letters.genome_size());
}

/// Contents of `chrName.txt`, `chrStart.txt`, `chrLength.txt` and `chrNameLength.txt`.
struct RecordTables {
  std::string names;
  std::string starts;
  std::string lengths;
  std::string names_lengths;

  explicit RecordTables(const StarLetters& letters) {
    for (std::size_t i = 0; i < letters.records().size(); ++i) {
      const StarLetters::Record& record = letters.records()[i];
      const std::string_view name = letters.name(i);
      fmt::format_to(std::back_inserter(names), "{}\n", name);
      fmt::format_to(std::back_inserter(starts), "{}\n", record.begin);
      fmt::format_to(std::back_inserter(lengths), "{}\n", record.length);
      fmt::format_to(std::back_inserter(names_lengths), "{}\t{}\n", name, record.length);
    }
    fmt::format_to(std::back_inserter(starts), "{}\n", letters.genome_size());
  }
};

std::string parameters(const IndexRequest& request, const StarLetters& letters, int bits) {
  return fmt::format(
      "### sortie {} index\n### GstrandBit {}\nversionGenome\t2.7.4a\ngenomeType\tFull\n"
      "genomeFastaFiles\t{} \ngenomeSAindexNbases\t{}\ngenomeChrBinNbits\t{}\ngenomeSAsparseD\t1\n"
      "genomeTransformType\tNone\ngenomeTransformVCF\t-\nsjdbOverhang\t0\nsjdbFileChrStartEnd\t- \n"
      "sjdbGTFfile\t-\nsjdbGTFchrPrefix\t-\nsjdbGTFfeatureExon\texon\n"
      "sjdbGTFtagExonParentTranscript\ttranscript_id\nsjdbGTFtagExonParentGene\tgene_id\n"
      "sjdbInsertSave\tBasic\ngenomeFileSizes\t{} {}\n",
      version(), bits, request.fasta, request.options.star_index_bases,
      request.options.star_bin_bits, letters.genome_size(),
      bytes_of_rows(2 * letters.bases(), bits));
}

/// Adds rows of the suffix array to the files, those of STAR in ascending order.
class StarRowWriter {
 public:
  StarRowWriter(const InvertedText& text, std::uint32_t depth, StarRows& sa, StarPrefixIndex& index)
      : text_(text), depth_(depth), sa_(sa), index_(index) {}

  /// Rows written.
  [[nodiscard]] std::uint64_t done() const { return done_; }

  /// \param position_of  of the i-th of the next rows
  template <class PositionOf>
  void append(std::uint64_t count, const PositionOf& position_of) {
    for (std::uint64_t first = 0; first < count; first += batch)
      append_batch(std::min(batch, count - first),
                   [&](std::uint64_t i) { return position_of(first + i); });
  }

 private:
  static constexpr std::uint64_t task = std::uint64_t{1} << 12;
  /// Many tasks, since each batch has parallel steps that wait for each other.
  static constexpr std::uint64_t batch = 256 * task;

  template <class PositionOf>
  void append_batch(std::uint64_t count, const PositionOf& position_of) {
    entries_.resize(count);
    for_each_range(count, task, [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<SuffixPrefix>& mine = found_[begin / task];
      mine.clear();
      constexpr std::uint64_t ahead = 32;
      for (std::uint64_t i = begin; i < end; ++i) {
        if (i + ahead < end) text_.prefetch(position_of(i + ahead));
        const std::uint64_t position = position_of(i);
        entries_[i] = text_.entry(position);
        const SuffixPrefix prefix = text_.prefix(done_ + i, position, depth_);
        if (mine.empty() || !mine.back().equals(prefix)) mine.push_back(prefix);
      }
    });
    sa_.append(entries_);
    index_.append(std::span(found_).first((count + task - 1) / task));
    done_ += count;
  }

  const InvertedText& text_;
  std::uint32_t depth_;
  StarRows& sa_;
  StarPrefixIndex& index_;
  std::vector<std::uint64_t> entries_;
  std::vector<std::vector<SuffixPrefix>> found_ =
      std::vector<std::vector<SuffixPrefix>>(batch / task);
  std::uint64_t done_ = 0;
};

/// Passes the first `row_count` rows on. Those that begin with N or a separator are behind them.
void write_star_rows(const Context& context, const InvertedText& text, std::uint64_t row_count,
                     StarRowWriter& writer) {
  if (streams_from_device(context)) {
    for_each_row_block(context, text.view(), {.descending = true},
                       [&](const suffix_array::RowBlock& block) {
                         writer.append(std::min(block.samples.size(), row_count - writer.done()),
                                       [&](std::uint64_t i) { return block.samples[i]; });
                       });
    return;
  }
  with_position_type(text.size(), [&](auto type) {
    using Pos = decltype(type);
    for_each_rows<Pos>(
        context, text.view(), RowOrder::descending, [&](std::uint64_t, std::span<const Pos> rows) {
          rows = rows.last(std::min(rows.size(), row_count - writer.done()));
          writer.append(rows.size(),
                        [&](std::uint64_t i) { return std::uint64_t{rows[rows.size() - 1 - i]}; });
        });
  });
}

}  // namespace

void plan_star_index(const Context& context, const IndexRequest& request, GenomeIndexPlan& plan) {
  const StarLetters letters(request.genome, request.options.star_bin_bits);
  const std::uint32_t depth = request.options.star_index_bases;
  const int bits = position_bits(letters.genome_size());
  const RecordTables tables(letters);
  const auto add = [&](std::string_view name, std::uint64_t bytes) {
    plan.files.push_back({request.options.prefix + "/" + std::string(name), bytes});
  };
  add("chrName.txt", tables.names.size());
  add("chrStart.txt", tables.starts.size());
  add("chrLength.txt", tables.lengths.size());
  add("chrNameLength.txt", tables.names_lengths.size());
  add("genomeParameters.txt", parameters(request, letters, bits).size());
  add("Genome", letters.genome_size());
  add("SA", bytes_of_rows(2 * letters.bases(), bits));
  add("SAindex", StarPrefixIndex::bytes(depth, bits + 3));
  plan.letters = std::max(plan.letters, letters.size());
  const std::uint64_t symbols = 2 * (letters.size() + letters.records().size());
  plan.memory = std::max(plan.memory, symbols + memory_of_rows(context, symbols));
  const double best = std::log2(static_cast<double>(letters.size())) / 2 - 1;
  if (depth > best)
    plan.warnings.push_back(
        fmt::format("STAR may fail with {} letters in SAindex on a genome of {}: it recommends "
                    "--sa-index-bases {}",
                    depth, letters.size(), std::max(1, static_cast<int>(best))));
}

void write_star_index(const Context& context, const IndexRequest& request, IndexOutputs& outputs) {
  const PhaseTimer timer(context, "star");
  const StarLetters letters(request.genome, request.options.star_bin_bits);
  const std::uint32_t depth = request.options.star_index_bases;
  const int bits = position_bits(letters.genome_size());
  const RecordTables tables(letters);
  outputs.add("/chrName.txt").write_text(tables.names);
  outputs.add("/chrStart.txt").write_text(tables.starts);
  outputs.add("/chrLength.txt").write_text(tables.lengths);
  outputs.add("/chrNameLength.txt").write_text(tables.names_lengths);
  outputs.add_required("/genomeParameters.txt")
      .write_parameters(parameters(request, letters, bits), "genomeFastaFiles");
  IndexFile& genome = outputs.add("/Genome");
  StarRows sa(outputs.add("/SA"), 2 * letters.bases(), bits);
  StarPrefixIndex index(outputs.add("/SAindex"), depth, bits + 3);
  std::optional<InvertedText> text;
  {
    const auto codes = allocate_array<std::uint8_t>(letters.size());
    letters.write(codes.get());
    write_genome(letters, codes.get(), genome);
    text.emplace(on_host(context), letters, codes.get(), bits);
  }
  StarRowWriter writer(*text, depth, sa, index);
  write_star_rows(less_memory(context, text->size()), *text, 2 * letters.bases(), writer);
  sa.finish();
  index.finish(2 * letters.bases());
}

}  // namespace sortie::genomes
