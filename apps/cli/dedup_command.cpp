// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "apps/cli/command.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "sortie/text_deduplication.hpp"

namespace sortie::cli {
namespace {

using namespace texts;

struct DedupCommand {
  CommonOptions common;
  std::vector<std::string> files;
  std::vector<std::string> others;
  CorpusOptions corpus;
  CorpusDeduplicationOptions options;
  std::string keep = "none";
  std::string format = "auto";
  std::string ranges_format = "plain";
  std::string ranges;
  std::string mirror;
  std::string output;
  std::string report;
  std::string picture;
  CleaningOptions cleaning;
  int gpus = 0;
  bool split_characters = false;
  bool verify = false;
  bool dry_run = false;
};

/// Files whose content is written. They get their names when the cleaned corpus has its own.
using PreparedFiles = std::vector<std::unique_ptr<WholeFile>>;

/// Writes ranges of the bytes [offset, end), less the offset.
void write_ranges(PreparedFiles& files, const std::string& path, const std::string& format,
                  const CorpusDeduplication& found, std::uint64_t offset, std::uint64_t end) {
  if (path.empty()) return;
  WholeFile& file = *files.emplace_back(std::make_unique<WholeFile>(path));
  fmt::memory_buffer line;
  const auto& begins = found.begins;
  const auto first =
      static_cast<std::size_t>(std::ranges::lower_bound(begins, offset) - begins.begin());
  bool is_first = true;
  for (const ByteRange& range : found.result.ranges) {
    if (range.begin < offset || range.begin >= end) continue;
    line.clear();
    auto out = std::back_inserter(line);
    if (format == "documents") {
      auto document = static_cast<std::size_t>(std::ranges::upper_bound(begins, range.begin) -
                                               begins.begin() - 1);
      for (; document + 1 < begins.size() && begins[document] < range.end; ++document) {
        const std::uint64_t from = std::max(range.begin, begins[document]) - begins[document];
        const std::uint64_t to = std::min(range.end, begins[document + 1]) - begins[document];
        if (from < to) fmt::format_to(out, "{} {} {}\n", document - first, from, to);
      }
    } else {
      if (format == "g" && is_first) fmt::format_to(out, "out\n");
      fmt::format_to(out, "{} {}\n", range.begin - offset, range.end - offset);
    }
    is_first = false;
    file.write(std::string_view(line.data(), line.size()));
  }
  file.flush();
}

/// Bounds and counts of the elements that are not 0.
nlohmann::json json_of(const PowerHistogram& histogram) {
  auto rows = nlohmann::json::array();
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    if (histogram[i] == 0) continue;
    rows.push_back({{"from", std::uint64_t{1} << i},
                    {"to", (std::uint64_t{2} << i) - 1},
                    {"count", histogram[i]}});
  }
  return rows;
}

nlohmann::json passages_of(const CorpusDeduplication& found, const CorpusStream& corpus) {
  auto rows = nlohmann::json::array();
  for (std::size_t i = 0; i < found.result.passages.size(); ++i) {
    const Passage& passage = found.result.passages[i];
    const auto document = static_cast<std::uint64_t>(
        std::ranges::upper_bound(found.begins, passage.begin) - found.begins.begin() - 1);
    const CorpusFile& file = corpus.files()[file_of(corpus.files(), document)];
    rows.push_back({{"copies", passage.copies},
                    {"bytes", passage.end - passage.begin},
                    {"begin", passage.begin},
                    {"end", passage.end},
                    {"file", file.path},
                    {"document", document - file.first_document},
                    {"offset", passage.begin - found.begins[document]},
                    {"text", found.excerpts[i]}});
  }
  return rows;
}

void write_report(PreparedFiles& files, const DedupCommand& command,
                  const CorpusDeduplication& found, const CorpusStream& corpus) {
  if (command.report.empty()) return;
  const Deduplication& result = found.result;
  const nlohmann::json report = {
      {"min_length", command.options.windows.min_length},
      {"keep", command.keep},
      {"text_bytes", result.text_bytes},
      {"documents", result.documents},
      {"ranges", result.ranges.size()},
      {"bytes_removed", result.bytes_removed},
      {"documents_changed", result.documents_changed},
      {"documents_emptied", result.documents_emptied},
      {"duplicate_windows", result.duplicate_windows},
      {"range_lengths", json_of(result.range_lengths)},
      {"windows_by_copies", json_of(result.copies)},
      {"least_copies_of_passages", result.least_copies_of_passages},
      {"passages", passages_of(found, corpus)},
  };
  WholeFile& file = *files.emplace_back(std::make_unique<WholeFile>(command.report));
  // Excerpts may end within a character.
  file.write(report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  file.flush();
}

/// Bars of a histogram, as high as the logarithm of the counts. \param left  edge of the picture
std::string bars_of(const PowerHistogram& histogram, std::string_view title, double left) {
  constexpr double width = 14;
  constexpr double height = 12;  // of a power of two
  constexpr double bottom = 560;
  std::string text = fmt::format(R"(<text x="{}" y="24" font-size="16">{}</text>)", left, title);
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    if (histogram[i] == 0) continue;
    const double x = left + width * static_cast<double>(i);
    const double bar = height * (1 + std::log2(static_cast<double>(histogram[i])));
    const std::uint64_t from = std::uint64_t{1} << i;
    text += fmt::format(R"(<rect x="{:.0f}" y="{:.1f}" width="{:.0f}" height="{:.1f}">)"
                        "<title>from {}: {}</title></rect>",
                        x, bottom - bar, width - 2, bar, from, histogram[i]);
    const auto add_label = [&](double right, double y, int turn, std::uint64_t number) {
      text += fmt::format("<text transform='translate({:.0f},{:.1f}) rotate({})'>{}</text>", right,
                          y, turn, number);
    };
    add_label(x + 2, bottom + 6, 90, from);
    add_label(x + 10, bottom - bar - 4, -90, histogram[i]);
  }
  return text + "\n";
}

/// The histograms of the report as a picture.
void write_picture(PreparedFiles& files, const std::string& path, const Deduplication& result) {
  if (path.empty()) return;
  WholeFile& file = *files.emplace_back(std::make_unique<WholeFile>(path));
  file.write(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1240 680" )"
             R"(font-family="sans-serif" font-size="10" fill="#345">)"
             "\n");
  file.write(bars_of(result.range_lengths, "Removed ranges by length in bytes, from", 20));
  file.write(bars_of(result.copies, "Duplicate windows by number of copies, from", 640));
  file.write("</svg>\n");
  file.flush();
}

void write_outputs(Job& job, const DedupCommand& command, const CorpusDeduplication& found,
                   CorpusStream& corpus) {
  const PhaseTimer timer(job.context(), "write");
  const std::uint64_t other_begin = found.result.other_begin;
  PreparedFiles files;
  write_ranges(files, command.ranges, command.ranges_format, found, 0, other_begin);
  write_ranges(files, command.mirror, command.ranges_format, found, other_begin,
               found.result.text_bytes);
  write_report(files, command, found, corpus);
  write_picture(files, command.picture, found.result);
  if (!command.output.empty()) {
    const auto& ranges = found.result.ranges;
    const auto end = std::ranges::lower_bound(ranges, other_begin, {}, &ByteRange::begin);
    const std::vector<ByteRange> removed(ranges.begin(), end);
    const HostContext context = job.reading_context();
    std::unique_ptr<CorpusStream> first;
    if (!command.others.empty()) {
      first = std::make_unique<CorpusStream>(context, command.files, command.corpus);
      first->pass({});
    }
    (void)write_cleaned_corpus(context, first ? *first : corpus, removed, command.output,
                               command.cleaning);
  }
  for (const auto& file : files) file->prepare();
  for (const auto& file : files) file->commit();
}

std::string describe(const DeduplicationPlan& plan) {
  std::string text =
      fmt::format("{} of text in {} documents: ", format_bytes(plan.text_bytes), plan.documents);
  const std::string passes =
      fmt::format("{} {}", plan.passes, plan.passes == 1 ? "pass" : "passes");
  if (plan.in_memory)
    return text + fmt::format("in memory, {} over the anchors, {} of memory", passes,
                              format_bytes(plan.memory));
  text += fmt::format("in {} over the corpus after one that counts, {} of memory", passes,
                      format_bytes(plan.memory));
  if (plan.disk != 0)
    text += fmt::format(", up to {} of disk for the state", format_bytes(plan.disk));
  return text;
}

/// Where the state of a job that is killed is kept: beside its output.
std::string state_path_of(const DedupCommand& command) {
  for (std::string path : {command.output, command.ranges}) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    if (!path.empty() && !is_stream(path)) return path + ".dedup-state";
  }
  return "";
}

