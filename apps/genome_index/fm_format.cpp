// SPDX-License-Identifier: Apache-2.0

// The indexes of bowtie2, of the bases of all records and of the reverse of these, and of HISAT2, of
// the bases and of windows of them. What both have of the bases is computed once. Layouts:
// docs/genomes.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "apps/genome_index/base_text.hpp"
#include "apps/genome_index/fm_rows.hpp"
#include "apps/genome_index/formats.hpp"
#include "apps/genome_index/local_indexes.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

/// From which size of a FASTA on the tools write numbers of 64 bits.
constexpr std::uint64_t large_fasta = (std::uint64_t{4} << 30) - 200;

/// Numbers of files .1 behind the sides: the tables of prefixes.
constexpr std::uint64_t prefix_numbers =
    (std::uint64_t{1} << 2 * fm_prefix_letters) + 1 + 2 * fm_prefix_letters;

/// Major, minor, patch. \throws Error (usage)
std::array<std::uint8_t, 3> parse_version(const std::string& text) {
  std::array<std::uint8_t, 3> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [after, error] = std::from_chars(at, end, numbers[i]);
    const bool is_last = i + 1 == numbers.size();
    if (error != std::errc() || (is_last ? after != end : after == end || *after != '.'))
      throw Error(ErrorKind::usage, fmt::format("index: found version {} of hisat2, expected three "
                                                "numbers such as 2.2.1",
                                                sortie::quoted(text)));
    at = after + 1;
  }
  return numbers;
}

/// One of the two formats for a text.
class FmFormat {
 public:
  FmFormat(bool is_hisat, const IndexRequest& request, const BaseText& text)
      : is_hisat_(is_hisat),
        is_large_(request.options.large || request.genome.bytes() > large_fasta),
        version_(parse_version(request.options.hisat2_version)),
        text_(text) {
    for (const BaseRecord& record : text.records())
      if (!is_hisat || record.bases != 0) records_.push_back(&record);
  }

  [[nodiscard]] bool is_hisat() const { return is_hisat_; }
  [[nodiscard]] SideLayout layout() const {
    return is_large_ ? SideLayout{.bytes = 128, .word = 8} : SideLayout{.bytes = 64, .word = 4};
  }
  [[nodiscard]] std::uint64_t word() const { return layout().word; }
  [[nodiscard]] std::uint64_t sides() const {
    return layout().sides((text_.size() + (is_hisat_ ? 1 : 0)) / 4 + 1);
  }
  [[nodiscard]] std::uint64_t sample_bytes() const {
    return (text_.size() / fm_sample_step + 1) * word();
  }
  [[nodiscard]] std::string suffix(std::string_view name) const {
    return fmt::format(".{}.{}{}", name, is_hisat_ ? "ht2" : "bt2", is_large_ ? "l" : "");
  }

  /// File .1 up to the sides.
  [[nodiscard]] std::string head(bool reversed) const {
    WordBytes head(word());
    const std::uint64_t n = text_.size();
    head.add_int(1);
    if (is_hisat_) {
      for (const std::uint8_t byte : {std::uint8_t{0}, version_[2], version_[1], version_[0]})
        head.add_byte(byte);
      head.add({n, n + 1, n + 1});
    } else {
      head.add(n);
    }
    for (const std::int32_t number : {is_large_ ? 7 : 6, 2, 4, int{fm_prefix_letters}})
      head.add_int(number);
    if (is_hisat_) head.add(2 * fm_prefix_letters);
    head.add_int(reversed ? -5 : -1);
    head.add(records_.size());
    for (const BaseRecord* record : records_) head.add(record->length);
    std::vector<std::array<std::uint64_t, 3>> fragments = fragments_of(reversed);
    head.add(fragments.size());
    for (const auto& fragment : fragments)
      for (const std::uint64_t number : fragment) head.add(number);
    return std::move(head.bytes());
  }

  /// File .1 behind the sides.
  [[nodiscard]] std::string tail(const FmRows& rows, std::span<const std::uint64_t> prefixes,
                                 const SideCounts& letters) const {
    WordBytes tail(word());
    if (is_hisat_) tail.add(1);
    tail.add({rows.first_suffix, 0});
    std::uint64_t sum = 0;
    for (const std::uint64_t count : letters) tail.add(sum += count);
    add_prefix_tables(prefixes, rows.short_rows, fm_prefix_letters, word(), tail.bytes());
    return std::move(tail.bytes()) + names();
  }
  [[nodiscard]] std::uint64_t tail_bytes() const {
    return ((is_hisat_ ? 1 : 0) + 6 + prefix_numbers) * word() + names().size();
  }

