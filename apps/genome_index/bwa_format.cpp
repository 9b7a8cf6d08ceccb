// SPDX-License-Identifier: Apache-2.0

// The indexes of bwa and of bwa-mem2: of the letters of all records, joined, and their reverse
// complement, 2L letters in all. Row 0 of the suffix array is the end of this text, row i entry
// i - 1 of ours. Layouts: docs/genomes.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/genome_index/base_codes.hpp"
#include "apps/genome_index/batch_writer.hpp"
#include "apps/genome_index/bwa_letters.hpp"
#include "apps/genome_index/formats.hpp"
#include "core/background_task.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::genomes {
namespace {

/// Blocks of a format's occurrence table: counts of the letters before, then the letters. Both have
/// 64 bytes.
struct BwaBlocks {
  static constexpr std::uint64_t letters = 128;

  /// Words of 16 letters, the first in the highest bits.
  static void encode(const std::uint8_t* codes, std::uint64_t n, char* to) {
    std::array<std::uint8_t, 16> last{};
    for (std::uint64_t i = 0; i < n; i += 16, to += sizeof(std::uint32_t)) {
      const std::uint8_t* sixteen = codes + i;
      if (n - i < 16) {
        std::copy_n(sixteen, n % 16, last.begin());
        sixteen = last.data();
      }
      const std::uint32_t word = std::uint32_t{pack_eight(sixteen)} << 16 | pack_eight(sixteen + 8);
      std::memcpy(to, &word, sizeof word);
    }
  }
  /// Bytes of the last block.
  static constexpr std::uint64_t bytes(std::uint64_t n) {
    return sizeof(LetterCounts) + (n + 15) / 16 * sizeof(std::uint32_t);
  }
};

struct Bwa2Blocks {
  static constexpr std::uint64_t letters = 64;

  /// For each letter a bitmap of where it is, the first place in the highest bit.
  static void encode(const std::uint8_t* codes, std::uint64_t n, char* to) {
    std::array<std::uint8_t, letters> padded;
    if (n < letters) {
      std::fill(std::copy_n(codes, n, padded.begin()), padded.end(), end_code);
      codes = padded.data();
    }
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; i < letters; i += 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, codes + i, sizeof eight);
      low = low << 8 | lowest_bits(eight);
      high = high << 8 | lowest_bits(eight >> 1);
      end = end << 8 | lowest_bits(eight >> 2);
    }
    const std::array<std::uint64_t, 4> maps = {~(low | high | end), low & ~high, high & ~low,
                                               low & high};
    std::memcpy(to, maps.data(), sizeof maps);
  }
  static constexpr std::uint64_t bytes(std::uint64_t) { return 64; }

 private:
  /// The lowest bits of eight bytes, that of the first byte as the highest of eight.
  static std::uint64_t lowest_bits(std::uint64_t eight) {
    return (eight & 0x0101010101010101) * 0x8040201008040201 >> 56;
  }
};

/// Tasks that are not those of an occurrence table.
struct OtherTasks {
  std::uint64_t count = 0;
  std::function<void(std::uint64_t task)> work;
};

/// Encodes an occurrence table from letters that arrive in order.
template <class Blocks>
class OccurrenceTable {
 public:
  static constexpr std::uint64_t block_bytes = 64;

  /// Bytes of the whole table.
  [[nodiscard]] static constexpr std::uint64_t bytes(std::uint64_t letters) {
    const std::uint64_t rest = letters % Blocks::letters;
    return letters / Blocks::letters * block_bytes + (rest == 0 ? 0 : Blocks::bytes(rest));
  }

