// SPDX-License-Identifier: Apache-2.0

// The index of STAR. With a GTF, STAR builds the index of the genome and then inserts the sequences
// of junctions. Its rows are those of the genome with the junctions behind it (InvertedText), so
// the suffix array of both is built at once. Of SAindex the insertion leaves more traces, which
// StarPrefixIndex follows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/genome_index/formats.hpp"
#include "apps/genome_index/gtf_exons.hpp"
#include "apps/genome_index/packed_numbers.hpp"
#include "apps/genome_index/star_annotation.hpp"
#include "apps/genome_index/star_junctions.hpp"
#include "apps/genome_index/star_letters.hpp"
#include "apps/genome_index/star_prefix_index.hpp"
#include "apps/genome_index/star_text.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/version.hpp"

namespace sortie::genomes {
namespace {

using suffix_array::TextView;

/// Bits of a position in the genome. STAR reserves positions for a million junctions, of 201 bases
/// if none is inserted.
int position_bits(std::uint64_t genome_size, std::uint64_t overhang) {
  const double most = static_cast<double>(genome_size + StarJunctions::most * (2 * overhang + 1));
  // As STAR computes it, for the same rounding.
  return std::max(32, static_cast<int>(std::floor(std::log(most) / std::log(2.0))) + 1);
}

std::uint64_t bytes_of_rows(std::uint64_t rows, int bits) {
  return (rows - 1) * static_cast<std::uint64_t>(bits + 1) / 8 + sizeof(std::uint64_t);
}

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

/// Writes the genome into file `Genome`: a byte a letter, with padding.
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

/// The letters of a genome, and the tables and junctions of its GTF.
class StarGenome {
 public:
  explicit StarGenome(const IndexRequest& request)
      : letters_(request.genome, request.options.star_bin_bits) {
    const StarAnnotationOptions& options = request.options.star_annotation;
    if (options.gtf.empty()) return;
    const GtfExons gtf(request.gtf, options, letters_);
    annotation_.emplace(gtf, letters_);
    warnings_ = gtf.warnings();
    if (annotation_->divided_transcripts != 0)
      warnings_.push_back(
          fmt::format("{}: transcripts with exons in several records, which STAR joins by "
                      "junctions ({} in all)",
                      options.gtf, annotation_->divided_transcripts));
  }

  [[nodiscard]] const StarLetters& letters() const { return letters_; }
  [[nodiscard]] const std::optional<StarAnnotation>& annotation() const { return annotation_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// Letters of the genome and, at most, of its junctions.
  [[nodiscard]] std::uint64_t most_letters(std::uint32_t overhang) const {
    const std::uint64_t introns = annotation_ ? annotation_->introns.size() : 0;
    return letters_.size() + 2 * introns * overhang;
  }
  /// The junctions, if there is a GTF.
  [[nodiscard]] std::optional<StarJunctions> junctions(const std::uint8_t* codes,
                                                       std::uint32_t overhang) const {
    std::optional<StarJunctions> junctions;
    if (annotation_) junctions.emplace(letters_, codes, annotation_->introns, overhang);
    return junctions;
  }

 private:
  StarLetters letters_;
  std::optional<StarAnnotation> annotation_;
  std::vector<std::string> warnings_;
};

/// Sizes of an index.
struct StarSizes {
  int bits = 0;              ///< of a position
  std::uint64_t genome = 0;  ///< bytes of file `Genome`
  std::uint64_t genome_rows = 0;
  std::uint64_t inserted_rows = 0;  ///< of junctions
  std::uint64_t symbols = 0;        ///< of InvertedText

  StarSizes(const IndexRequest& request, const StarLetters& letters,
            const std::optional<StarJunctions>& junctions)
      : bits(position_bits(letters.genome_size(),
                           junctions ? request.options.star_annotation.overhang : 100)),
        genome(letters.genome_size()),
        genome_rows(2 * letters.bases()),
        symbols(2 * (letters.size() + letters.records().size())) {
    if (!junctions) return;
    genome += junctions->text().size();
    inserted_rows = 2 * junctions->bases();
    symbols += 2 * junctions->text().size();
  }

