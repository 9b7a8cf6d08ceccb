// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "apps/cli/command.hpp"
#include "apps/cli/indexed_text.hpp"
#include "apps/cli/suffix_array_file.hpp"
#include "apps/suffix_array/bounded_order.hpp"
#include "apps/suffix_array/construction.hpp"
#include "core/phase_timer.hpp"
#include "sortie/burrows_wheeler.hpp"
#include "sortie/documents.hpp"
#include "sortie/error.hpp"
#include "sortie/lcp.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::cli {
namespace {

struct SuffixArrayCommand {
  CommonOptions common;
  std::string input;
  std::string output;
  std::string lcp;
  std::string bwt;
  std::string inverse;
  std::string documents;
  std::string width = "auto";
  bool text = false;
  std::string letter_case = "upper";
  std::string alphabet = "auto";
  std::string ambiguous = "keep";
  bool reverse_complement = false;
  std::uint64_t max_context = 0;
  std::string algorithm = "auto";
  bool verify = false;

  [[nodiscard]] TextPolicy policy() const {
    return {letter_case == "keep" ? sequences::Case::keep : sequences::Case::upper,
            sequences::parse_alphabet(alphabet), sequences::parse_ambiguity(ambiguous),
            reverse_complement};
  }
  [[nodiscard]] std::array<const std::string*, 5> outputs() const {
    return {&output, &lcp, &bwt, &inverse, &documents};
  }
  /// One of the output files; "" if there are none.
  [[nodiscard]] std::string any_output() const {
    for (const std::string* path : outputs()) {
      if (!path->empty()) return *path;
    }
    return {};
  }
};

int chosen_width_bytes(const SuffixArrayCommand& command, std::uint64_t symbols) {
  const int smallest = smallest_width_bytes(symbols);
  if (command.width == "auto") return smallest;
  const int bytes = command.width == "32" ? 4 : command.width == "40" ? 5 : 8;
  if (symbols > most_symbols(bytes)) {
    throw Error(ErrorKind::usage, fmt::format("--width {}: found {} symbols, expected at most {}",
                                              command.width, symbols, most_symbols(bytes)));
  }
  return bytes;
}

template <class Pos>
class Indexing {
 public:
  Indexing(Job& job, const SuffixArrayCommand& command, const IndexedText& indexed)
      : job_(job),
        command_(command),
        indexed_(indexed),
        text_(indexed.text),
        view_(indexed.view()),
        width_bytes_(chosen_width_bytes(command, text_.symbols.size())) {}

  void run() {
    const auto algorithm = suffix_array::parse_algorithm(command_.algorithm);
    const double seconds = job_.repeated([&] {
      suffixes_ = {};
      suffixes_ = suffix_array::build_by<Pos>(algorithm, job_.context(), view_);
    });
    report(seconds);
    derive();
    if (command_.verify) verify();
    write();
    job_.summarize(command_.any_output(), summary(seconds));
  }

 private:
  void report(double seconds) {
    RunReport& report = job_.report();
    report.set("algorithm", command_.algorithm);
    report.set("symbols", std::uint64_t{text_.symbols.size()});
    report.set("letters", indexed_.letters());
    report.set("records", std::uint64_t{text_.records.size()});
    report.set("alphabet", std::string(sequences::name(indexed_.alphabet)));
    report.set("build_seconds", seconds);
    report.set("megabytes_per_second", rate(seconds));
    report.set("width_bits", std::int64_t{8} * width_bytes_);
    report.set("verified", command_.verify);
  }

  // Computes the requested arrays that are derived from the suffix array.
  void derive() {
    if (!command_.lcp.empty() || command_.max_context != 0) {
      lcp_seconds_ = job_.repeated([&] {
        lcp_ = {};
        lcp_ = suffix_array::lcp_array<Pos>(job_.context(), view_, suffixes_);
      });
      job_.report().set("lcp_seconds", lcp_seconds_);
    }
    if (command_.max_context != 0) {
      suffix_array::bound_order<Pos>(job_.context(), suffixes_, lcp_, command_.max_context);
      job_.report().set("max_context", command_.max_context);
    }
    if (!command_.bwt.empty()) {
      bwt_seconds_ = job_.repeated([&] {
        bwt_ = {};
        bwt_ = suffix_array::burrows_wheeler_transform<Pos>(job_.context(), view_, suffixes_);
      });
      job_.report().set("bwt_seconds", bwt_seconds_);
    }
    if (!command_.inverse.empty()) {
      inverse_seconds_ = job_.repeated([&] {
        inverse_ = {};
        inverse_ = suffix_array::inverse_suffix_array<Pos>(job_.context(), suffixes_);
      });
      job_.report().set("inverse_seconds", inverse_seconds_);
    }
    if (!command_.documents.empty()) {
      for (const sequences::Record& record : text_.records) record_begins_.push_back(record.offset);
      documents_seconds_ = job_.repeated([&] {
        documents_ = {};
        documents_ = suffix_array::document_array<Pos>(job_.context(), suffixes_, record_begins_);
      });
      job_.report().set("documents_seconds", documents_seconds_);
    }
  }

