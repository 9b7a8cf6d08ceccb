// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "sortie/kmer_count.hpp"

namespace sortie::cli {
namespace {

using kmers::KmerFigures;
using kmers::TableOperation;

struct KmersCommand {
  CommonOptions common;
  std::vector<std::string> files;
  kmers::CountOptions options;
  std::string format = "text";
  std::string output;
  std::string histogram;
  std::string picture;
  bool forward = false;
  bool intersect = false;
  bool subtract = false;
  bool unite = false;
  bool dry_run = false;
  bool verify = false;
};

std::string lines_of(const kmers::CountHistogram& histogram) {
  fmt::memory_buffer text;
  for (const auto& [count, number] : histogram)
    fmt::format_to(std::back_inserter(text), "{} {}\n", count, number);
  return fmt::to_string(text);
}

/// The histogram as bars, as high as the logarithm of the numbers. Counts above the last bar are
/// in it: the bars reach the count below which 99 of 100 k-mers that occur twice are.
std::string picture_of(const KmerFigures& figures) {
  constexpr double most_bars = 400;
  constexpr double width = 1200;
  constexpr double bottom = 420;
  constexpr double height = 380;
  std::uint64_t most = 16;
  std::uint64_t seen = 0;
  for (const auto& [count, number] : figures.histogram) {
    if (count < 2) continue;
    seen += number;
    most = std::max(most, std::min(count, static_cast<std::uint64_t>(most_bars)));
    if (seen * 100 >= (figures.distinct - figures.once) * 99) break;
  }
  std::vector<std::uint64_t> bars(static_cast<std::size_t>(most));
  for (const auto& [count, number] : figures.histogram) bars[std::min(count, most) - 1] += number;
  const double highest =
      std::log10(1.0 + static_cast<double>(bars.empty() ? 0 : *std::ranges::max_element(bars)));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} 480\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#345\">\n"
      "<text x=\"60\" y=\"20\" font-size=\"16\">Distinct k-mers by their number of occurrences "
      "(logarithmic)</text>\n",
      width + 80);
  for (int power = 0; power <= static_cast<int>(highest); ++power) {
    const double y = bottom - height * std::log10(1 + std::pow(10, power)) / std::max(highest, 1.0);
    text += fmt::format(
        "<text x=\"54\" y=\"{:.1f}\" text-anchor=\"end\">10<tspan dy=\"-5\" font-size=\"9\">{}"
        "</tspan></text><path d=\"M58 {:.1f}h{:.0f}\" stroke=\"#ccd\"/>\n",
        y + 4, power, y, width);
  }
  const double step = width / static_cast<double>(most);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double x = 60 + step * static_cast<double>(i);
    const double bar =
        height * std::log10(1.0 + static_cast<double>(bars[i])) / std::max(highest, 1.0);
    const std::string_view more = i + 1 == bars.size() ? " and more" : "";
    text += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\"><title>{}{}: {}"
        "</title></rect>\n",
        x, bottom - bar, std::max(0.5, step * 0.85), bar, i + 1, more, bars[i]);
    if (i == 0 || (i + 1) % std::max<std::size_t>(1, bars.size() / 20) == 0)
      text += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                          x + step / 2, bottom + 18, i + 1);
  }
  return text + "</svg>\n";
}

std::optional<TableOperation> operation_of(const KmersCommand& command) {
  if (command.intersect) return TableOperation::intersect;
  if (command.subtract) return TableOperation::subtract;
  if (command.unite) return TableOperation::unite;
  return {};
}

void require_files(const Job& job, const KmersCommand& command, bool combines) {
  const std::string* const outputs[] = {&command.output, &command.histogram, &command.picture};
  for (const std::string* path : outputs) job.announce_output(*path);
  if (std::ranges::count_if(outputs, [](const std::string* path) { return *path == "-"; }) > 1)
    throw Error(ErrorKind::usage, "found two results for standard output, expected at most one");
  if (combines && command.files.size() != 2) {
    throw Error(ErrorKind::usage, fmt::format("found {} tables, expected two of which a third is "
                                              "made",
                                              command.files.size()));
  }
  if ((command.verify || command.common.repeat > 1) && std::ranges::count(command.files, "-") != 0)
    throw Error(ErrorKind::usage,
                "found standard input with --verify or --repeat, expected files, which can be read "
                "again");
}

std::string describe(const kmers::CountPlan& plan) {
  std::string text = fmt::format("{} k-mers, {} of packed letters, {} {}, {} of memory", plan.kmers,
                                 format_bytes(plan.packed_bytes), plan.passes,
                                 plan.passes == 1 ? "pass" : "passes", format_bytes(plan.memory));
  if (plan.spilled_bytes != 0)
    text += fmt::format(", {} of disk", format_bytes(plan.spilled_bytes));
  return text;
}

void report_plan(RunReport& report, const kmers::CountPlan& plan) {
  report.set("planned_kmers", plan.kmers);
  report.set("packed_bytes", plan.packed_bytes);
  report.set("spilled_bytes", plan.spilled_bytes);
  report.set("passes", plan.passes);
  report.set("planned_memory", plan.memory);
}

