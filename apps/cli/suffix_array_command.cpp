// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <optional>

#include "apps/bench/generator_spec.hpp"
#include "apps/cli/backend_choice.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "apps/cli/suffix_array_command.hpp"
#include "apps/cli/text_index.hpp"
#include "apps/suffix_array/construction.hpp"
#include "apps/suffix_array/program_calls.hpp"
#include "apps/suffix_array/ranks/build_plan.hpp"
#include "apps/suffix_array/ranks/device_build.hpp"
#include "cluster/device_share.hpp"
#include "core/arriving_array.hpp"
#include "core/background_task.hpp"
#include "core/files/checksum.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/uninitialised_vector.hpp"
#include "sortie/burrows_wheeler.hpp"
#include "sortie/devices.hpp"
#include "sortie/documents.hpp"
#include "sortie/error.hpp"
#include "sortie/lcp.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::cli {

TextPolicy SuffixArrayCommand::policy() const {
  TextPolicy policy = {letter_case == "keep" ? sequences::Case::keep : sequences::Case::upper,
                       sequences::parse_alphabet(alphabet),
                       sequences::parse_ambiguity(ambiguous),
                       reverse_complement,
                       parse_input_format(input_format),
                       field};
  if (!policy.is_text()) return policy;
  policy.letter_case = sequences::Case::keep;
  const auto refuse = [&](std::string_view option) {
    throw Error(ErrorKind::usage, fmt::format("found {} with --input {}, expected it for sequences "
                                              "only",
                                              option, input_format));
  };
  if (policy.alphabet != sequences::Alphabet::automatic) refuse("--alphabet");
  if (policy.ambiguity != sequences::Ambiguity::keep) refuse("--ambiguous");
  if (policy.reverse_complement) refuse("--reverse-complement");
  return policy;
}

std::string SuffixArrayCommand::input() const {
  return fmt::format("{}", fmt::join(inputs, " "));
}

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