  /// Bytes that append() writes for so many further letters.
  [[nodiscard]] std::uint64_t bytes_to_append(std::uint64_t letters) const {
    return (waiting_.size() + letters) / Blocks::letters * block_bytes;
  }
  /// Writes all blocks that are whole now, bytes_to_append() in all. Other tasks run on the same
  /// threads. \return the end of these blocks
  char* append(std::span<const std::uint8_t> codes, char* to, const OtherTasks& others = {}) {
    if (!waiting_.empty()) {
      const std::size_t taken = std::min(Blocks::letters - waiting_.size(), codes.size());
      waiting_.insert(waiting_.end(), codes.begin(), codes.begin() + taken);
      codes = codes.subspan(taken);
      if (waiting_.size() == Blocks::letters) {
        to = write_blocks(waiting_.data(), 1, to, {});
        waiting_.clear();
      }
    }
    const std::uint64_t blocks = codes.size() / Blocks::letters;
    to = write_blocks(codes.data(), blocks, to, others);
    codes = codes.subspan(blocks * Blocks::letters);
    waiting_.insert(waiting_.end(), codes.begin(), codes.end());
    return to;
  }
  /// The last block, if it is not whole: else no bytes.
  [[nodiscard]] std::vector<char> last_block() {
    if (waiting_.empty()) return {};
    std::vector<char> block(block_bytes);
    write_block(waiting_.data(), waiting_.size(), before_, block.data());
    block.resize(Blocks::bytes(waiting_.size()));
    waiting_.clear();
    return block;
  }
  /// Counts of the letters in all blocks so far.
  [[nodiscard]] const LetterCounts& counts() const { return before_; }

 private:
  static constexpr std::uint64_t task_blocks = 2048;  ///< 128 KiB of the file

  /// Writes a block, and adds its letters to the counts before it.
  static void write_block(const std::uint8_t* codes, std::uint64_t n, LetterCounts& before,
                          char* to) {
    std::memcpy(to, before.data(), sizeof before);
    Blocks::encode(codes, n, to + sizeof before);
    count_codes(codes, n, before);
  }
  /// One loop for all tasks: to wake threads that sleep takes as long as a few hundred blocks. A task
  /// counts its letters and waits for the counts of the task before, which has begun: tasks begin in
  /// order.
  char* write_blocks(const std::uint8_t* letters, std::uint64_t blocks, char* to,
                     const OtherTasks& others) {
    const std::uint64_t tasks = (blocks + task_blocks - 1) / task_blocks;
    std::atomic<std::uint64_t> next = 0;
    std::atomic<std::uint64_t> counted = 0;  // tasks whose letters are in before_
    for_each_task(tasks + others.count, [&](std::uint64_t) {
      const std::uint64_t task = next++;
      if (task >= tasks) return others.work(task - tasks);
      const std::uint8_t* codes = letters + task * task_blocks * Blocks::letters;
      const std::uint64_t of_task = std::min(task_blocks, blocks - task * task_blocks);
      LetterCounts own{};
      count_codes(codes, of_task * Blocks::letters, own);
      while (counted.load(std::memory_order_acquire) != task) std::this_thread::yield();
      LetterCounts before = before_;
      for (std::size_t i = 0; i < own.size(); ++i) before_[i] += own[i];
      counted.store(task + 1, std::memory_order_release);
      char* block = to + task * task_blocks * block_bytes;
      for (std::uint64_t i = 0; i < of_task; ++i, block += block_bytes) {
        write_block(codes, Blocks::letters, before, block);
        codes += Blocks::letters;
      }
    });
    return to + blocks * block_bytes;
  }

  LetterCounts before_{};
  std::vector<std::uint8_t> waiting_;  ///< letters of a block that is not whole
};

/// The text of 2L letters, and sums of the numbers of smaller letters in it.
struct BothStrands {
  HostArray<std::uint8_t> codes;  ///< all letters; of the forward strand only, if is_mirrored
  std::uint64_t size = 0;         ///< of both strands
  bool is_mirrored = false;
  std::array<std::uint64_t, 5> smaller{};

  /// \param mirrors  the reverse strand is left out
  BothStrands(const HostContext& context, const BwaLetters& letters, bool mirrors,
              bool discards_genome)
      : codes(allocate_array<std::uint8_t>(
            context, mirrors ? "index: the text" : "index: the text of both strands",
            mirrors ? letters.size() : 2 * letters.size())),
        size(2 * letters.size()),
        is_mirrored(mirrors) {
    const LetterCounts counts = letters.write_codes(codes.get(), !mirrors, discards_genome);
    for (std::size_t code = 0; code < 4; ++code)
      smaller[code + 1] = smaller[code] + counts[code] + counts[3 - code];
  }

  /// The symbols that are in memory.
  [[nodiscard]] std::span<const std::uint8_t> symbols() const {
    return {codes.get(), is_mirrored ? size / 2 : size};
  }
  /// The last letter of both strands.
  [[nodiscard]] std::uint8_t last() const { return static_cast<std::uint8_t>(3 - codes[0]); }
};