  /// File .3.
  [[nodiscard]] std::string pieces() const {
    WordBytes pieces(word());
    pieces.add_int(1);
    std::uint64_t count = 0;
    for (const BaseRecord* record : records_) count += record->runs;
    pieces.add(count);
    for (const BaseRecord* record : records_) {
      std::uint8_t is_first = 1;
      for (const BaseRun& run : text_.runs_of(*record)) {
        pieces.add({run.gaps, run.bases});
        pieces.add_byte(is_first);
        is_first = 0;
      }
    }
    return std::move(pieces.bytes());
  }

  /// Files .7 and .8 of HISAT2, without a graph.
  [[nodiscard]] std::string constants(std::uint64_t numbers) const {
    WordBytes constants(word());
    constants.add_int(1);
    for (std::uint64_t i = 0; i < numbers; ++i) constants.add(0);
    return std::move(constants.bytes());
  }

 private:
  /// Where fragments of bases begin: in the text, their record, where in it.
  [[nodiscard]] std::vector<std::array<std::uint64_t, 3>> fragments_of(bool reversed) const {
    std::vector<std::array<std::uint64_t, 3>> fragments;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      std::uint64_t base = records_[i]->first_base;
      std::uint64_t offset = 0;
      for (const BaseRun& run : text_.runs_of(*records_[i])) {
        offset += run.gaps;
        base += run.bases;
        if (run.bases != 0)
          fragments.push_back({reversed ? text_.size() - base : base - run.bases, i, offset});
        offset += run.bases;
      }
    }
    if (reversed) std::ranges::reverse(fragments);
    return fragments;
  }

  /// The headers, and 0.
  [[nodiscard]] std::string names() const {
    std::string names;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const std::string_view name = records_[i]->name;
      names += name.empty() ? std::to_string(i) : std::string(name);
      names += '\n';
    }
    return names + '\0';
  }

  bool is_hisat_;
  bool is_large_;
  std::array<std::uint8_t, 3> version_;
  const BaseText& text_;
  std::vector<const BaseRecord*> records_;
};

/// The text as codes, and what the files have of these alone.
struct FmText {
  std::uint64_t size;
  HostArray<std::uint8_t> codes;
  std::vector<std::uint8_t> packed;  ///< file .4
  std::vector<std::uint64_t> prefixes;
  SideCounts letters{};

  FmText(const BaseText& text, bool discards_genome)
      : size(text.size()), codes(allocate_array<std::uint8_t>(size)), packed((size + 3) / 4) {
    text.write_codes(codes.get(), discards_genome);
    for_each_index(0, size / 4, [bases = codes.get(), to = packed.data()](std::uint64_t i) {
      to[i] = static_cast<std::uint8_t>(bases[4 * i] | bases[4 * i + 1] << 2 |
                                        bases[4 * i + 2] << 4 | bases[4 * i + 3] << 6);
    });
    for (std::uint64_t i = size / 4 * 4; i < size; ++i)
      packed.back() |= static_cast<std::uint8_t>(codes[i] << 2 * (i % 4));
    prefixes = count_prefixes(all());
    // By the first letters of prefixes, and the suffixes that are shorter.
    for (std::uint64_t i = 0; i < prefixes.size(); ++i)
      letters[i >> 2 * (fm_prefix_letters - 1)] += prefixes[i];
    const std::uint64_t shorter = std::min<std::uint64_t>(size, fm_prefix_letters - 1);
    for (const std::uint8_t code : all().last(shorter)) ++letters[code];
  }

  [[nodiscard]] std::span<const std::uint8_t> all() const { return {codes.get(), size}; }
  void complement() {
    for_each_index(0, size, [bases = codes.get()](std::uint64_t i) {
      bases[i] = static_cast<std::uint8_t>(3 - bases[i]);
    });
  }
  void reverse() {
    for_each_index(0, size / 2, [bases = codes.get(), last = size - 1](std::uint64_t i) {
      std::swap(bases[i], bases[last - i]);
    });
  }
};

/// Bytes of memory that are held beside the codes while rows come: the packed text, the counts of
/// prefixes, a block of rows.
[[nodiscard]] std::uint64_t memory_beside_codes(std::uint64_t size) {
  return size / 4 + prefix_numbers * sizeof(std::uint64_t) + std::min(2 * size, fm_block_memory);
}

/// Formats that are wanted, bowtie2 first.
std::vector<FmFormat> formats_of(const IndexRequest& request, const BaseText& text) {
  std::vector<FmFormat> formats;
  if (request.wants("bowtie2")) formats.emplace_back(false, request, text);
  if (request.wants("hisat2")) formats.emplace_back(true, request, text);
  return formats;
}

