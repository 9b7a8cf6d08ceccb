// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.hpp"
#include "apps/sort/spill_file.hpp"
#include "core/files/temporary_name.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "sortie/inverted_index.hpp"

namespace sortie::cli {
namespace {

using indexing::Indexer;

struct InvertedIndexCommand {
  CommonOptions common;
  std::vector<std::string> paths;
  std::string output;
  std::string indexer = "auto";
  std::string gpu_sort = "auto";
  std::string format = "index";
  std::string input = "auto";
  indexing::IndexOptions options;
  texts::CorpusOptions corpus;
  bool dry_run = false;
  bool verify = false;
};

/// The indexer, and with it the backend.
Indexer choose_indexer(Job& job, const InvertedIndexCommand& command) {
  const bool asks_gpu = command.indexer.starts_with("gpu");
  const bool leaves_choice = command.indexer == "auto";
  if (asks_gpu && command.common.backend == name(Backend::host)) {
    throw Error(ErrorKind::usage,
                fmt::format("found --indexer {} with --backend host, expected cpu or "
                            "cpu-overlapped",
                            command.indexer));
  }
  job.choose_backend(asks_gpu ? Backend::cuda : Backend::host,
                     leaves_choice ? "parsing takes longer than sorting" : "--indexer asks for it");
  if (!leaves_choice) return indexing::parse_indexer(command.indexer);
  return job.context().backend == Backend::cuda ? Indexer::gpu_overlapped : Indexer::cpu_overlapped;
}

indexing::DocumentSource source_of(Job& job, const InvertedIndexCommand& command) {
  if (command.options.kmer_length > 0) {
    return indexing::sequence_documents(job.host_context(), texts::expand_paths(command.paths),
                                        command.options.kmer_length);
  }
  texts::CorpusOptions corpus = command.corpus;
  corpus.format = texts::parse_format(command.input);
  return indexing::corpus_documents(job.host_context(), command.paths, corpus);
}

/// Bytes of the files, compressed as they are; 0 for pipes.
std::uint64_t bytes_of_files(const std::vector<std::string>& paths) {
  std::uint64_t bytes = 0;
  for (const std::string& path : texts::expand_paths(paths)) {
    std::error_code ignored;
    const std::uintmax_t size = std::filesystem::file_size(path, ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

void show_plan(Job& job, const InvertedIndexCommand& command,
               const indexing::IndexOptions& options) {
  const std::uint64_t bytes = bytes_of_files(command.paths);
  HostContext context = job.host_context();
  context.memory_budget = job.memory_budget();
  const indexing::IndexPlan plan = indexing::plan_index(context, options, bytes);
  RunReport& report = job.report();
  report.set("file_bytes", bytes);
  report.set("block_bytes", plan.block_bytes);
  report.set("planned_memory", plan.memory);
  report.set("resident_run_bytes", plan.resident_runs);
  report.set("planned_runs", plan.runs);
  job.summarize("", fmt::format("{} of files in blocks of {}, about {} runs\nmemory {}, and {} for "
                                "runs; more runs go to a temporary file",
                                format_bytes(bytes), format_bytes(plan.block_bytes), plan.runs,
                                format_bytes(plan.memory), format_bytes(plan.resident_runs)));
}

void run_inverted_index(Job& job, const InvertedIndexCommand& command) {
  if (command.output.empty() && !command.dry_run)
    throw Error(ErrorKind::usage, "--output is required");
  const bool reads_input =
      std::find(command.paths.begin(), command.paths.end(), "-") != command.paths.end();
  if (reads_input && (command.verify || command.common.repeat > 1))
    throw Error(ErrorKind::usage,
                "found standard input with --verify or --repeat, expected files, "
                "which can be read again");
  job.announce_output(command.output);
  const bool as_ciff = command.format == "ciff";
  indexing::IndexOptions options = command.options;
  options.gpu_sort = parse_sort_algorithm(command.gpu_sort);
  options.indexer = choose_indexer(job, command);
  if (command.dry_run) return show_plan(job, command, options);
  // CIFF is made from an index beside it, or in the system's folder for standard output.
  TemporaryName temporary;
  if (as_ciff) temporary.set(TemporaryName::unused_name(sorting::spill_folder(command.output)));
  const std::string path = as_ciff ? temporary.path() : command.output;
  const auto remove_temporary = [&] {
    if (as_ciff) ::unlink(path.c_str());
  };
  indexing::IndexFigures figures;
  double seconds = 0;
  try {
    seconds = job.repeated("index", [&] {
      figures = indexing::build_index(job.context(), source_of(job, command), path, options);
    });
    if (command.verify) {
      const PhaseTimer timer(job.context(), "verify");
      indexing::check_index(job.host_context(), source_of(job, command), path, options);
    }
    if (as_ciff) indexing::write_ciff(job.host_context(), path, command.output);
  } catch (...) {
    remove_temporary();
    throw;
  }
  remove_temporary();
  RunReport& report = job.report();
  report.set("indexer", std::string(name(options.indexer)));
  report.set("gpu_sort", std::string(name(options.gpu_sort)));
  report.set("documents", figures.documents);
  report.set("content_bytes", figures.content_bytes);
  report.set("terms", figures.terms);
  report.set("postings", figures.postings);
  report.set("occurrences", figures.occurrences);
  report.set("runs", figures.runs);
  report.set("spilled_bytes", figures.spilled_bytes);
  report.set("index_bytes", figures.index_bytes);
  report.set("parse_seconds", figures.parse_seconds);
  report.set("sort_seconds", figures.sort_seconds);
  report.set("encode_seconds", figures.encode_seconds);
  report.set("index_seconds", seconds);
  report.set("verified", command.verify);
  const double rate = seconds > 0 ? static_cast<double>(figures.content_bytes) / seconds / 1e6 : 0;
  std::string text = fmt::format(
      "{} documents, {} terms, {} postings\n{} of content in {} runs, index of {}, {:.3f} s, "
      "{:.1f} MB/s ({})",
      figures.documents, figures.terms, figures.postings, format_bytes(figures.content_bytes),
      figures.runs, format_bytes(figures.index_bytes), seconds, rate, name(options.indexer));
  if (command.verify) text += "\nverified: the same index by a plain sequential algorithm";
  job.summarize(command.output, text);
}

}  // namespace

Command add_inverted_index_command(CLI::App& program) {
  auto command = std::make_shared<InvertedIndexCommand>();
  CLI::App* parser = program.add_subcommand(
      "inverted-index", "Build an inverted index of documents, or of k-mers of sequences");
  add_common_options(*parser, command->common);
  parser
      ->add_option("FILE", command->paths,
                   "Documents: files, each a document, and JSONL, each line a document; with "
                   "--kmers FASTA or FASTQ; plain, gzip or zstd; -: standard input; @LIST: the "
                   "files that LIST has on its lines")
      ->required();
  parser->add_option("-o,--output", command->output, "Write the index to this file");
  parser
      ->add_option("--format", command->format,
                   "index: for sortie search; ciff: the common index file format (-: standard "
                   "output)")
      ->check(CLI::IsMember({"index", "ciff"}))
      ->capture_default_str();
  parser
      ->add_option("--indexer", command->indexer,
                   "cpu: parse, then sort; cpu-overlapped: each thread parses and sorts; gpu, "
                   "gpu-overlapped: a GPU sorts, after the parsing or beside it")
      ->check(CLI::IsMember({"auto", "cpu", "cpu-overlapped", "gpu", "gpu-overlapped"}))
      ->capture_default_str();
  parser
      ->add_option("--gpu-sort", command->gpu_sort,
                   "How the GPU sorts words: auto (radix), merge, or bitonic, which is in place")
      ->capture_default_str();
  parser->add_flag("--positions", command->options.positions,
                   "Store positions of terms, for searches of words that follow each other");
  auto* stem = parser->add_option("--stem", command->options.stemmer,
                                  "Stem words by this algorithm of libstemmer, e.g. english");
  constexpr int longest_kmer = 31;
  auto* kmers = parser
                    ->add_option("--kmers", command->options.kmer_length,
                                 "Index the k-mers of sequences, of this length")
                    ->check(CLI::Range(1, longest_kmer))
                    ->excludes(stem);
  parser
      ->add_flag("--canonical", command->options.canonical,
                 "Treat a k-mer and its reverse complement as one")
      ->needs(kmers);
  parser->add_option("--input", command->input, "What files hold")
      ->check(CLI::IsMember({"auto", "plain", "jsonl", "table", "infini-gram"}))
      ->excludes(kmers)
      ->capture_default_str();
  parser->add_option("--field", command->corpus.field, "Field of JSONL that holds the document")
      ->excludes(kmers)
      ->capture_default_str();
  parser
      ->add_flag("--refuse-invalid-utf8", command->corpus.refuse_invalid_utf8,
                 "Fail at documents that are not UTF-8")
      ->excludes(kmers);
  parser->add_flag("--dry-run", command->dry_run, "Only tell the memory and the number of runs");
  parser->add_flag("--verify", command->verify,
                   "Compare with a plain sequential index; exit 3 if they differ");
  return make_command(parser, command, run_inverted_index);
}

}  // namespace sortie::cli
