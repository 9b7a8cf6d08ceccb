// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "sortie/fasta.hpp"
#include "sortie/genome_index.hpp"
#include "sortie/genome_matches.hpp"
#include "sortie/kmer_count.hpp"
#include "tests/contract/entry_points.hpp"
#include "tests/contract/operands.hpp"

namespace sortie::test {
namespace {

std::vector<std::string> kmer_files() {
  return {operands().sequence_file};
}

kmers::CountOptions kmer_options() {
  kmers::CountOptions options;
  options.k = 10;  // of the letters, some are no bases
  options.checksum = true;
  return options;
}

/// Hash of the table that a call writes.
std::uint64_t hash_of_table(const std::function<void(const std::string& path)>& write) {
  const std::string path = operands().folder.path("kmers");
  write(path);
  return hash_of_file(path);
}

/// A table that calls read.
std::string table_file() {
  static const std::string path = [] {
    std::string made = operands().folder.path("made.kmers");
    kmers::count_kmers({}, kmer_files(), kmer_options(), made);
    return made;
  }();
  return path;
}

std::vector<EntryPoint> rows_of_kmers() {
  return {
      {.name = "count_kmers",
       .call =
           [](const Context& context) {
             return hash_of_table([&](const std::string& path) {
               kmers::count_kmers(context, kmer_files(), kmer_options(), path);
             });
           },
       .phases = {"read", "scan", "partition", "count"},
       .own_threads = true},
      {.name = "check_kmers",
       .call =
           [](const Context& context) {
             static const kmers::KmerFigures figures =
                 kmers::count_kmers({}, kmer_files(), kmer_options(), "");
             kmers::check_kmers(context, kmer_files(), kmer_options(), figures);
             return figures.checksum;
           },
       .phases = {"verify"},
       .own_threads = true},
      {.name = "combine_tables",
       .call =
           [](const Context& context) {
             return hash_of_table([&](const std::string& path) {
               kmers::combine_tables(context, kmers::TableOperation::unite, table_file(),
                                     table_file(), {}, kmers::TableFormat::text, path);
             });
           },
       .phases = {"combine"},
       .small_budget = SmallBudget::constant,
       .own_threads = true},
  };
}

/// An index of a small genome, for bwa and bwa-mem2.
std::pair<std::string, genomes::GenomeIndexOptions> genome() {
  static const std::string fasta =
      operands().folder.write("genome.fa", ">a\nACGTTGCATTACAGATTACANNNACGATTACA\n");
  genomes::GenomeIndexOptions options;
  options.formats = {"bwa", "bwa-mem2"};
  options.prefix = operands().folder.path("genome");
  return {fasta, options};
}

std::vector<EntryPoint> rows_of_genome_indexes() {
  return {
      {.name = "write_genome_index",
       .call =
           [](const Context& context) {
             const auto [fasta, options] = genome();
             genomes::write_genome_index(context, fasta, options);
             return hash_of_file(options.prefix + ".bwt") +
                    hash_of_file(options.prefix + ".bwt.2bit.64");
           },
       .phases = {"read", "bwa"}},
      {.name = "check_genome_index",
       .call =
           [](const Context& context) {
             const auto [fasta, options] = genome();
             if (!std::filesystem::exists(options.prefix + ".sa"))
               genomes::write_genome_index({}, fasta, options);
             return genomes::check_genome_index(context, fasta, options).letters;
           },
       .phases = {"read", "bwa"}},
      {.name = "plan_genome_index",
       .call =
           [](const Context& context) {
             const auto [fasta, options] = genome();
             return genomes::plan_genome_index(context, fasta, options).letters;
           },
       .phases = {"read"}},
  };
}

genome_matches::MatchIndex match_index(const Context& context, genome_matches::Kind kind) {
  return {context, sequences::read_fasta({}, operands().sequence_file), {.kind = kind}};
}

std::vector<EntryPoint> rows_of_matches() {
  using namespace genome_matches;
  const auto row_of = [](Kind kind) {
    return EntryPoint{.name = fmt::format("MatchIndex of {} matches", name(kind)),
                      .call =
                          [kind](const Context& context) {
                            const MatchIndex index = match_index(context, kind);
                            std::vector<std::uint64_t> found;
                            for (const Match& match : index.find(index.reference().symbols))
                              found.push_back(match.query ^ match.reference ^ match.length);
                            return hash(found);
                          },
                      .phases = {"index"}};
  };
  return {row_of(Kind::maximal),
          row_of(Kind::unique),
          {.name = "write_matches",
           .call =
               [](const Context& context) {
                 const TemporaryFolder folder;
                 (void)write_matches(context, match_index({}, Kind::unique),
                                     std::vector{operands().sequence_file},
                                     {.strands = Strands::both, .matches = folder.path("matches")});
                 return hash_of_file(folder.path("matches"));
               },
           .phases = {"matches"},
           .own_threads = true}};
}

}  // namespace

std::vector<EntryPoint> entry_points_of_genomes() {
  std::vector<EntryPoint> all = rows_of_genome_indexes();
  for (const auto& more : {rows_of_matches(), rows_of_kmers()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace sortie::test