/// Receives consecutive rows of the suffix array, and their letters of the transform.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  /// \param letters  end_code for the row of the suffix at 0
  /// \param end      index of this row in `letters`; letters.size(), or more, if it is not there
  virtual void append(std::uint64_t first_row, std::span<const std::uint64_t> eighth_rows,
                      std::span<const std::uint8_t> letters, std::uint64_t end) = 0;
  /// \param end_row  row of the suffix at 0
  virtual void finish(std::uint64_t end_row) = 0;
};

/// Tasks that encode samples. \param write  write(begin, end); lives as long
template <class Write>
OtherTasks sample_tasks(std::uint64_t samples, const Write& write) {
  constexpr std::uint64_t task_samples = std::uint64_t{1} << 17;
  return {(samples + task_samples - 1) / task_samples, [samples, &write](std::uint64_t task) {
            write(task * task_samples, std::min(samples, (task + 1) * task_samples));
          }};
}

/// Number of multiples of `step` below `end`.
[[nodiscard]] constexpr std::uint64_t multiples_below(std::uint64_t end, std::uint64_t step) {
  return (end + step - 1) / step;
}

/// Writes the last block of a table, which is the first of so many streams, and ends these.
template <class Table>
void append_last_block(Table& table, BatchWriter& writer, std::size_t streams) {
  const std::vector<char> last = table.last_block();
  std::vector<std::uint64_t> bytes(streams);
  bytes[0] = last.size();
  std::ranges::copy(last, writer.start(bytes)[0]);
  writer.write();
  writer.finish();
}

/// Files `.bwt` and `.sa` of bwa.
class BwaRows : public RowWriter {
 public:
  BwaRows(const HostContext& context, const BothStrands& text, IndexOutputs& outputs)
      : bwt_(outputs.add_required(".bwt")),
        sa_(outputs.add(".sa")),
        writer_(BatchWriter::usual_least_direct, context) {
    const std::uint64_t head = sizeof(std::uint64_t);
    (void)bwt_.reserve(head);
    (void)sa_.reserve(head);
    const std::span<const std::uint64_t> sums = std::span(text.smaller).subspan(1);
    bwt_.write_numbers(sums);
    sa_.write_numbers(sums);
    sa_.write_number(step);
    sa_.write_number(text.size);
    const std::uint64_t samples =
        sa_.reserve((multiples_below(text.size + 1, step) - 1) * sizeof(std::uint64_t));
    writer_.add(bwt_, bwt_.reserve(OccurrenceTable<BwaBlocks>::bytes(text.size)));
    writer_.add(sa_, samples);
  }

  void append(std::uint64_t first_row, std::span<const std::uint64_t> eighth_rows,
              std::span<const std::uint8_t> letters, std::uint64_t end) override {
    const bool has_end = end < letters.size();
    const std::uint64_t table_bytes = table_.bytes_to_append(letters.size() - (has_end ? 1 : 0));
    // Every fourth of the eighth rows, without row 0.
    const std::uint64_t first = multiples_below(std::max<std::uint64_t>(first_row, 1), step);
    const std::uint64_t end_sample = multiples_below(first_row + letters.size(), step);
    const std::uint64_t eighth = multiples_below(first_row, 8);
    const std::uint64_t samples = end_sample - std::min(first, end_sample);

    const std::vector<char*> to = writer_.start({table_bytes, samples * sizeof(std::uint64_t)});
    const auto write_samples = [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        std::memcpy(to[1] + i * sizeof(std::uint64_t),
                    &eighth_rows[(first + i) * (step / 8) - eighth], sizeof(std::uint64_t));
    };
    char* const behind = table_.append(letters.first(has_end ? end : letters.size()), to[0],
                                       sample_tasks(samples, write_samples));
    if (has_end) table_.append(letters.subspan(end + 1), behind);
    writer_.write();
  }

  void finish(std::uint64_t end_row) override {
    append_last_block(table_, writer_, 2);
    bwt_.write_numbers(std::span<const std::uint64_t>(table_.counts()));
    const std::span<const char> head(reinterpret_cast<const char*>(&end_row), sizeof end_row);
    bwt_.write_at(0, head);
    sa_.write_at(0, head);
  }

 private:
  static constexpr std::uint64_t step = 32;