namespace {

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
    static_cast<void>(job_.context());  // waits for the device in a phase of its own
    ArrivingArray<Pos> written;
    std::vector<int> devices;
    if (command_.gpus > 0) devices = devices_of_job(job_, command_.common, command_.gpus);
    const double seconds = job_.repeated("build", [&] {
      if (devices.size() > 1 && !text_.symbols.empty()) {
        build_on_devices(devices, written);
      } else if (writes_while_arriving()) {
        written = {};
        written = suffix_array::build_arriving_by<Pos>(algorithm, job_.context(), view_);
      } else {
        suffixes_ = {};
        suffixes_ = suffix_array::build_by<Pos>(algorithm, job_.context(), view_);
        written = ArrivingArray<Pos>::borrowed(suffixes_);
      }
    });
    report(seconds, devices.empty() ? std::string(name(job_.context().backend))
                                    : cluster::describe_devices(devices));
    derive_all();
    // Afterwards only the host works.
    job_.release_device([written] { written.await(written.size()); });
    if (command_.verify) verify();
    write_all(written);
    job_.summarize(command_.any_output(), summary_);
  }

 private:
  /// Whether nothing but the output needs the suffix array.
  [[nodiscard]] bool writes_while_arriving() const {
    return job_.context().backend == Backend::cuda && !command_.verify &&
           command_.max_context == 0 && command_.lcp.empty() && command_.bwt.empty() &&
           command_.inverse.empty() && command_.documents.empty();
  }

  void build_on_devices(std::span<const int> devices, ArrivingArray<Pos>& written) {
    namespace on_ranks = suffix_array::on_ranks;
    suffixes_ = {};
    written = {};
    if (writes_while_arriving()) {
      written = on_ranks::build_arriving_on_devices<Pos>(job_.context(), devices, view_);
    } else {
      resize_for_overwrite(suffixes_, static_cast<std::int64_t>(text_.symbols.size()));
      on_ranks::build_on_devices<Pos>(job_.context(), devices, view_, suffixes_);
      written = ArrivingArray<Pos>::borrowed(suffixes_);
    }
  }

  void report(double seconds, const std::string& where) {
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

    summary_ = fmt::format(
        "{} {}, {} letters ({})\nsuffix array of {} positions in {:.3f} ms on {} ({}): {:.1f} MB/s",
        text_.records.size(), text_.records.size() == 1 ? "record" : "records", indexed_.letters(),
        sequences::name(indexed_.alphabet), text_.symbols.size(), 1e3 * seconds, where,
        command_.algorithm, rate(seconds));
    if (const RunReport::Value* const ranges = figure("ranges"); ranges != nullptr) {
      summary_ += fmt::format(", in {} ranges because of limited GPU memory",
                              std::get<std::uint64_t>(*ranges));
    }
  }

  /// Computes an array by `compute`, and reports the seconds.
  /// \param key    beginning of the names of its figures
  /// \param title  its name in the summary
  /// \param path   its file; "" if it is not asked for
  template <class Array, class Compute>
  void derive(const std::string& key, std::string_view title, const std::string& path, Array& array,
              const Compute& compute) {
    const double seconds = job_.repeated(title, [&] {
      array = {};
      array = compute();
    });
    job_.report().set(key + "_seconds", seconds);
    if (path.empty()) return;
    summary_ += fmt::format("\n{} in {:.3f} ms", title, 1e3 * seconds);
    if (figure(key + "_on_host") != nullptr)
      summary_ += " on the host because of limited GPU memory";
  }

  // Computes the requested arrays that are derived from the suffix array.
  void derive_all() {
    const Context& context = job_.context();
    if (!command_.lcp.empty() || command_.max_context != 0) {
      derive("lcp", "LCP array", command_.lcp, lcp_,
             [&] { return suffix_array::lcp_array<Pos>(context, view_, suffixes_); });
    }
    if (command_.max_context != 0) {
      suffix_array::bound_order<Pos>(context, suffixes_, lcp_, command_.max_context);
      job_.report().set("max_context", command_.max_context);
    }
    if (!command_.bwt.empty()) {
      derive("bwt", "Burrows-Wheeler transform", command_.bwt, bwt_, [&] {
        return suffix_array::burrows_wheeler_transform<Pos>(context, view_, suffixes_);
      });
    }
    if (!command_.inverse.empty()) {
      derive("inverse", "inverse", command_.inverse, inverse_,
             [&] { return suffix_array::inverse_suffix_array<Pos>(context, suffixes_); });
    }
    if (!command_.documents.empty()) {
      for (const sequences::Record& record : text_.records) record_begins_.push_back(record.offset);
      derive("documents", "document array", command_.documents, documents_,
             [&] { return suffix_array::document_array<Pos>(context, suffixes_, record_begins_); });
    }
  }

  void verify() {
    PhaseTimer timer(job_.context(), "verify");
    const HostContext context = job_.host_context();
    summary_ += "\nverified: every suffix is in its place";
    if (command_.max_context != 0) {
      suffix_array::check_bounded_order<Pos>(context, view_, suffixes_, command_.max_context);
    } else {
      suffix_array::check<Pos>(context, view_, suffixes_);
      if (!command_.lcp.empty()) {
        suffix_array::check_lcp<Pos>(context, view_, suffixes_, lcp_);
        summary_ += ", the LCP array is right";
      }
    }
    if (!command_.bwt.empty()) {
      suffix_array::check_burrows_wheeler<Pos>(context, view_, suffixes_, bwt_);
      summary_ += ", the transform is right";
    }
    if (!command_.inverse.empty()) {
      for (std::size_t entry = 0; entry < suffixes_.size(); ++entry) {
        if (inverse_[suffixes_[entry]] == entry) continue;
        throw Error(ErrorKind::check,
                    fmt::format("inverse suffix array, position {}: found entry {}, expected {}",
                                suffixes_[entry], inverse_[suffixes_[entry]], entry));
      }
      summary_ += ", the inverse is right";
    }
    if (!command_.documents.empty()) {
      suffix_array::check_document_array<Pos>(context, suffixes_, record_begins_, documents_);
      summary_ += ", the document array is right";
    }
  }

  /// Writes an array to its file, if there is one, and reports its checksum.
  template <class Number>
  void write(const std::string& path, ArrayKind kind, const ArrivingArray<Number>& array,
             int width_bytes, std::string_view checksum_key) {
    if (path.empty()) return;
    const bool is_bwt = kind == ArrayKind::burrows_wheeler;
    if (command_.text && !is_bwt) return write_array_text(job_.context(), path, array);
    const SuffixArraySource source{command_.input(), command_.policy(), command_.max_context,
                                   &indexed_, text_checksum_};
    std::optional<std::uint64_t> primary;
    if (is_bwt) primary = std::find(suffixes_.begin(), suffixes_.end(), Pos{0}) - suffixes_.begin();
    job_.report().set(checksum_key,
                      write_array(job_.context(), path, kind, array, width_bytes, source, primary));
  }

  void write_all(const ArrivingArray<Pos>& suffixes) {
    PhaseTimer timer(job_.context(), "write");
    text_checksum_ = checksum_of(threads_of(job_.context()), text_.symbols);
    write(command_.output, ArrayKind::suffixes, suffixes, width_bytes_, "checksum");
    write(command_.lcp, ArrayKind::lcp, ArrivingArray<Pos>::borrowed(lcp_), width_bytes_,
          "lcp_checksum");
    write(command_.bwt, ArrayKind::burrows_wheeler, ArrivingArray<std::uint8_t>::borrowed(bwt_), 1,
          "bwt_checksum");
    write(command_.inverse, ArrayKind::inverse, ArrivingArray<Pos>::borrowed(inverse_),
          width_bytes_, "inverse_checksum");
    write(command_.documents, ArrayKind::documents,
          ArrivingArray<std::uint32_t>::borrowed(documents_), 4, "documents_checksum");
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

  Job& job_;
  const SuffixArrayCommand& command_;
  const IndexedText& indexed_;
  const sequences::Text& text_;
  suffix_array::TextView view_;
  int width_bytes_;
  std::string summary_;
  std::string text_checksum_;
  std::vector<Pos> suffixes_;
  std::vector<Pos> lcp_;
  std::vector<std::uint8_t> bwt_;
  std::vector<Pos> inverse_;
  std::vector<std::uint64_t> record_begins_;
  std::vector<std::uint32_t> documents_;
};