/// Removes the state of a job that found the corpus changed since its first pass. Other failures leave it,
/// as a kill does: the same command may end after a repair, such as of a full disk.
void remove_useless_state(const std::string& path, const CorpusStream& corpus, const Error& error) {
  const bool has_passed = corpus.text_bytes() != 0;
  std::error_code ignored;
  if (error.kind() == ErrorKind::input && has_passed && !path.empty())
    std::filesystem::remove(path, ignored);
}

void require_outputs(const Job& job, const DedupCommand& command) {
  const bool is_folder = command.files.size() > 1;
  for (const std::string* path :
       {&command.ranges, &command.mirror, &command.report, &command.picture})
    job.announce_output(*path);
  if (!is_folder) job.announce_output(command.output);
  const std::string* const outputs[] = {&command.output, &command.ranges, &command.mirror,
                                        &command.report, &command.picture};
  if (!command.output.empty() && std::ranges::count(command.files, "-") != 0)
    throw Error(ErrorKind::usage,
                "found standard input with --output, expected files, which are read twice");
  if (std::ranges::count_if(outputs, [](const std::string* path) { return *path == "-"; }) > 1)
    throw Error(ErrorKind::usage, "found two results for standard output, expected at most one");
}

void report_figures(Job& job, const DedupCommand& command, const CorpusDeduplication& found,
                    double seconds) {
  const Deduplication& result = found.result;
  RunReport& report = job.report();
  report.set("text_bytes", result.text_bytes);
  report.set("documents", result.documents);
  report.set("min_length", command.options.windows.min_length);
  report.set("in_memory", found.plan.in_memory);
  report.set("passes", found.plan.passes);
  report.set("resumed_passes", found.resumed_passes);
  report.set("ranges", std::uint64_t{result.ranges.size()});
  report.set("bytes_removed", result.bytes_removed);
  report.set("duplicate_windows", result.duplicate_windows);
  report.set("documents_changed", result.documents_changed);
  report.set("documents_emptied", result.documents_emptied);
  report.set("dedup_seconds", seconds);
  report.set("verified", command.verify);
}