  void verify() {
    PhaseTimer timer(job_.context(), "verify");
    const HostContext context = job_.host_context();
    if (command_.max_context != 0) {
      suffix_array::check_bounded_order<Pos>(context, view_, suffixes_, command_.max_context);
    } else {
      suffix_array::check<Pos>(context, view_, suffixes_);
      if (!command_.lcp.empty()) {
        suffix_array::check_lcp<Pos>(context, view_, suffixes_, lcp_);
      }
    }
    if (!command_.bwt.empty()) {
      suffix_array::check_burrows_wheeler<Pos>(context, view_, suffixes_, bwt_);
    }
    if (!command_.inverse.empty()) verify_inverse();
    if (!command_.documents.empty()) {
      suffix_array::check_document_array<Pos>(context, suffixes_, record_begins_, documents_);
    }
  }

  void verify_inverse() const {
    for (std::size_t entry = 0; entry < suffixes_.size(); ++entry) {
      if (inverse_[suffixes_[entry]] == entry) continue;
      throw Error(ErrorKind::check,
                  fmt::format("inverse suffix array, position {}: found entry {}, expected {}",
                              suffixes_[entry], inverse_[suffixes_[entry]], entry));
    }
  }

  void write() {
    PhaseTimer timer(job_.context(), "write");
    const SuffixArraySource source{command_.input, command_.policy(), command_.max_context,
                                   &indexed_};
    const std::span<const Pos> suffixes = suffixes_;
    const std::span<const Pos> lcp = lcp_;
    RunReport& report = job_.report();
    if (!command_.output.empty() && command_.text) {
      write_suffix_array_text(command_.output, suffixes);
    } else if (!command_.output.empty()) {
      report.set("checksum", write_suffix_array(command_.output, suffixes, width_bytes_, source));
    }
    if (!command_.lcp.empty() && command_.text) {
      write_suffix_array_text(command_.lcp, lcp);
    } else if (!command_.lcp.empty()) {
      report.set("lcp_checksum", write_lcp_array(command_.lcp, lcp, width_bytes_, source));
    }
    if (!command_.bwt.empty()) {
      report.set("bwt_checksum", write_burrows_wheeler(command_.bwt, bwt_, primary(), source));
    }
    if (!command_.inverse.empty() && command_.text) {
      write_suffix_array_text<Pos>(command_.inverse, inverse_);
    } else if (!command_.inverse.empty()) {
      report.set("inverse_checksum",
                 write_inverse_suffix_array<Pos>(command_.inverse, inverse_, width_bytes_, source));
    }
    if (!command_.documents.empty() && command_.text) {
      write_suffix_array_text<std::uint32_t>(command_.documents, documents_);
    } else if (!command_.documents.empty()) {
      report.set("documents_checksum",
                 write_document_array(command_.documents, documents_, source));
    }
  }

  /// The entry of the suffix at position 0, the start of the first record.
  [[nodiscard]] std::uint64_t primary() const {
    const auto found = std::find(suffixes_.begin(), suffixes_.end(), Pos{0});
    return static_cast<std::uint64_t>(found - suffixes_.begin());
  }

  [[nodiscard]] double rate(double seconds) const {
    return seconds > 0 ? 1e-6 * static_cast<double>(text_.symbols.size()) / seconds : 0;
  }