  [[nodiscard]] std::uint64_t sa_bytes() const {
    return bytes_of_rows(genome_rows + inserted_rows, bits);
  }
};

std::string parameters(const IndexRequest& request, const StarSizes& sizes) {
  const StarAnnotationOptions& annotation = request.options.star_annotation;
  const bool has_gtf = !annotation.gtf.empty();
  const StarAnnotationOptions none;
  const StarAnnotationOptions& shown = has_gtf ? annotation : none;
  const auto or_none = [](const std::string& value) { return value.empty() ? "-" : value; };
  return fmt::format(
      "### sortie {} index\n### GstrandBit {}\nversionGenome\t2.7.4a\ngenomeType\tFull\n"
      "genomeFastaFiles\t{} \ngenomeSAindexNbases\t{}\ngenomeChrBinNbits\t{}\ngenomeSAsparseD\t1\n"
      "genomeTransformType\tNone\ngenomeTransformVCF\t-\nsjdbOverhang\t{}\n"
      "sjdbFileChrStartEnd\t- \nsjdbGTFfile\t{}\nsjdbGTFchrPrefix\t{}\nsjdbGTFfeatureExon\t{}\n"
      "sjdbGTFtagExonParentTranscript\t{}\nsjdbGTFtagExonParentGene\t{}\n"
      "sjdbInsertSave\tBasic\ngenomeFileSizes\t{} {}\n",
      version(), sizes.bits, request.fasta, request.options.star_index_bases,
      request.options.star_bin_bits, has_gtf ? shown.overhang : 0, or_none(shown.gtf),
      or_none(shown.record_prefix), shown.exon_feature, shown.transcript_tag, shown.gene_tag,
      sizes.genome, sizes.sa_bytes());
}

/// Files that only an index with a GTF has.
constexpr std::array<std::string_view, 7> table_files = {
    "/exonGeTrInfo.tab",         "/exonInfo.tab",     "/geneInfo.tab",      "/sjdbInfo.txt",
    "/sjdbList.fromGTF.out.tab", "/sjdbList.out.tab", "/transcriptInfo.tab"};

/// Calls visit(name, content) for these files.
template <class Visit>
void for_each_table(const StarAnnotation& annotation, const StarJunctions& junctions,
                    const Visit& visit) {
  const std::array<std::string, 7> contents = {
      annotation.exon_genes, annotation.exons,       annotation.genes,      junctions.info_table(),
      annotation.junctions,  junctions.list_table(), annotation.transcripts};
  for (std::size_t i = 0; i < contents.size(); ++i) visit(table_files[i], contents[i]);
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
    for (std::uint64_t first = 0; first < count; first += batch) {
      const std::uint64_t size = std::min(batch, count - first);
      const auto position = [&](std::uint64_t i) { return position_of(first + i); };
      if (text_.has_inserted()) {
        append_batch<true>(size, position);
      } else {
        append_batch<false>(size, position);
      }
    }
  }

 private:
  static constexpr std::uint64_t task = std::uint64_t{1} << 12;
  /// Many tasks, since each batch has parallel steps that wait for each other.
  static constexpr std::uint64_t batch = 256 * task;

  template <bool has_inserted, class PositionOf>
  void append_batch(std::uint64_t count, const PositionOf& position_of) {
    entries_.resize(count);
    const std::uint64_t tasks = (count + task - 1) / task;
    for_each_range(count, task, [&](std::uint64_t begin, std::uint64_t end) {
      std::vector<SuffixPrefix>& mine = found_[begin / task];
      mine.clear();
      std::uint64_t genome_rows = has_inserted ? 0 : done_ + begin;  // with junctions, of this task
      constexpr std::uint64_t ahead = 32;
      for (std::uint64_t i = begin; i < end; ++i) {
        if (i + ahead < end) text_.prefetch(position_of(i + ahead));
        const std::uint64_t position = position_of(i);
        entries_[i] = text_.entry(position);
        SuffixPrefix prefix = text_.prefix(position, depth_);
        prefix.row = done_ + i;
        prefix.genome_rows = genome_rows;
        if constexpr (has_inserted) prefix.is_inserted = text_.is_inserted(position);
        genome_rows += prefix.is_inserted ? 0 : 1;
        if (mine.empty() || !mine.back().equals(prefix)) {
          mine.push_back(prefix);
        } else if constexpr (has_inserted) {
          mine.back().is_repeated = true;
        }
      }
      genome_rows_[begin / task] = genome_rows;
    });
    if constexpr (has_inserted) count_genome_rows(tasks);
    sa_.append(entries_);
    index_.append(std::span(found_).first(tasks));
    done_ += count;
  }

  /// Adds the rows of the genome before each task to those within it.
  void count_genome_rows(std::uint64_t tasks) {
    for (std::uint64_t i = 0; i < tasks; ++i)
      genome_done_ += std::exchange(genome_rows_[i], genome_done_);
    for_each_task(tasks, [&](std::uint64_t i) {
      for (SuffixPrefix& prefix : found_[i]) prefix.genome_rows += genome_rows_[i];
    });
  }

