// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/genome_matches.hpp"

namespace sortie::cli {
namespace {

using genome_matches::MatchFigures;
using genome_matches::MatchFormat;
using genome_matches::MatchIndex;
using genome_matches::MatchOptions;
using genome_matches::MatchOutput;
using genome_matches::Strands;

struct MatchesCommand {
  CommonOptions common;
  std::string reference;
  std::vector<std::string> queries;
  MatchOptions options;
  MatchOutput output;
  std::string kind = "unique-in-reference";
  std::string format = "mummer";
  bool both_strands = false;
  bool reverse_only = false;
  bool dry_run = false;
};

void require_options(const Job& job, const MatchesCommand& command) {
  const MatchOutput& output = command.output;
  const auto inputs = std::ranges::count(command.queries, "-") + (command.reference == "-" ? 1 : 0);
  if (inputs > 1)
    throw Error(ErrorKind::usage, "found standard input twice, expected at most one file from it");
  if (output.format == MatchFormat::paf && (output.forward_positions || output.query_lengths ||
                                            output.reference_names || output.letters))
    throw Error(ErrorKind::usage,
                "found --format paf with --forward-positions, --query-lengths, --reference-names "
                "or --letters, expected --format mummer");
  if (command.dry_run) return;
  for (const std::string* path : {&output.matches, &output.statistics, &output.plot})
    job.announce_output(*path);
}

/// What is left of the budget: 0, no limit, stays so.
std::uint64_t budget_beside(const Job& job, std::uint64_t bytes, std::string_view what) {
  if (job.memory_budget() == 0) return 0;
  if (bytes >= job.memory_budget()) throw out_of_memory_error(what, bytes, job.memory_budget());
  return job.memory_budget() - bytes;
}

void run_matches(Job& job, const MatchesCommand& given) {
  MatchesCommand command = given;
  MatchOutput& output = command.output;
  command.options.kind = genome_matches::parse_kind(command.kind);
  command.options.statistics = !output.statistics.empty();
  output.format = command.format == "paf" ? MatchFormat::paf : MatchFormat::mummer;
  if (command.reverse_only) output.strands = Strands::reverse;
  if (command.both_strands) output.strands = Strands::both;
  job.choose_backend(Backend::host, "matches are found on the host; a GPU sorts the index only");
  require_options(job, command);

  HostContext reading = job.reading_context();
  reading.memory_budget = job.memory_budget();
  sequences::Text reference = sequences::read_fasta(reading, command.reference);
  const std::uint64_t symbols = reference.symbols.size();
  const std::uint64_t building = MatchIndex::building_bytes(symbols, command.options);
  const std::uint64_t indexed = symbols + MatchIndex::index_bytes(symbols, command.options);
  RunReport& report = job.report();
  report.set("reference_letters", reference.letters());
  report.set("reference_records", std::uint64_t{reference.records.size()});
  report.set("index_bytes", indexed - symbols);
  report.set("least_memory", symbols + building);
  const std::string plan = fmt::format(
      "reference of {} letters in {} {}: index of {}, at least {} of memory while it is built",
      reference.letters(), reference.records.size(),
      reference.records.size() == 1 ? "record" : "records", format_bytes(indexed - symbols),
      format_bytes(symbols + building));
  if (command.dry_run) {
    report.set("dry_run", true);
    job.summarize("", plan);
    return;
  }
  job.say(plan);
  Context indexing = job.context();
  indexing.memory_budget = budget_beside(job, symbols, "the reference");
  std::optional<MatchIndex> index;
  const double index_seconds = job.repeated("build", [&] {
    index.reset();
    // Repeated builds need the text again.
    index.emplace(indexing, command.common.repeat == 1 ? std::move(reference) : reference,
                  command.options);
  });
  HostContext searching = job.context();
  searching.memory_budget = budget_beside(job, indexed, "the reference and its index");
  // Once, whatever --repeat says: the matches may go to standard output.
  const auto start = std::chrono::steady_clock::now();
  const MatchFigures figures =
      genome_matches::write_matches(searching, *index, command.queries, output);
  const double seconds = seconds_since(start);
  report.set("min_length", command.options.min_length);
  report.set("queries", figures.queries);
  report.set("query_letters", figures.query_letters);
  report.set("matches", figures.matches);
  report.set("matched_letters", figures.matched_letters);
  report.set("longest", figures.longest);
  report.set("index_seconds", index_seconds);
  report.set("search_seconds", seconds);
  report.set("verified", output.verify);
  std::string text = fmt::format(
      "{} matches of {} queries with {} letters, the longest of {}; index {:.3f} s, search {:.3f} "
      "s",
      figures.matches, figures.queries, figures.query_letters, figures.longest, index_seconds,
      seconds);
  if (output.verify) text += "\nverified: all matches are equal letter by letter, and maximal";
  job.summarize(output.matches, text);
}

}  // namespace

Command add_matches_command(CLI::App& program) {
  auto command = std::make_shared<MatchesCommand>();
  CLI::App* parser = program.add_subcommand(
      "matches", "Find maximal exact matches between a reference and queries, as mummer does");
  parser->footer(
      "Prints, for each query record and strand, a line \"> NAME\" (\"> NAME Reverse\"), then one "
      "line\n"
      "for each match: its position in the reference, its position in the query, and its length.\n"
      "Positions are counted from 1. A reference of several records has its name in front.\n"
      "mummer -maxmatch, -mumreference, -mum: --kind maximal, unique-in-reference, unique;\n"
      "-l, -b, -r: --min-length, --both-strands, --reverse-only; -n: --only-acgt;\n"
      "-c, -L, -F, -s: --forward-positions, --query-lengths, --reference-names, --letters.");
  add_common_options(*parser, command->common);
  MatchOptions& options = command->options;
  MatchOutput& output = command->output;
  output.matches = "-";
  parser
      ->add_option("REFERENCE", command->reference,
                   "FASTA or FASTQ file (.gz, .zst by content; -: standard input)")
      ->required();
  parser->add_option("QUERY", command->queries, "Files with the queries, read in blocks")
      ->required();
  parser->add_option("-l,--min-length", options.min_length, "Least letters of a match")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->capture_default_str();
  parser
      ->add_option("--kind", command->kind,
                   "maximal: all; unique-in-reference: whose letters occur once in the reference; "
                   "unique: once in the query, too")
      ->check(CLI::IsMember({"maximal", "unique-in-reference", "unique"}))
      ->capture_default_str();
  auto* both = parser->add_flag("--both-strands", command->both_strands,
                                "Search the reverse complements of the queries, too");
  parser
      ->add_flag("--reverse-only", command->reverse_only,
                 "Search the reverse complements of the queries only")
      ->excludes(both);
  parser->add_flag("--only-acgt", options.only_acgt,
                   "Letters other than A, C, G and T match nothing; by default, N matches N");
  parser->add_option("--format", command->format, "mummer, or paf, the format of minimap2")
      ->check(CLI::IsMember({"mummer", "paf"}))
      ->capture_default_str();
  parser->add_flag(
      "--forward-positions", output.forward_positions,
      "Reverse matches: the position of their first letter in the query as it is given");
  parser->add_flag("--query-lengths", output.query_lengths,
                   "Add the length to the lines of queries");
  parser->add_flag("--reference-names", output.reference_names,
                   "The name of the reference record in each match, also if there is one only");
  parser->add_flag("--letters", output.letters, "Add a line with the letters to each match");
  parser->add_option("-o,--output", output.matches, "File of the matches (-: standard output)")
      ->capture_default_str();
  parser->add_option(
      "--statistics", output.statistics,
      "Write the matching statistics: lines NAME STRAND BEGIN END LENGTH; the longest "
      "match from position BEGIN + i on, below END, has LENGTH - i letters");
  parser->add_option("--plot", output.plot, "Write a dot plot of the matches (SVG)");
  parser->add_flag("--dry-run", command->dry_run,
                   "Read the reference, and show the memory that the work takes");
  parser->add_flag(
      "--verify", output.verify,
      "Compare each match letter by letter, and the letters beside it; exit 3 if one is "
      "wrong");
  return make_command(parser, command, run_matches);
}

}  // namespace sortie::cli