  /// A figure of the report; null if there is none with this name.
  [[nodiscard]] const RunReport::Value* figure(std::string_view name) const {
    for (const auto& [key, value] : job_.report().figures()) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  /// The backend that computed an array, if it differs from the backend in the summary.
  [[nodiscard]] std::string_view maker(std::string_view array) const {
    return figure(fmt::format("{}_on_host", array)) == nullptr
               ? ""
               : " on the host because of limited GPU memory";
  }

  [[nodiscard]] std::string summary(double seconds) const {
    std::string text = fmt::format(
        "{} {}, {} letters ({})\nsuffix array of {} positions in {:.3f} ms on {} ({}): {:.1f} MB/s",
        text_.records.size(), text_.records.size() == 1 ? "record" : "records", indexed_.letters(),
        sequences::name(indexed_.alphabet), suffixes_.size(), 1e3 * seconds,
        name(job_.context().backend), command_.algorithm, rate(seconds));
    if (const RunReport::Value* const ranges = figure("ranges"); ranges != nullptr) {
      text += fmt::format(", in {} ranges because of limited GPU memory",
                          std::get<std::uint64_t>(*ranges));
    }
    if (!command_.lcp.empty()) {
      text += fmt::format("\nLCP array in {:.3f} ms{}", 1e3 * lcp_seconds_, maker("lcp"));
    }
    if (!command_.bwt.empty()) {
      text += fmt::format("\nBurrows-Wheeler transform in {:.3f} ms{}", 1e3 * bwt_seconds_,
                          maker("bwt"));
    }
    if (!command_.inverse.empty()) {
      text += fmt::format("\ninverse in {:.3f} ms{}", 1e3 * inverse_seconds_, maker("inverse"));
    }
    if (!command_.documents.empty()) {
      text += fmt::format("\ndocument array in {:.3f} ms{}", 1e3 * documents_seconds_,
                          maker("documents"));
    }
    if (command_.verify) {
      text += "\nverified: every suffix is in its place";
      if (!command_.lcp.empty() && command_.max_context == 0) text += ", the LCP array is right";
      if (!command_.bwt.empty()) text += ", the transform is right";
      if (!command_.inverse.empty()) text += ", the inverse is right";
      if (!command_.documents.empty()) text += ", the document array is right";
    }
    return text;
  }

  Job& job_;
  const SuffixArrayCommand& command_;
  const IndexedText& indexed_;
  const sequences::Text& text_;
  suffix_array::TextView view_;
  int width_bytes_;
  std::vector<Pos> suffixes_;
  std::vector<Pos> lcp_;
  std::vector<std::uint8_t> bwt_;
  std::vector<Pos> inverse_;
  std::vector<std::uint64_t> record_begins_;
  std::vector<std::uint32_t> documents_;
  double lcp_seconds_ = 0;
  double bwt_seconds_ = 0;
  double inverse_seconds_ = 0;
  double documents_seconds_ = 0;
};

void run_suffix_array(Job& job, const SuffixArrayCommand& command) {
  int streams = 0;
  for (const std::string* path : command.outputs()) {
    job.announce_output(*path);
    if (*path == "-") ++streams;
  }
  if (streams > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("found {} results for standard output, expected at most one", streams));
  }
  const IndexedText indexed = read_indexed_text(job.context(), command.input, command.policy());
  if (smallest_width_bytes(indexed.text.symbols.size()) == 4) {
    Indexing<std::uint32_t>(job, command, indexed).run();
  } else {
    Indexing<std::uint64_t>(job, command, indexed).run();
  }
}

}  // namespace

Command add_suffix_array_command(CLI::App& program) {
  auto command = std::make_shared<SuffixArrayCommand>();
  CLI::App* parser = program.add_subcommand("suffix-array", "Build the suffix array of sequences");
  parser->footer(
      "If the GPU memory, or --max-memory, is less than 17 to 33 bytes per symbol, the suffix\n"
      "array is built in ranges, one after the other. This requires 1.5 bytes per symbol for DNA,\n"
      "2.4 for other symbols, and 3 MiB. The derived arrays are then computed on the host. The\n"
      "result is the same.");
  add_common_options(*parser, command->common);
  parser->add_option("INPUT", command->input, "FASTA or FASTQ, plain or gzip; -: standard input")
      ->required();
  CLI::Option* output = parser->add_option(
      "-o,--output", command->output,
      "Write the positions, little-endian, and FILE.json that describes them (-: standard output)");
  parser->add_option("--lcp", command->lcp,
                     "Also write the LCP array: the common letters of neighbouring suffixes");
  parser->add_option("--bwt", command->bwt,
                     "Also write the Burrows-Wheeler transform: one byte per position");
  parser->add_option("--inverse", command->inverse,
                     "Also write the inverse: the suffix array entry of every position");
  parser->add_option("--documents", command->documents,
                     "Also write the document array: the 0-based record number of every entry, 4 "
                     "bytes each");
  parser->add_option("--width", command->width, "Bits of a position: 32, 40, 64 or auto")
      ->check(CLI::IsMember({"auto", "32", "40", "64"}))
      ->capture_default_str();
  parser->add_flag("--text", command->text, "Write text, one position or entry per line")
      ->needs(output);
  parser->add_option("--case", command->letter_case, "Lower case: upper (raise it) or keep")
      ->check(CLI::IsMember({"upper", "keep"}))
      ->capture_default_str();
  parser
      ->add_option("--alphabet", command->alphabet,
                   "Permitted symbols: auto, dna, dna-iupac, rna, rna-iupac, protein, bytes")
      ->check(CLI::IsMember({"auto", "dna", "dna-iupac", "rna", "rna-iupac", "protein", "bytes"}))
      ->capture_default_str();
  parser
      ->add_option("--ambiguous", command->ambiguous,
                   "N and other letters that are not bases: keep, unify (replace by N) or separate "
                   "(replace by a separator, so no pattern matches across them)")
      ->check(CLI::IsMember({"keep", "unify", "separate"}))
      ->capture_default_str();
  parser->add_flag("--reverse-complement", command->reverse_complement,
                   "Append the reverse complement of every record as a new record");
  parser
      ->add_option(
          "--max-context", command->max_context,
          "Order suffixes by this number of letters only, equal ones by position (default: "
          "all letters)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  parser->add_option("--algorithm", command->algorithm, suffix_array::algorithm_names())
      ->capture_default_str();
  parser->add_flag("--verify", command->verify,
                   "Check all written arrays, in linear time; exit 3 if wrong");
  return make_command(parser, command, run_suffix_array);
}

}  // namespace sortie::cli