  const InvertedText& text_;
  std::uint32_t depth_;
  StarRows& sa_;
  StarPrefixIndex& index_;
  std::vector<std::uint64_t> entries_;
  std::vector<std::vector<SuffixPrefix>> found_ =
      std::vector<std::vector<SuffixPrefix>>(batch / task);
  std::vector<std::uint64_t> genome_rows_ = std::vector<std::uint64_t>(batch / task);  ///< of tasks
  std::uint64_t done_ = 0;
  std::uint64_t genome_done_ = 0;
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
  const StarGenome genome(request);
  const StarLetters& letters = genome.letters();
  const std::uint32_t overhang = request.options.star_annotation.overhang;
  const std::uint32_t depth = request.options.star_index_bases;
  std::optional<StarJunctions> junctions;
  if (genome.annotation()) {
    const auto codes = allocate_array<std::uint8_t>(letters.size());
    letters.write(codes.get());
    junctions = genome.junctions(codes.get(), overhang);
  }
  const StarSizes sizes(request, letters, junctions);
  const RecordTables tables(letters);
  const auto add = [&](std::string_view suffix, std::uint64_t bytes) {
    plan.files.push_back({request.options.prefix + std::string(suffix), bytes});
  };
  add("/chrName.txt", tables.names.size());
  add("/chrStart.txt", tables.starts.size());
  add("/chrLength.txt", tables.lengths.size());
  add("/chrNameLength.txt", tables.names_lengths.size());
  add("/genomeParameters.txt", parameters(request, sizes).size());
  if (junctions)
    for_each_table(
        *genome.annotation(), *junctions,
        [&](std::string_view name, const std::string& content) { add(name, content.size()); });
  add("/Genome", sizes.genome);
  add("/SA", sizes.sa_bytes());
  add("/SAindex", StarPrefixIndex::bytes(depth, sizes.bits + 3));
  plan.letters = std::max(plan.letters, letters.size());
  plan.memory = std::max(plan.memory, sizes.symbols + memory_of_rows(context, sizes.symbols));
  plan.warnings.insert(plan.warnings.end(), genome.warnings().begin(), genome.warnings().end());
  const double best = std::log2(static_cast<double>(letters.size())) / 2 - 1;
  if (depth > best)
    plan.warnings.push_back(
        fmt::format("STAR may fail with {} letters in SAindex on a genome of {}: it recommends "
                    "--sa-index-bases {}",
                    depth, letters.size(), std::max(1, static_cast<int>(best))));
}

void write_star_index(const Context& context, const IndexRequest& request, IndexOutputs& outputs) {
  const PhaseTimer timer(context, "star");
  const StarGenome genome(request);
  const StarLetters& letters = genome.letters();
  const std::uint32_t overhang = request.options.star_annotation.overhang;
  const std::uint32_t depth = request.options.star_index_bases;
  const RecordTables tables(letters);
  outputs.add("/chrName.txt").write_text(tables.names);
  outputs.add("/chrStart.txt").write_text(tables.starts);
  outputs.add("/chrLength.txt").write_text(tables.lengths);
  outputs.add("/chrNameLength.txt").write_text(tables.names_lengths);
  IndexFile& genome_file = outputs.add("/Genome");
  std::optional<StarSizes> sizes;
  std::optional<InvertedText> text;
  {
    const auto codes = allocate_array<std::uint8_t>(genome.most_letters(overhang));
    letters.write(codes.get());
    write_genome(letters, codes.get(), genome_file);
    std::vector<StarLetters::Record> records = letters.records();
    const std::optional<StarJunctions> junctions = genome.junctions(codes.get(), overhang);
    if (junctions) {
      const std::vector<std::uint8_t>& bytes = junctions->text();
      genome_file.write_numbers(std::span(bytes));
      std::ranges::copy_if(bytes, codes.get() + letters.size(),
                           [](std::uint8_t code) { return code != StarLetters::padding; });
      const std::vector<StarLetters::Record> inserted = junctions->records();
      records.insert(records.end(), inserted.begin(), inserted.end());
      for_each_table(*genome.annotation(), *junctions,
                     [&](std::string_view name, const std::string& content) {
                       outputs.add(name).write_text(content);
                     });
    }
    if (!junctions)
      for (const std::string_view name : table_files) outputs.remove_old(name);
    sizes.emplace(request, letters, junctions);
    text.emplace(on_host(context),
                 StarTextParts{records, letters.records().size(), codes.get(), sizes->genome},
                 sizes->bits);
  }
  outputs.add_required("/genomeParameters.txt")
      .write_parameters(parameters(request, *sizes), {"genomeFastaFiles", "sjdbGTFfile"});
  const std::uint64_t rows = sizes->genome_rows + sizes->inserted_rows;
  StarRows sa(outputs.add("/SA"), rows, sizes->bits);
  StarPrefixIndex index(outputs.add("/SAindex"), depth, sizes->bits + 3, sizes->genome_rows,
                        sizes->inserted_rows);
  StarRowWriter writer(*text, depth, sa, index);
  write_star_rows(less_memory(context, text->size()), *text, rows, writer);
  sa.finish();
  index.finish();
}

}  // namespace sortie::genomes
