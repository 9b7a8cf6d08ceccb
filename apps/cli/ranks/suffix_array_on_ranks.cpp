// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/suffix_array_command.hpp"
#include "apps/suffix_array/ranks/array_file.hpp"
#include "apps/suffix_array/ranks/build.hpp"
#include "core/files/checksum.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/cluster_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

using suffix_array::on_ranks::ArrayFile;
using suffix_array::on_ranks::RankText;

/// Refuses what ranks do not have, before anything is read.
void require_rank_options(const SuffixArrayCommand& command) {
  const auto refuse = [](std::string_view found, std::string_view expected) {
    throw Error(ErrorKind::usage,
                fmt::format("suffix-array on ranks: found {}, expected {}", found, expected));
  };
  if (command.dry_run) refuse("--dry-run", "it without mpirun");
  if (!command.inverse.empty()) refuse("--inverse", "only -o, --lcp and --bwt");
  if (!command.documents.empty()) refuse("--documents", "only -o, --lcp and --bwt");
  if (command.text) refuse("--text", "an array of binary numbers");
  if (command.max_context != 0) refuse("--max-context", "the order of all letters");
  if (command.algorithm != "auto") refuse("--algorithm " + command.algorithm, "auto");
  if (command.format != "positions") refuse("--format " + command.format, "positions");
  if (command.policy().is_text()) refuse("--input " + command.input_format, "fasta");
  if (command.gpus > 0) refuse("--gpus", "one device for each rank");
  for (const std::string* path : command.outputs()) {
    if (!path->empty() && is_stream(*path))
      refuse("a stream for an array", "a file that several ranks can write");
  }
}

/// What the ranks know of the text that rank 0 has read.
struct TextFacts {
  std::uint64_t symbols = 0;
  std::uint64_t letters = 0;
};

/// The text of rank 0; empty on the others.
struct ReadText {
  IndexedText indexed;             ///< without symbols where they are packed
  sequences::SymbolBlocks blocks;  ///< for the host: devices take the symbols as they are
  bool is_packed = false;
  std::string checksum;

  void read(Job& job, const SuffixArrayCommand& command) {
    const HostContext context = job.reading_context();
    indexed =
        read_indexed_text(context, command.inputs, command.policy(), is_packed ? &blocks : nullptr);
    if (command.any_output().empty()) return;
    checksum = is_packed ? blocks.checksum(threads_of(context))
                         : checksum_of(threads_of(context), indexed.text.symbols);
  }
  [[nodiscard]] RankText view(bool is_last_use) {
    return is_packed ? RankText(blocks, indexed.separators, is_last_use) : RankText(indexed.view());
  }
};

template <class Pos>
class RankIndexing {
 public:
  RankIndexing(cluster::Ranks& ranks, Job& job, const SuffixArrayCommand& command, ReadText& text,
               const TextFacts& facts)
      : ranks_(ranks),
        job_(job),
        command_(command),
        text_(text),
        indexed_(text.indexed),
        facts_(facts) {
    ranks.together("width", [&] { width_bytes_ = chosen_width_bytes(command, facts.symbols); });
  }

  void run() {
    const Context& context = job_.context();
    int repetitions = command_.common.repeat;
    const auto release = [&] {
      if (repetitions == 0) text_.indexed.release();
    };
    const cluster::SuffixArrayOptions options{!command_.lcp.empty(), !command_.bwt.empty(),
                                              command_.verify, release};
    const double seconds = job_.repeated("build", [&] {
      share_ = {};
      share_ = suffix_array::on_ranks::build<Pos>(ranks_, context, text_.view(--repetitions == 0),
                                                  options);
    });
    report(seconds);
    write_all();
    job_.summarize(command_.any_output(), summary_);
  }

