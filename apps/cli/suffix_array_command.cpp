#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>

#include "sortie/apps/cli/command.hpp"
#include "sortie/apps/cli/suffix_array_file.hpp"
#include "sortie/apps/suffix_array/suffix_array.hpp"
#include "sortie/core/error.hpp"

namespace sortie::cli {
namespace {

using sequences::Alphabet;
using sequences::Text;

struct SuffixArrayCommand {
  CommonOptions common;
  std::string input;
  std::string output;
  std::string width = "auto";
  bool text = false;
  std::string letter_case = "upper";
  std::string alphabet = "auto";
  std::string algorithm = "auto";
  bool verify = false;

  [[nodiscard]] sequences::Case chosen_case() const {
    return letter_case == "keep" ? sequences::Case::keep : sequences::Case::upper;
  }
};

int chosen_width_bytes(const SuffixArrayCommand& command, std::uint64_t symbols) {
  const int smallest = smallest_width_bytes(symbols);
  if (command.width == "auto") return smallest;
  const int bytes = command.width == "32" ? 4 : 8;
  if (bytes < smallest) {
    throw Error(ErrorKind::usage,
                fmt::format("--width 32: found {} symbols, expected at most {}", symbols,
                            std::numeric_limits<std::uint32_t>::max() - 1));
  }
  return bytes;
}

template <class Pos>
class Indexing {
 public:
  Indexing(Job& job, const SuffixArrayCommand& command, const Text& text)
      : job_(job),
        command_(command),
        text_(text),
        separators_(text.separators()),
        view_(text.symbols, separators_),
        width_bytes_(chosen_width_bytes(command, text.symbols.size())) {}

  void run() {
    const auto algorithm = suffix_array::parse_algorithm(command_.algorithm);
    const double seconds = job_.repeated([&] {
      suffixes_ = {};
      suffixes_ = suffix_array::build<Pos>(job_.context(), view_, algorithm);
    });
    report(seconds);
    if (command_.verify) {
      PhaseTimer timer(job_.context(), "verify");
      suffix_array::check<Pos>(job_.context(), view_, suffixes_);
    }
    if (!command_.output.empty()) write();
    job_.summarize(command_.output, summary(seconds));
  }

 private:
  void report(double seconds) {
    RunReport& report = job_.report();
    report.set("algorithm", command_.algorithm);
    report.set("symbols", std::uint64_t{text_.symbols.size()});
    report.set("letters", text_.letters());
    report.set("records", std::uint64_t{text_.records.size()});
    report.set("alphabet", std::string(sequences::name(alphabet_)));
    report.set("build_seconds", seconds);
    report.set("megabytes_per_second", rate(seconds));
    report.set("width_bits", std::int64_t{8} * width_bytes_);
    report.set("verified", command_.verify);
  }

  void write() {
    PhaseTimer timer(job_.context(), "write");
    const std::span<const Pos> suffixes = suffixes_;
    if (command_.text) {
      write_suffix_array_text(command_.output, suffixes);
      return;
    }
    const std::string sum =
        write_suffix_array(command_.output, suffixes, width_bytes_,
                           {command_.input, command_.chosen_case(), alphabet_, &text_});
    job_.report().set("checksum", sum);
  }

  [[nodiscard]] double rate(double seconds) const {
    return seconds > 0 ? 1e-6 * static_cast<double>(text_.symbols.size()) / seconds : 0;
  }

  [[nodiscard]] std::string summary(double seconds) const {
    std::string text = fmt::format(
        "{} {}, {} letters ({})\nsuffix array of {} positions in {:.3f} ms on {} ({}): {:.1f} MB/s",
        text_.records.size(), text_.records.size() == 1 ? "record" : "records", text_.letters(),
        sequences::name(alphabet_), suffixes_.size(), 1e3 * seconds, name(job_.context().backend),
        command_.algorithm, rate(seconds));
    if (command_.verify) text += "\nverified: every suffix is in its place";
    return text;
  }

  Job& job_;
  const SuffixArrayCommand& command_;
  const Text& text_;
  std::vector<std::uint64_t> separators_;
  suffix_array::TextView view_;
  int width_bytes_;
  Alphabet alphabet_ = sequences::detect_alphabet(text_);
  std::vector<Pos> suffixes_;
};

void run_suffix_array(Job& job, const SuffixArrayCommand& command) {
  job.announce_output(command.output);
  const Text text =
      sequences::read_fasta(job.context(), command.input,
                            {command.chosen_case(), sequences::parse_alphabet(command.alphabet)});
  if (smallest_width_bytes(text.symbols.size()) == 4) {
    Indexing<std::uint32_t>(job, command, text).run();
  } else {
    Indexing<std::uint64_t>(job, command, text).run();
  }
}

}  // namespace

Command add_suffix_array_command(CLI::App& program) {
  auto command = std::make_shared<SuffixArrayCommand>();
  CLI::App* parser = program.add_subcommand("suffix-array", "Build the suffix array of sequences");
  add_common_options(*parser, command->common);
  parser->add_option("INPUT", command->input, "FASTA or FASTQ, plain or gzip; -: standard input")
      ->required();
  CLI::Option* output = parser->add_option(
      "-o,--output", command->output,
      "Write the positions, little-endian, and FILE.json that describes them (-: standard output)");
  parser->add_option("--width", command->width, "Bits of a position: 32, 64 or auto")
      ->check(CLI::IsMember({"auto", "32", "64"}))
      ->capture_default_str();
  parser->add_flag("--text", command->text, "Write one position a line instead")->needs(output);
  parser->add_option("--case", command->letter_case, "Lower case: upper (raise it) or keep")
      ->check(CLI::IsMember({"upper", "keep"}))
      ->capture_default_str();
  parser
      ->add_option("--alphabet", command->alphabet,
                   "What the symbols may be: auto, dna, dna-iupac, rna, rna-iupac, protein, bytes")
      ->check(CLI::IsMember({"auto", "dna", "dna-iupac", "rna", "rna-iupac", "protein", "bytes"}))
      ->capture_default_str();
  parser
      ->add_option("--algorithm", command->algorithm,
                   "auto, prefix-doubling, divsufsort or reference")
      ->capture_default_str();
  parser->add_flag("--verify", command->verify, "Check the array in linear time; exit 3 if wrong");
  return make_command(parser, command, run_suffix_array);
}

}  // namespace sortie::cli
