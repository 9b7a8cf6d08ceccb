// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/command.hpp"
#include "core/files/byte_source.hpp"
#include "core/files/whole_file.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "sortie/index_search.hpp"

namespace sortie::cli {
namespace {

using indexing::Hit;

struct SearchCommand {
  CommonOptions common;
  std::string path;
  std::vector<std::string> words;
  std::string queries;
  std::string output = "-";
  indexing::Bm25Options ranking;
  double share = 1;
  bool boolean = false;
  bool has_top = false;
  bool verify = false;
};

struct Query {
  std::string name;
  std::string text;
};

/// The query of the command line, and those of the file: lines, or for k-mers FASTA and FASTQ.
std::vector<Query> read_queries(Job& job, const SearchCommand& command, bool of_kmers) {
  std::vector<Query> queries;
  const auto next_name = [&] { return std::to_string(queries.size() + 1); };
  if (!command.words.empty()) {
    std::string text;
    for (const std::string& word : command.words) text += (text.empty() ? "" : " ") + word;
    queries.push_back({next_name(), text});
  }
  if (!command.queries.empty() && of_kmers) {
    const sequences::Text text = sequences::read_fasta(job.host_context(), command.queries);
    for (const sequences::Record& record : text.records) {
      const std::string word = record.name.substr(0, record.name.find_first_of(" \t"));
      const char* const letters =
          reinterpret_cast<const char*>(text.symbols.data()) + record.offset;
      queries.push_back({word.empty() ? next_name() : word, {letters, letters + record.length}});
    }
  } else if (!command.queries.empty()) {
    const ByteBuffer content = read_all(command.queries);
    std::string_view rest(content.data.get(), content.size);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      queries.push_back({next_name(), std::string(line)});
    }
  }
  if (queries.empty()) throw Error(ErrorKind::usage, "found no query, expected QUERY or --queries");
  return queries;
}

std::vector<Hit> search(const indexing::InvertedIndex& index, const SearchCommand& command,
                        const std::string& query) {
  if (index.kmer_length() > 0) {
    std::vector<Hit> hits = indexing::search_kmers(index, query, command.share);
    if (command.has_top && hits.size() > command.ranking.top) hits.resize(command.ranking.top);
    return hits;
  }
  if (!command.boolean) {
    std::vector<Hit> hits = indexing::search_bm25(index, query, command.ranking);
    if (command.verify) indexing::check_bm25(index, query, command.ranking, hits);
    return hits;
  }
  const std::uint64_t most = command.has_top ? command.ranking.top : ~std::uint64_t{0};
  const std::vector<std::uint32_t> documents = indexing::search_boolean(index, query, most);
  if (command.verify) indexing::check_boolean(index, query, most, documents);
  std::vector<Hit> hits;
  for (const std::uint32_t document : documents) hits.push_back({document, 0});
  return hits;
}

void run_search(Job& job, const SearchCommand& command) {
  job.announce_output(command.output);
  job.choose_backend(Backend::host, "searches run on the host");
  const indexing::InvertedIndex index(command.path);
  const bool of_kmers = index.kmer_length() > 0;
  if (of_kmers && command.boolean)
    throw Error(ErrorKind::usage,
                fmt::format("{}: found an index of k-mers, expected one of words, "
                            "which --boolean requires",
                            command.path));
  if (of_kmers && command.verify)
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: found --verify with an index of k-mers, whose search is a plain count, "
                    "expected one of words",
                    command.path));
  const std::vector<Query> queries = read_queries(job, command, of_kmers);
  WholeFile output(command.output);
  std::uint64_t found = 0;
  std::vector<double> milliseconds;
  {
    const PhaseTimer timer(job.context(), "search");
    for (const Query& query : queries) {
      const auto start = std::chrono::steady_clock::now();
      const std::vector<Hit> hits = search(index, command, query.text);
      milliseconds.push_back(1e3 * seconds_since(start));
      found += hits.size();
      std::uint64_t rank = 0;
      for (const Hit& hit : hits) {
        const std::string name = index.document_name(hit.document);
        output.write(command.boolean ? fmt::format("{}\t{}\n", query.name, name)
                                     : fmt::format("{}\t{}\t{}\t{:.6f}\n", query.name, ++rank, name,
                                                   hit.score));
      }
    }
    output.commit();
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  RunReport& report = job.report();
  report.set("queries", static_cast<std::uint64_t>(queries.size()));
  report.set("hits", found);
  report.set("documents", index.documents());
  report.set("median_milliseconds", milliseconds[milliseconds.size() / 2]);
  report.set("longest_milliseconds", milliseconds.back());
  job.summarize(
      command.output,
      fmt::format("{} hits of {} queries in {} documents, median {:.3f} ms", found, queries.size(),
                  index.documents(), milliseconds[milliseconds.size() / 2]));
}

}  // namespace

Command add_search_command(CLI::App& program) {
  auto command = std::make_shared<SearchCommand>();
  CLI::App* parser = program.add_subcommand("search", "Search in an inverted index");
  add_common_options(*parser, command->common);
  parser->add_option("INDEX", command->path, "File of sortie inverted-index")->required();
  parser->add_option("QUERY", command->words,
                     "Words; with --boolean an expression of words, AND, OR, NOT, parentheses and "
                     "\"words that follow each other\"; for k-mers a sequence");
  parser->add_option("--queries", command->queries,
                     "Further queries, one on each line; for k-mers FASTA or FASTQ; -: standard "
                     "input");
  parser
      ->add_option("-o,--output", command->output,
                   "Write lines of query, rank, document and score, separated by tabs; with "
                   "--boolean of query and document (-: standard output)")
      ->capture_default_str();
  auto* boolean = parser->add_flag("--boolean", command->boolean,
                                   "All documents that satisfy the expression, in their order");
  auto* top = parser->add_option("--top", command->ranking.top, "Most documents of a query")
                  ->capture_default_str();
  top->each([command](const std::string&) { command->has_top = true; });
  parser->add_option("--k1", command->ranking.k1, "Of BM25: weight of frequencies")
      ->excludes(boolean)
      ->capture_default_str();
  parser->add_option("--b", command->ranking.b, "Of BM25: weight of lengths, from 0 to 1")
      ->excludes(boolean)
      ->capture_default_str();
  parser
      ->add_option("--share", command->share,
                   "Of k-mers: the least share of the query's distinct k-mers")
      ->excludes(boolean)
      ->capture_default_str();
  parser->add_flag("--verify", command->verify,
                   "Compare with a search through whole lists; exit 3 if the results differ");
  return make_command(parser, command, run_search);
}

}  // namespace sortie::cli
