// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/command.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"
#include "sortie/genome_index.hpp"

namespace sortie::cli {
namespace {

struct GenomeIndexCommand {
  CommonOptions common;
  std::string fasta;
  genomes::GenomeIndexOptions options;
  bool check = false;
  bool dry_run = false;
};

std::string describe(const genomes::GenomeIndexPlan& plan) {
  std::uint64_t bytes = 0;
  for (const genomes::IndexFileSize& file : plan.files) bytes += file.bytes;
  return fmt::format("{} letters in {} {}, {} files of {}", plan.letters, plan.records,
                     plan.records == 1 ? "record" : "records", plan.files.size(),
                     format_bytes(bytes));
}

void report_plan(Job& job, const GenomeIndexCommand& command,
                 const genomes::GenomeIndexPlan& plan) {
  RunReport& report = job.report();
  report.set("formats", fmt::format("{}", fmt::join(command.options.formats, ",")));
  report.set("records", plan.records);
  report.set("letters", plan.letters);
  std::uint64_t bytes = 0;
  for (const genomes::IndexFileSize& file : plan.files) {
    report.set("bytes of " + file.path, file.bytes);
    bytes += file.bytes;
  }
  report.set("index_bytes", bytes);
  report.set("planned_memory", plan.memory);
  for (const std::string& warning : plan.warnings) job.say("warning: " + warning);
}

void run_genome_index(Job& job, const GenomeIndexCommand& given) {
  GenomeIndexCommand command = given;
  genomes::GenomeIndexOptions& options = command.options;
  if (options.prefix.empty()) {
    if (command.fasta == "-")
      throw Error(ErrorKind::usage, "found standard input without --prefix, expected a prefix");
    options.prefix = command.fasta;
  }
  if (command.dry_run) {
    const genomes::GenomeIndexPlan plan =
        genomes::plan_genome_index(job.context(), command.fasta, options);
    job.report().set("dry_run", true);
    report_plan(job, command, plan);
    std::string text = describe(plan) + fmt::format(", {} of memory", format_bytes(plan.memory));
    for (const genomes::IndexFileSize& file : plan.files)
      text += fmt::format("\n{} {}", file.bytes, file.path);
    return job.summarize("", text);
  }
  if (command.fasta == "-" && command.common.repeat > 1)
    throw Error(ErrorKind::usage,
                "found standard input with --repeat, expected a file, which can be read again");
  options.await_device = [&] { static_cast<void>(job.context()); };
  const auto work = command.check ? genomes::check_genome_index : genomes::write_genome_index;
  genomes::GenomeIndexPlan plan;
  const double seconds =
      job.repeated("index", [&] { plan = work(job.starting_context(), command.fasta, options); });
  job.report().set("index_seconds", seconds);
  job.report().set("checked", command.check);
  report_plan(job, command, plan);
  job.summarize(
      command.check ? "" : options.prefix,
      fmt::format("{}; {:.3f} s", describe(plan), seconds) +
          (command.check ? "\nverified: the files are what these tools would write" : ""));
}

}  // namespace

Command add_genome_index_command(CLI::App& program) {
  auto command = std::make_shared<GenomeIndexCommand>();
  genomes::GenomeIndexOptions& options = command->options;
  CLI::App* parser =
      program.add_subcommand("index", "Index a genome for aligners: the files of their own tools");
  parser->footer(
      "PREFIX begins the names of all files (PREFIX.bwt, ...), as the tools' own options do; for\n"
      "star it is a folder (STAR --genomeDir PREFIX).");
  add_common_options(*parser, command->common);
  parser->add_option("FASTA", command->fasta, "A FASTA, plain, .gz or .zst (-: standard input)")
      ->required();
  parser
      ->add_option(
          "--format", options.formats,
          fmt::format("Formats, separated by commas: {}", fmt::join(genomes::format_names(), ", ")))
      ->delimiter(',')
      ->required();
  parser->add_option("-p,--prefix", options.prefix, "Path and begin of the names (FASTA)");
  parser
      ->add_option("--sa-index-bases", options.star_index_bases,
                   "star: letters of the longest indexed prefixes (--genomeSAindexNbases)")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  parser
      ->add_option("--chr-bin-bits", options.star_bin_bits,
                   "star: records begin at multiples of 2^BITS (--genomeChrBinNbits)")
      ->check(CLI::Range(1, 40))
      ->capture_default_str();
  parser->add_flag("--large", options.large,
                   "bowtie2, hisat2: .bt2l and .ht2l also for a FASTA of less than 4 GiB");
  parser
      ->add_option("--for-version", options.hisat2_version,
                   "hisat2: the version of the tool, which is part of the index")
      ->capture_default_str();
  genomes::StarAnnotationOptions& annotation = options.star_annotation;
  CLI::Option* const gtf = parser->add_option(
      "--gtf", annotation.gtf,
      "star: insert the junctions of the transcripts of a GTF or GFF3, plain, .gz or .zst "
      "(--sjdbGTFfile)");
  parser
      ->add_option("--sjdb-overhang", annotation.overhang,
                   "star: bases of each side of a junction (--sjdbOverhang)")
      ->check(CLI::Range(1, 4999))
      ->capture_default_str()
      ->needs(gtf);
  parser
      ->add_option("--gtf-feature", annotation.exon_feature,
                   "star: column 3 of the lines of exons (--sjdbGTFfeatureExon)")
      ->capture_default_str()
      ->needs(gtf);
  parser
      ->add_option("--gtf-transcript-tag", annotation.transcript_tag,
                   "star: attribute with the transcript; Parent in a GFF3 "
                   "(--sjdbGTFtagExonParentTranscript)")
      ->capture_default_str()
      ->needs(gtf);
  parser
      ->add_option("--gtf-gene-tag", annotation.gene_tag,
                   "star: attribute with the gene (--sjdbGTFtagExonParentGene)")
      ->capture_default_str()
      ->needs(gtf);
  parser
      ->add_option("--gtf-chr-prefix", annotation.record_prefix,
                   "star: prefix that the names of the GTF lack, as chr (--sjdbGTFchrPrefix)")
      ->needs(gtf);
  parser->add_flag(
      "--check", command->check,
      "Write nothing: compare the files of an existing index, made by any program, with "
      "those of FASTA; exit 3 if a byte differs");
  parser->add_flag("--dry-run", command->dry_run, "Write nothing: show sizes and memory");
  return make_command(parser, command, run_genome_index);
}

}  // namespace sortie::cli