 private:
  void report(double seconds) {
    const double rate = seconds > 0 ? 1e-6 * static_cast<double>(facts_.symbols) / seconds : 0;
    RunReport& report = job_.report();
    report.set("algorithm", command_.algorithm);
    report.set("symbols", facts_.symbols);
    report.set("letters", facts_.letters);
    report.set("records", std::uint64_t{indexed_.text.records.size()});
    report.set("alphabet", std::string(sequences::name(indexed_.alphabet)));
    report.set("build_seconds", seconds);
    report.set("megabytes_per_second", rate);
    report.set("width_bits", std::int64_t{8} * width_bytes_);
    report.set("verified", command_.verify);
    const std::size_t records = indexed_.text.records.size();
    summary_ = fmt::format(
        "{} {}, {} letters ({}), read by rank 0\nsuffix array of {} positions in {:.3f} ms on {} "
        "ranks of {} ({}, {}): {:.1f} MB/s",
        records, records == 1 ? "record" : "records", facts_.letters,
        sequences::name(indexed_.alphabet), facts_.symbols, 1e3 * seconds, ranks_.size(),
        ranks_.transport(), name(job_.context().backend), command_.algorithm, rate);
    if (!command_.verify) return;
    summary_ += "\nverified: every suffix is in its place";
    if (!command_.lcp.empty()) summary_ += ", the LCP array is right";
    if (!command_.bwt.empty()) summary_ += ", the transform is right";
  }

  /// An array to be written: its file, and what describes it.
  struct Written {
    std::unique_ptr<ArrayFile> file;
    ArrayKind kind = ArrayKind::suffixes;
    int width_bytes = 1;
    std::optional<std::uint64_t> primary;
    std::string checksum;
  };

  /// Writes and closes all files before the first one gets its name.
  void write_all() {
    const PhaseTimer timer(job_.context(), "write");
    std::vector<Written> files;
    const HostContext context = job_.host_context();
    const auto write = [&](const std::string& path, ArrayKind kind, const auto& items,
                           int width_bytes, std::string_view checksum_key) {
      if (path.empty()) return;
      Written written{
          std::make_unique<ArrayFile>(ranks_, context, path), kind, width_bytes, {}, {}};
      if (kind == ArrayKind::burrows_wheeler) written.primary = primary();
      written.checksum = written.file->write(share_.begin, std::span(items), width_bytes);
      job_.report().set(checksum_key, written.checksum);
      files.push_back(std::move(written));
    };
    write(command_.output, ArrayKind::suffixes, std::as_const(share_.suffixes), width_bytes_,
          "checksum");
    write(command_.lcp, ArrayKind::lcp, std::as_const(share_.lcp), width_bytes_, "lcp_checksum");
    write(command_.bwt, ArrayKind::burrows_wheeler, std::as_const(share_.bwt), 1, "bwt_checksum");
    const SuffixArraySource source{command_.input(), command_.policy(), 0, &indexed_,
                                   text_.checksum};
    std::vector<ArrayFile*> prepared;
    for (const Written& written : files) {
      written.file->prepare([&] {
        return described_array(written.kind, facts_.symbols, written.width_bytes, source,
                               written.primary, written.checksum);
      });
      prepared.push_back(written.file.get());
    }
    suffix_array::on_ranks::commit_all(prepared);
  }

  /// The entry of the suffix at position 0.
  [[nodiscard]] std::uint64_t primary() {
    const auto found = std::ranges::find(share_.suffixes, Pos{0});
    const bool is_here = found != share_.suffixes.end();
    return ranks_.least(is_here ? share_.begin +
                                      static_cast<std::uint64_t>(found - share_.suffixes.begin())
                                : std::numeric_limits<std::uint64_t>::max());
  }

  cluster::Ranks& ranks_;
  Job& job_;
  const SuffixArrayCommand& command_;
  ReadText& text_;
  const IndexedText& indexed_;
  TextFacts facts_;
  int width_bytes_ = 8;
  std::string summary_;
  cluster::SuffixArrayShare<Pos> share_;
};

}  // namespace

void run_suffix_array_on_ranks(cluster::Ranks& ranks, Job& job, const SuffixArrayCommand& command) {
  ranks.together("options", [&] {
    require_rank_options(command);
    job.choose_backend(Backend::host, "ranks run there");
  });
  ranks.on_rank(0, "announce outputs", [&] {
    for (const std::string* path : command.outputs()) job.announce_output(*path);
  });
  ReadText text;
  text.is_packed = command.common.backend != "cuda";
  TextFacts facts;
  ranks.on_rank(0, "read", [&] {
    text.read(job, command);
    facts = {text.indexed.symbols(), text.indexed.letters()};
  });
  ranks.broadcast(std::as_writable_bytes(std::span(&facts, 1)), 0);
  if (smallest_width_bytes(facts.symbols) == 4) {
    RankIndexing<std::uint32_t>(ranks, job, command, text, facts).run();
  } else {
    RankIndexing<std::uint64_t>(ranks, job, command, text, facts).run();
  }
}

}  // namespace sortie::cli