/// Before the text is read, since the device starts beside that.
void choose_backend(Job& job, const DedupCommand& command) {
  if (command.gpus > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("found --gpus {}, expected 1 for dedup", command.gpus));
  }
  if (command.gpus > 0) choose_devices(job, command.common);
  if (!job.may_choose_backend()) return;
  std::uint64_t bytes = 0;
  for (const std::string& path : command.files) bytes += estimated_symbols(path.c_str());
  constexpr double reading_rate = 500e6;
  job.choose_backend(deduplication_seconds(bytes, static_cast<double>(bytes) / reading_rate,
                                           threads_of(job.reading_context())));
}

void run_dedup(Job& job, const DedupCommand& given) {
  DedupCommand command = given;
  CorpusDeduplicationOptions& options = command.options;
  options.windows.keep = parse_keep(command.keep);
  options.windows.whole_characters = !command.split_characters;
  command.corpus.format = parse_format(command.format);
  command.corpus.split_documents = true;
  command.corpus.keep_content = !command.output.empty();
  if (!command.mirror.empty() && command.others.empty())
    throw Error(ErrorKind::usage, "found --mirror, expected --against with it");
  if (!command.dry_run) require_outputs(job, command);
  command.files = expand_paths(command.files);
  choose_backend(job, command);
  std::vector<std::string> paths = command.files;
  if (!command.others.empty()) {
    options.other_file = paths.size();
    const std::vector<std::string> others = expand_paths(command.others);
    paths.insert(paths.end(), others.begin(), others.end());
  }
  options.state_file = state_path_of(command);
  options.plan_only = command.dry_run;
  options.announce = [&](const DeduplicationPlan& plan) { job.say(describe(plan)); };
  // A quarter to an eighth of the budget is for the blocks that are read, which are small enough
  // for large documents to fit, too: each thread holds three blocks of the size of its document.
  constexpr std::uint64_t usual_reading = std::uint64_t{256} << 20;
  HostContext reading = job.reading_context();
  reading.memory_budget = job.memory_budget();
  reading.memory_budget =
      std::min(reading.memory_budget / 4, std::max(reading.memory_budget / 8, usual_reading));
  if (reading.memory_budget != 0) {
    command.corpus.block_bytes =
        std::clamp<std::size_t>(reading.memory_budget / 64, 4096, command.corpus.block_bytes);
  }
  Context finding{job.reading_context(), Backend::host, command.common.device};
  finding.memory_budget = job.memory_budget() - reading.memory_budget;
  options.backend = [&] {
    // A text that does not fit on the device is left to the host, unless the command line names it.
    const Backend chosen = job.context().backend;
    const bool is_open = command.common.backend == name(Backend::automatic) && command.gpus == 0;
    return is_open && chosen == Backend::cuda ? Backend::automatic : chosen;
  };
  CorpusStream corpus(reading, paths, command.corpus);
  CorpusDeduplication found;
  double seconds = 0;
  try {
    seconds =
        job.repeated("deduplication", [&] { found = find_duplicates(finding, corpus, options); });
  } catch (const Error& error) {
    remove_useless_state(options.state_file, corpus, error);
    throw;
  }
  if (command.dry_run) {
    RunReport& report = job.report();
    report.set("dry_run", true);
    report.set("text_bytes", found.plan.text_bytes);
    report.set("documents", found.plan.documents);
    report.set("in_memory", found.plan.in_memory);
    report.set("passes", found.plan.passes);
    report.set("memory", found.plan.memory);
    report.set("disk", found.plan.disk);
    job.summarize("", describe(found.plan));
    return;
  }
  if (command.verify) {
    if (!found.plan.in_memory) {
      throw Error(ErrorKind::out_of_memory,
                  "--verify: found a text larger than memory, expected it to fit");
    }
    DeduplicationOptions windows = options.windows;
    if (!command.others.empty())
      windows.other_corpus = corpus.files()[options.other_file].first_document;
    check_duplicates(job.host_context(), found.text(), found.begins, windows, found.result);
  }
  found.storage.reset();
  try {
    write_outputs(job, command, found, corpus);
  } catch (const Error& error) {
    remove_useless_state(options.state_file, corpus, error);
    throw;
  }
  if (!options.state_file.empty()) std::filesystem::remove(options.state_file);
  report_figures(job, command, found, seconds);
  const Deduplication& result = found.result;
  const auto removed = static_cast<double>(result.bytes_removed);
  std::string text = fmt::format(
      "{} of {} bytes ({:.2f} %) in {} ranges of {} documents, {} of them as a whole; {:.3f} s",
      result.bytes_removed, result.text_bytes,
      result.text_bytes == 0 ? 0.0 : 100 * removed / static_cast<double>(result.text_bytes),
      result.ranges.size(), result.documents_changed, result.documents_emptied, seconds);
  if (found.resumed_passes != 0)
    text +=
        fmt::format("\n{} of {} passes were done before", found.resumed_passes, found.plan.passes);
  if (command.verify) text += "\nverified: sorting the hashes of all windows gives the same ranges";
  job.summarize(command.output + command.ranges + command.report + command.picture, text);
}

}  // namespace