/// Writes files .1 and .2 of formats for one direction of the text. Their sides and samples are the
/// same.
void write_direction(const Context& context, std::span<const FmFormat> formats, bool reversed,
                     const FmText& text, IndexOutputs& outputs) {
  std::vector<FmTarget> targets;
  for (const FmFormat& format : formats) {
    FmTarget target;
    target.sides_file =
        reversed ? &outputs.add(format.suffix("rev.1")) : &outputs.add_required(format.suffix("1"));
    target.sides_file->write(format.head(reversed));
    target.sides = format.sides();
    target.sides_offset = target.sides_file->reserve(target.sides * format.layout().bytes);
    target.samples_file = &outputs.add(format.suffix(reversed ? "rev.2" : "2"));
    target.samples_file->write_number(std::int32_t{1});
    target.samples_offset = target.samples_file->reserve(format.sample_bytes());
    targets.push_back(target);
  }
  const FmRows rows = write_fm_rows(context, text.all(), text.packed.data(), reversed,
                                    formats.front().layout(), targets);
  const std::vector<std::uint64_t> prefixes =
      reversed ? reversed_prefixes(text.prefixes) : text.prefixes;
  for (std::size_t i = 0; i < formats.size(); ++i)
    targets[i].sides_file->write(formats[i].tail(rows, prefixes, text.letters));
}

}  // namespace

void plan_fm_indexes(const Context& context, const IndexRequest& request, GenomeIndexPlan& plan) {
  const BaseText text(request.genome);
  const std::uint64_t n = text.size();
  for (const FmFormat& format : formats_of(request, text)) {
    const auto add = [&](std::string_view name, std::uint64_t bytes) {
      plan.files.push_back({request.options.prefix + format.suffix(name), bytes});
    };
    const auto add_direction = [&](const std::string& before, bool reversed) {
      add(before + "1", format.head(reversed).size() + format.sides() * format.layout().bytes +
                            format.tail_bytes());
      add(before + "2", sizeof(std::int32_t) + format.sample_bytes());
    };
    add_direction("", false);
    add("3", format.pieces().size());
    add("4", (n + 3) / 4);
    if (format.is_hisat()) {
      const std::vector<LocalWindow> windows = local_windows(text);
      add("5", local_index_bytes(windows, format.word()));
      add("6", local_sample_bytes(windows));
      add("7", format.constants(2).size());
      add("8", format.constants(1).size());
    } else {
      add_direction("rev.", true);
    }
  }
  plan.letters = std::max(plan.letters, n);
  // The codes then take the place of the genome, piece by piece.
  const std::uint64_t codes = n - (request.is_last ? std::min(n, request.genome.bytes()) : 0);
  plan.memory = std::max(plan.memory, codes + memory_beside_codes(n) + memory_of_rows(context, n));
  if (text.foreign() != 0)
    plan.warnings.push_back(
        fmt::format("bowtie2 and hisat2 leave out {} bytes that are no letters of DNA (U, *, ...): "
                    "the coordinates of alignments behind them will be too small",
                    text.foreign()));
}

void write_fm_indexes(const Context& context, const IndexRequest& request, IndexOutputs& outputs) {
  const BaseText bases(request.genome);
  const std::vector<FmFormat> formats = formats_of(request, bases);
  PhaseTimer timer(context, "bases");
  FmText text(bases, request.is_last);
  for (const FmFormat& format : formats) {
    outputs.add(format.suffix("3")).write(format.pieces());
    outputs.add(format.suffix("4"))
        .write({reinterpret_cast<const char*>(text.packed.data()), text.packed.size()});
  }
  timer.stop();
  if (const FmFormat& hisat = formats.back(); hisat.is_hisat()) {
    const PhaseTimer windows_timer(context, "windows");
    const std::vector<LocalWindow> windows = local_windows(bases);
    write_local_indexes(windows, text.codes.get(), hisat.word(), outputs.add(hisat.suffix("5")),
                        outputs.add(hisat.suffix("6")));
    outputs.add(hisat.suffix("7")).write(hisat.constants(2));
    outputs.add(hisat.suffix("8")).write(hisat.constants(1));
  }
  const Context rows_context =
      less_memory(without_genome(context, request), text.size + memory_beside_codes(text.size));
  text.complement();
  {
    const PhaseTimer forward_timer(context, "forward");
    write_direction(rows_context, formats, false, text, outputs);
  }
  if (const FmFormat& bowtie = formats.front(); !bowtie.is_hisat()) {
    const PhaseTimer reverse_timer(context, "reverse");
    text.reverse();
    write_direction(rows_context, {&bowtie, 1}, true, text, outputs);
  }
}

}  // namespace sortie::genomes