void run_kmers(Job& job, const KmersCommand& given) {
  KmersCommand command = given;
  kmers::CountOptions& options = command.options;
  options.canonical = !command.forward;
  options.format = kmers::parse_table_format(command.format);
  options.checksum = command.verify;
  options.plan_only = command.dry_run;
  const std::optional<TableOperation> operation = operation_of(command);
  command.files = texts::expand_paths(command.files);
  require_files(job, command, operation.has_value());
  job.choose_backend(Backend::host, "reading and writing take longer than sorting");
  options.announce = [&](const kmers::CountPlan& plan) {
    if (!command.dry_run) job.say(describe(plan));
  };
  options.await_device = [&] { static_cast<void>(job.context()); };
  // A repetition needs the device again.
  if (command.common.repeat == 1) options.release_device = [&] { job.release_device([] {}); };
  // Written when the table is complete, and renamed after it.
  std::vector<std::unique_ptr<WholeFile>> others;
  const auto add_file = [&](const std::string& path, const auto& make) {
    if (path.empty()) return;
    WholeFile& file = *others.emplace_back(std::make_unique<WholeFile>(path));
    file.write(make());
    file.flush();
  };
  const auto finish = [&](const KmerFigures& figures) {
    others.clear();
    add_file(command.histogram, [&] { return lines_of(figures.histogram); });
    add_file(command.picture, [&] { return picture_of(figures); });
    if (command.verify && !operation)
      kmers::check_kmers(job.host_context(), command.files, options, figures);
    for (const auto& file : others) file->prepare();
  };
  KmerFigures figures;
  const double seconds = job.repeated("k-mers", [&] {
    figures = operation ? kmers::combine_tables(job.context(), *operation, command.files[0],
                                                command.files[1], options.counts, options.format,
                                                command.output, finish)
                        : kmers::count_kmers(job.starting_context(), command.files, options,
                                             command.dry_run ? "" : command.output, finish);
  });
  RunReport& report = job.report();
  if (!operation) report_plan(report, figures.plan);
  if (command.dry_run) {
    report.set("dry_run", true);
    job.summarize("", describe(figures.plan));
    return;
  }
  for (const auto& file : others) file->commit();
  if (!operation) report.set("k", static_cast<std::uint64_t>(options.k));
  report.set("kmers", figures.kmers);
  report.set("distinct", figures.distinct);
  report.set("once", figures.once);
  report.set("written", figures.written);
  report.set("table_bytes", figures.table_bytes);
  report.set("kmers_seconds", seconds);
  report.set("verified", command.verify && !operation);
  std::string text = fmt::format("{} k-mers, {} distinct, {} of these occur once; {} in the table",
                                 figures.kmers, figures.distinct, figures.once, figures.written);
  text += fmt::format("; {:.3f} s", seconds);
  if (command.verify) text += "\nverified: a plain algorithm finds the same k-mers";
  job.summarize(command.output + command.histogram + command.picture, text);
}

}  // namespace

Command add_kmers_command(CLI::App& program) {
  auto command = std::make_shared<KmersCommand>();
  CLI::App* parser = program.add_subcommand("kmers", "Count the k-mers of sequences");
  parser->footer(
      "Files are FASTA or FASTQ; .gz and .zst by content. Letters other than A, C, G and T end a\n"
      "k-mer. The table has lines \"KMER<tab>COUNT\" in ascending order. Two tables A and B of "
      "any\n"
      "format are combined by --intersect, --subtract or --union, e.g. sortie kmers --union A B "
      "-o C.");
  add_common_options(*parser, command->common);
  kmers::CountOptions& options = command->options;
  parser
      ->add_option("FILE", command->files,
                   "FASTA or FASTQ files, or two tables (-: standard input; @LIST: paths in a "
                   "file)")
      ->required();
  auto* length = parser->add_option("-k,--length", options.k, "Letters of a k-mer")
                     ->check(CLI::Range(1, kmers::longest_kmer))
                     ->capture_default_str();
  auto* forward = parser->add_flag(
      "--forward", command->forward,
      "Count k-mers as they are; by default one and its reverse complement are the same");
  parser->add_option("--min-count", options.counts.least, "Leave out k-mers that occur less often")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  parser->add_option("--max-count", options.counts.most, "Leave out k-mers that occur more often")
      ->check(CLI::PositiveNumber);
  parser->add_option("-o,--output", command->output,
                     "Write the table to this file (-: standard output)");
  parser
      ->add_option("--format", command->format,
                   "text, kmc: \"KMER<tab>COUNT\"; jellyfish: FASTA with the count as name; "
                   "jellyfish-column: \"KMER COUNT\"")
      ->check(CLI::IsMember({"text", "kmc", "jellyfish", "jellyfish-column"}))
      ->capture_default_str();
  parser->add_option(
      "--histogram", command->histogram,
      "Write lines \"COUNT NUMBER\" to this file: how many k-mers, thresholds aside, "
      "occur that often");
  parser->add_option("--picture", command->picture, "Write the histogram to this file (SVG)");
  auto* dry_run = parser->add_flag("--dry-run", command->dry_run,
                                   "Read the files, and show the memory and passes that counting "
                                   "takes");
  auto* verify = parser->add_flag("--verify", command->verify,
                                  "Compare with a plain algorithm; exit 3 if the counts differ");
  struct Operation {
    const char* name;
    bool& wanted;
    const char* help;
  };
  CLI::Option* before[2] = {};
  std::size_t known = 0;
  for (const auto& [name, wanted, help] :
       {Operation{"--intersect", command->intersect,
                  "Write the k-mers that both tables have, with the lesser count"},
        Operation{"--subtract", command->subtract,
                  "Write the counts of the first table less those of the second, if above 0"},
        Operation{"--union", command->unite,
                  "Write the k-mers of either table, with the sum of the counts"}}) {
    CLI::Option* const flag = parser->add_flag(name, wanted, help);
    for (CLI::Option* const other : {length, forward, dry_run, verify}) flag->excludes(other);
    for (std::size_t i = 0; i < known; ++i) flag->excludes(before[i]);
    if (known < 2) before[known++] = flag;
  }
  return make_command(parser, command, run_kmers);
}

}  // namespace sortie::cli