  IndexFile& bwt_;
  IndexFile& sa_;
  OccurrenceTable<BwaBlocks> table_;
  BatchWriter writer_;
};

/// Files `.bwt.2bit.64` and `.0123` of bwa-mem2.
class Bwa2Rows : public RowWriter {
 public:
  Bwa2Rows(const HostContext& context, const BothStrands& text, IndexOutputs& outputs)
      : file_(outputs.add_required(".bwt.2bit.64")),
        writer_(BatchWriter::usual_least_direct, context) {
    const std::uint64_t rows = text.size + 1;
    file_.write_number(rows);
    file_.write_numbers(std::span<const std::uint64_t>(text.smaller));
    // The number of rows is odd, so that a last block and a last sample are always there.
    const std::uint64_t table = file_.reserve(OccurrenceTable<Bwa2Blocks>::bytes(rows));
    const std::uint64_t samples = rows / step + 1;
    const std::uint64_t high = file_.reserve(samples);
    const std::uint64_t low = file_.reserve(samples * sizeof(std::uint32_t));
    for (const std::uint64_t offset : {table, high, low}) writer_.add(file_, offset);
  }

  void append(std::uint64_t, std::span<const std::uint64_t> eighth_rows,
              std::span<const std::uint8_t> letters, std::uint64_t) override {
    const std::uint64_t table_bytes = table_.bytes_to_append(letters.size());
    const std::uint64_t samples = eighth_rows.size();
    const std::vector<char*> to =
        writer_.start({table_bytes, samples, samples * sizeof(std::uint32_t)});
    const auto write_samples = [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        to[1][i] = static_cast<char>(eighth_rows[i] >> 32);
        const auto word = static_cast<std::uint32_t>(eighth_rows[i]);
        std::memcpy(to[2] + i * sizeof word, &word, sizeof word);
      }
    };
    table_.append(letters, to[0], sample_tasks(samples, write_samples));
    writer_.write();
  }

  void finish(std::uint64_t end_row) override {
    append_last_block(table_, writer_, 3);
    file_.write_number(end_row);
  }

 private:
  static constexpr std::uint64_t step = 8;

  IndexFile& file_;
  OccurrenceTable<Bwa2Blocks> table_;
  BatchWriter writer_;
};

/// File `.pac`: the forward strand, 4 letters a byte, the first in the highest bits.
void write_pac(const BothStrands& text, IndexFile& file) {
  const std::uint64_t letters = text.size / 2;
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::vector<char> packed;
  for (std::uint64_t begin = 0; begin < letters; begin += piece) {
    const std::uint64_t n = std::min(piece, letters - begin);
    const std::uint8_t* const codes = &text.codes[begin];
    packed.assign((n + 3) / 4, 0);
    std::uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      const std::uint16_t eight = pack_eight(codes + i);
      packed[i / 4] = static_cast<char>(eight >> 8);
      packed[i / 4 + 1] = static_cast<char>(eight);
    }
    for (; i < n; ++i)
      packed[i / 4] = static_cast<char>(packed[i / 4] | codes[i] << (6 - 2 * (i % 4)));
    file.write(packed);
  }
  if (letters % 4 == 0) file.write_number(std::uint8_t{0});
  file.write_number(static_cast<std::uint8_t>(letters % 4));
}

/// File `.0123` of bwa-mem2: the text, a byte a letter.
void write_letters(const BothStrands& text, IndexFile& file) {
  constexpr std::uint64_t piece = std::uint64_t{8} << 20;
  const std::span<const std::uint8_t> symbols = text.symbols();
  BatchWriter writer;
  writer.add(file, file.reserve(text.size));
  for (std::uint64_t begin = 0; begin < text.size; begin += piece) {
    const std::uint64_t end = std::min(begin + piece, text.size);
    char* const to = writer.start({end - begin})[0];
    const std::uint64_t copied = std::clamp<std::uint64_t>(symbols.size(), begin, end) - begin;
    std::copy_n(symbols.data() + begin, copied, to);
    // The reverse strand, if it is not there.
    write_reverse_complement(symbols.data() + (text.size - end), end - begin - copied,
                             reinterpret_cast<std::uint8_t*>(to) + copied);
    writer.write();
  }
  writer.finish();
}

