// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/cli/suffix_array_command.hpp"
#include "apps/suffix_array/construction.hpp"
#include "core/arriving_array.hpp"
#include "core/files/checksum.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

/// `sortie suffix-array --input tokens`: the suffixes of a file of tokens. They are in the order of
/// the tokens' values, as integers: bytes are exchanged before the sort, which compares bytes.
namespace sortie::cli {
namespace {

void require_options(const SuffixArrayCommand& command) {
  const auto refuse = [](std::string_view option, std::string_view expected) {
    throw Error(ErrorKind::usage,
                fmt::format("found {} with --input tokens, expected {}", option, expected));
  };
  constexpr std::string_view with_others = "it with --input fasta, text or jsonl";
  if (command.tokens == "u8") refuse("--tokens u8", "u16 or u32, or --input text for bytes");
  if (command.format != "positions") refuse("--format " + command.format, "--input text with it");
  if (!command.lcp.empty()) refuse("--lcp", with_others);
  if (!command.bwt.empty()) refuse("--bwt", with_others);
  if (!command.inverse.empty()) refuse("--inverse", with_others);
  if (!command.documents.empty()) refuse("--documents", with_others);
  if (command.max_context != 0) refuse("--max-context", with_others);
  if (command.gpus > 0) refuse("--gpus", with_others);
  if (command.alphabet != "auto") refuse("--alphabet", "it for sequences only");
  if (command.ambiguous != "keep") refuse("--ambiguous", "it for sequences only");
  if (command.reverse_complement) refuse("--reverse-complement", "it for sequences only");
  if (command.inputs.size() != 1)
    refuse(fmt::format("{} input files", command.inputs.size()), "one");
}

template <class Pos>
void write_positions(Job& job, const SuffixArrayCommand& command, std::vector<std::uint8_t> bytes) {
  const int token_bytes = command.tokens == "u16" ? 2 : 4;
  const auto width = static_cast<std::size_t>(token_bytes);
  const std::string checksum = checksum_of(threads_of(job.reading_context()), bytes);
  for (std::size_t at = 0; at < bytes.size(); at += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  const auto algorithm = suffix_array::parse_algorithm(command.algorithm);
  std::vector<Pos> suffixes;
  const double seconds = job.repeated("build", [&] {
    suffixes = {};
    suffixes = suffix_array::build_tokens_by<Pos>(algorithm, job.context(), bytes, token_bytes);
  });
  std::string summary =
      fmt::format("{} tokens of {} bits\nsuffix array of {} positions in {:.3f} ms on {} ({})",
                  suffixes.size(), 8 * token_bytes, suffixes.size(), 1e3 * seconds,
                  name(job.context().backend), command.algorithm);
  if (command.verify) {
    const PhaseTimer timer(job.context(), "verify");
    suffix_array::check_tokens<Pos>(job.host_context(), bytes, token_bytes, suffixes);
    summary += "\nverified: every suffix is in its place";
  }
  for (Pos& position : suffixes) position /= static_cast<Pos>(width);
  RunReport& report = job.report();
  report.set("algorithm", command.algorithm);
  report.set("symbols", std::uint64_t{suffixes.size()});
  report.set("token_bits", std::int64_t{8} * token_bytes);
  report.set("build_seconds", seconds);
  report.set("verified", command.verify);
  if (!command.output.empty()) {
    const PhaseTimer timer(job.context(), "write");
    const auto array = ArrivingArray<Pos>::borrowed(suffixes);
    if (command.text) {
      write_array_text(job.context(), command.output, array);
    } else {
      IndexedText tokens;
      tokens.alphabet = sequences::Alphabet::bytes;
      tokens.released = suffixes.size();
      TextPolicy policy;
      policy.letter_case = sequences::Case::keep;
      const SuffixArraySource source{command.input(), policy,   0,
                                     &tokens,         checksum, 8 * token_bytes};
      report.set("checksum",
                 write_array(job.context(), command.output, ArrayKind::token_suffixes, array,
                             chosen_width_bytes(command, suffixes.size()), source));
    }
  }
  job.summarize(command.output, summary);
}

}  // namespace

void write_token_positions(Job& job, const SuffixArrayCommand& command) {
  require_options(command);
  job.announce_output(command.output);
  texts::CorpusOptions options;
  options.format = texts::Format::plain;
  options.token_bytes = command.tokens == "u16" ? 2 : 4;
  texts::Corpus corpus = texts::read_corpus(job.host_context(), command.inputs, options);
  // Positions count tokens, but are built as those of bytes.
  if (corpus.bytes.size() <= most_symbols(4)) {
    write_positions<std::uint32_t>(job, command, std::move(corpus.bytes));
  } else {
    write_positions<std::uint64_t>(job, command, std::move(corpus.bytes));
  }
}

}  // namespace sortie::cli