/// Before the text is read, since the device starts beside that.
void choose_backend(Job& job, const SuffixArrayCommand& command) {
  if (!job.may_choose_backend()) return;
  const auto algorithm = suffix_array::parse_algorithm(command.algorithm);
  if (algorithm.backend != Backend::automatic) {
    return job.choose_backend(algorithm.backend,
                              fmt::format("{} runs only there", command.algorithm));
  }
  std::uint64_t symbols = 0;
  for (const std::string& path : command.inputs) symbols += estimated_symbols(path.c_str());
  if (symbols == 0) return;  // a stream, whose length is not known
  // Reading: a compressed text on one thread, a plain one on all.
  const double reading = static_cast<double>(symbols) / 300e6;
  job.choose_backend(suffix_array_seconds(symbols, reading, threads_of(job.reading_context())));
}

/// `--dry-run`: the plan for ranks. The text need not be there: gen:dna:N stands for one of N letters.
void show_plan(Job& job, const SuffixArrayCommand& command) {
  if (command.plan.ranks == 0)
    throw Error(ErrorKind::usage, "found --dry-run, expected --ranks with it");
  std::uint64_t symbols = 0;
  double repeats = 0;
  if (bench::GeneratorSpec::matches(command.input())) {
    const bench::GeneratorSpec spec(command.input());
    if (spec.kind() != "dna") spec.unknown("gen:dna:N");
    spec.require_parameters(1, "gen:dna:N");
    symbols = spec.count(0);
  } else {
    const IndexedText indexed =
        read_indexed_text(job.reading_context(), command.inputs, command.policy());
    symbols = indexed.text.symbols.size();
    start_host_runtime(threads_of(job.reading_context()));
    repeats = suffix_array::part_in_repeats(indexed.text.symbols);
    job.report().set("part_in_repeats", repeats);
  }
  RankPlanOptions options = command.plan;
  options.on_gpus = command.gpus > 0;
  if (options.on_gpus && options.ranks_on_machine == 0) options.ranks_on_machine = command.gpus;
  const int on_machine = rank_model(options).ranks_on_machine;
  const std::uint64_t memory = options.rank_memory.empty() ? 0 : parse_bytes(options.rank_memory);
  show_rank_plan(job, options, [&](int ranks) {
    return options.on_gpus ? suffix_array::plan_device_build(symbols, ranks, on_machine, memory)
                           : suffix_array::plan_build(symbols, ranks, on_machine, memory, repeats);
  });
}

/// Starts the devices of --gpus, beside reading, with memory for a text as long as the files
/// suggest. Its errors are those of the first use.
std::function<void()> start_of_devices(Job& job, const SuffixArrayCommand& command) {
  std::uint64_t symbols = 0;
  for (const std::string& path : command.inputs) symbols += estimated_symbols(path.c_str());
  return [symbols, gpus = command.gpus, device = command.common.device,
          has_budget = !command.common.max_memory.empty(),
          threads = threads_of(job.reading_context())] {
    Context context;
    context.device = device;
    const std::uint64_t bytes =
        has_budget ? 0 : suffix_array::plan_device_build(symbols, gpus, gpus).rank_memory;
    cluster::start_devices(spread_over_gpus(context, gpus), threads, bytes);
  };
}