/// Passes all rows to the writers. Row 0 is the end of the text, so entry i is row i + 1.
void write_rows(const Context& context, const BothStrands& text,
                std::span<const std::unique_ptr<RowWriter>> writers) {
  const bool from_device = streams_from_device(context);
  const std::uint8_t last = text.last();
  for (const auto& writer : writers) writer->append(0, {&text.size, 1}, {&last, 1}, 1);
  std::uint64_t end_row = 0;
  // Threads that sleep when they wait. Those of the host runtime spin, while other threads write files
  // and wait for the GPU: all together are more than the cores.
  std::optional<OwnThreads> threads;
  for_each_row_block(
      context, {text.symbols()},
      {.sample_step = 8, .sample_phase = 7, .first_letter = end_code, .mirrored = text.is_mirrored},
      [&](const suffix_array::RowBlock& block) {
        if (from_device && !threads) threads.emplace(threads_of(context));
        end_row = block.marks[0] + 1;
        for (const auto& writer : writers)
          writer->append(block.first + 1, block.samples, block.letters,
                         block.marks[0] - block.first);
      });
  for (const auto& writer : writers) writer->finish(end_row);
}

}  // namespace

void plan_bwa_indexes(const Context& context, const IndexRequest& request, GenomeIndexPlan& plan) {
  request.bwa_letters = std::make_shared<const BwaLetters>(request.genome);
  const BwaLetters& letters = *request.bwa_letters;
  const std::uint64_t n = 2 * letters.size();
  const auto add = [&](std::string_view suffix, std::uint64_t bytes) {
    plan.files.push_back({request.options.prefix + std::string(suffix), bytes});
  };
  add(".amb", letters.amb().size());
  add(".ann", letters.ann().size());
  add(".pac", letters.size() / 4 + 2);
  if (request.wants("bwa")) {
    add(".bwt", 72 + (n + 127) / 128 * 32 + (n + 15) / 16 * 4);
    add(".sa", 56 + n / 32 * 8);
  }
  if (request.wants("bwa-mem2")) {
    add(".0123", n);
    add(".bwt.2bit.64", 56 + (n / 64 + 1) * 64 + (n / 8 + 1) * 5);
  }
  plan.letters = std::max(plan.letters, letters.size());
  std::uint64_t in_memory = streams_from_device(context) ? letters.size() : n;
  // The text then takes the place of the genome, piece by piece.
  if (request.is_last) in_memory -= std::min(in_memory, request.genome.bytes());
  plan.memory = std::max(plan.memory, in_memory + memory_of_rows(context, n));
  if (letters.foreign() != 0)
    plan.warnings.push_back(fmt::format(
        "bwa replaces {} bytes that are not letters of DNA (U, -, *, white space, ...) by "
        "pseudo-random letters, as it does N",
        letters.foreign()));
}

void write_bwa_indexes(const Context& context, const IndexRequest& request, IndexOutputs& outputs) {
  const PhaseTimer timer(context, "bwa");
  PhaseTimer preparing(context, "letters");
  const BwaLetters& letters = *request.bwa_letters;
  outputs.add(".amb").write_text(letters.amb());
  outputs.add(".ann").write_text(letters.ann());
  // A GPU makes the reverse strand itself, and passes on the letters of its rows.
  const BothStrands text(on_host(context), letters, streams_from_device(context), request.is_last);
  preparing.stop();
  IndexFile& pac = outputs.add(".pac");
  std::vector<std::unique_ptr<RowWriter>> writers;
  if (request.wants("bwa")) writers.push_back(std::make_unique<BwaRows>(context, text, outputs));
  IndexFile* const bytes = request.wants("bwa-mem2") ? &outputs.add(".0123") : nullptr;
  if (bytes != nullptr) writers.push_back(std::make_unique<Bwa2Rows>(context, text, outputs));
  // Beside the suffix array. The kernel admits one writer to a file at a time: a thread of each file
  // suffices.
  BackgroundTask writing_pac([&] { write_pac(text, pac); });
  BackgroundTask writing_bytes([&] {
    if (bytes != nullptr) write_letters(text, *bytes);
  });
  PhaseTimer sorting(context, "suffixes");
  write_rows(less_memory(without_genome(context, request), text.symbols().size()), text, writers);
  sorting.stop();
  const PhaseTimer waiting(context, "other files");
  writing_pac.wait();
  writing_bytes.wait();
}

}  // namespace sortie::genomes