Command add_dedup_command(CLI::App& program) {
  auto command = std::make_shared<DedupCommand>();
  CLI::App* parser = program.add_subcommand(
      "dedup", "Remove passages of texts that occur more than once (exact deduplication)");
  parser->footer(
      "A window is the L bytes from a place on; windows that occur twice are removed. Files are\n"
      "plain text, one document each, or JSONL, one document on each line; .gz and .zst by "
      "content.\n"
      "RANGES has lines \"BEGIN END\": half-open bytes of all documents' text, one after the "
      "other.");
  add_common_options(*parser, command->common);
  add_gpus_option(*parser, command->gpus);
  DeduplicationOptions& windows = command->options.windows;
  parser
      ->add_option("FILE", command->files,
                   "Text or JSONL files (-: standard input; @LIST: paths in a file)")
      ->required();
  parser->add_option("--min-length", windows.min_length, "L: bytes of a window")
      ->check(CLI::Range(std::uint64_t{1}, most_min_length))
      ->capture_default_str();
  parser->add_option("--keep", command->keep, "none: remove all copies; first: all but the first")
      ->check(CLI::IsMember({"none", "first"}))
      ->capture_default_str();
  parser->add_flag("--protect-first", windows.protect_first,
                   "With --keep first: never remove bytes of first copies, not even where they are "
                   "part of later copies of other windows");
  parser->add_option("--field", command->corpus.field, "Field of JSONL with the text")
      ->capture_default_str();
  parser->add_option("--format", command->format, "Of the files")
      ->check(CLI::IsMember({"auto", "plain", "jsonl"}))
      ->capture_default_str();
  parser->add_option("--ranges", command->ranges,
                     "Write the removed ranges to this file (-: standard output)");
  parser
      ->add_option("--ranges-format", command->ranges_format,
                   "plain: \"BEGIN END\"; g: after a line \"out\"; documents: \"DOCUMENT BEGIN "
                   "END\", documents from 0, bytes of the document")
      ->check(CLI::IsMember({"plain", "g", "documents"}))
      ->capture_default_str();
  parser->add_option("-o,--output", command->output,
                     "Write the files without the ranges: a file, or a folder for several");
  parser->add_flag("--annotate", command->cleaning.annotate,
                   "Write JSONL with the ranges in a further field, and remove nothing");
  parser->add_option("--annotation", command->cleaning.annotation, "Name of that field")
      ->capture_default_str();
  parser->add_flag("--drop-empty", command->cleaning.drop_empty,
                   "Leave out lines of JSONL whose text is removed as a whole");
  parser
      ->add_option(
          "--against", command->others,
          "Remove from FILE what occurs in these files, and nothing else (may be repeated)")
      ->allow_extra_args(false);
  parser->add_option("--mirror", command->mirror,
                     "With --against: write the ranges of those files that occur in FILE");
  parser->add_flag("--across-documents", windows.across_documents,
                   "Windows may cross the borders of documents");
  parser->add_flag("--split-characters", command->split_characters,
                   "Do not reduce ranges to whole UTF-8 characters");
  parser->add_flag("--refuse-invalid-utf8", command->corpus.refuse_invalid_utf8,
                   "Fail if a document is not UTF-8");
  parser
      ->add_option("--min-island", windows.min_island,
                   "Remove what remains between two ranges, or a range and the border of its "
                   "document, if it has fewer bytes")
      ->capture_default_str();
  parser->add_option("--report", command->report,
                     "Write histograms and the 100 most repeated passages to this file (JSON)");
  parser->add_option("--picture", command->picture, "Write the histograms to this file (SVG)");
  parser->add_flag("--dry-run", command->dry_run,
                   "Read the files, and show the memory, disk and passes that the work takes");
  parser->add_flag("--verify", command->verify,
                   "Compare with a plain algorithm; exit 3 if the ranges differ");
  return make_command(parser, command, run_dedup);
}

}  // namespace sortie::cli