void run_suffix_array(Job& job, const SuffixArrayCommand& command) {
  if (command.dry_run && job_ranks() == nullptr) return show_plan(job, command);
  if (job_ranks() != nullptr) return run_suffix_array_on_ranks(*job_ranks(), job, command);
  if (command.input_format == "tokens") {
    choose_backend(job, command);
    return write_token_positions(job, command);
  }
  if (command.format != "positions") {
    choose_backend(job, command);
    return write_index_tables(job, command);
  }
  if (command.tokens != "u8")
    throw Error(ErrorKind::usage, fmt::format("found --tokens {} with --format positions, expected "
                                              "it with --input tokens, --format table or "
                                              "--format infini-gram",
                                              command.tokens));
  int streams = 0;
  for (const std::string* path : command.outputs()) {
    job.announce_output(*path);
    if (*path == "-") ++streams;
  }
  if (streams > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("found {} results for standard output, expected at most one", streams));
  }
  if (command.gpus > 0 && command.algorithm != "auto")
    throw Error(ErrorKind::usage,
                fmt::format("found --algorithm {} with --gpus, expected auto", command.algorithm));
  if (command.gpus > 0) choose_devices(job, command.common);
  choose_backend(job, command);
  std::optional<BackgroundTask> starting;
  if (command.gpus > 1) starting.emplace(start_of_devices(job, command));
  const IndexedText indexed =
      read_indexed_text(job.reading_context(), command.inputs, command.policy());
  if (starting) {
    const PhaseTimer timer(job.reading_context(), "start devices");
    starting.reset();
  }
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
      "result is the same.\n"
      "\n"
      "With --gpus, every GPU holds the text, and sorts a part of the suffix array.\n"
      "\n"
      "On the ranks of an MPI job (mpirun -np P sortie suffix-array ...), rank 0 reads the input "
      "and\n"
      "all ranks sort, on the host or, with --backend cuda, on a GPU each, and write. The files "
      "are "
      "the\n"
      "same. Host memory of a rank: 5 to 13 bytes for each symbol of its share, as --max-memory "
      "allows,\n"
      "and the packed text, 3/8 byte for each symbol of DNA; texts with repeats take 1/2 byte a "
      "symbol\n"
      "more. With --backend cuda: the text, and its part of the array. -o, --lcp and --bwt must "
      "be\n"
      "files; --inverse, --documents, --text and --max-context are of one process.");
  add_common_options(*parser, command->common);
  parser
      ->add_option(
          "INPUT", command->inputs,
          "FASTA or FASTQ, or the files of --input, plain, gzip or zstd; -: standard input")
      ->required();
  parser
      ->add_option(
          "--input", command->input_format,
          "What INPUT is: fasta (or FASTQ); text: files of any bytes, which are kept, each "
          "one document; jsonl: one document on each line. Of these, there may be several "
          "files, and @LIST stands for the files that are named in LIST, one on each line. "
          "Documents are records. tokens: one file of integers, as --tokens says; positions are "
          "numbers of tokens, in the order of their values")
      ->check(CLI::IsMember({"fasta", "text", "jsonl", "tokens"}))
      ->capture_default_str();
  parser
      ->add_option("--field", command->field, "JSONL: the field of the object that is the document")
      ->capture_default_str();
  CLI::Option* output = parser->add_option(
      "-o,--output", command->output,
      "Write the positions, little-endian, and FILE.json that describes them (-: standard output)");
  parser
      ->add_option("--format", command->format,
                   "positions: as -o says; table: FILE is the corpus of deduplicate-text-datasets, "
                   "with FILE.size and FILE.table.bin; infini-gram: FILE is a folder with an index "
                   "of one shard. Both are of texts")
      ->check(CLI::IsMember({"positions", "table", "infini-gram"}))
      ->capture_default_str();
  parser
      ->add_option(
          "--tokens", command->tokens,
          "What files hold, little-endian: u16 or u32 with --input tokens; u8 (bytes), u16 "
          "or u32 with --format table or infini-gram")
      ->check(CLI::IsMember({"u8", "u16", "u32"}))
      ->capture_default_str();
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
  add_gpus_option(*parser, command->gpus);
  CLI::Option* dry_run = parser->add_flag("--dry-run", command->dry_run,
                                          "With --ranks: plan the job on ranks, with --gpus N on "
                                          "a GPU each, N in a machine (INPUT may be gen:dna:N "
                                          "for N letters that are not there)");
  add_plan_options(*parser, dry_run, command->plan);
  parser->add_flag("--verify", command->verify,
                   "Check all written arrays, in linear time; exit 3 if wrong");
  Command made = make_command(parser, command, run_suffix_array);
  made.runs_on_ranks = true;
  return made;
}

}  // namespace sortie::cli
