// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/entry_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>

#include "apps/suffix_array/program_calls.hpp"
#include "core/files/checksum.hpp"
#include "matrices/generators.hpp"
#include "sortie/burrows_wheeler.hpp"
#include "sortie/corpus.hpp"
#include "sortie/documents.hpp"
#include "sortie/fasta.hpp"
#include "sortie/galerkin.hpp"
#include "sortie/genome_index.hpp"
#include "sortie/genome_matches.hpp"
#include "sortie/graph_clusters.hpp"
#include "sortie/inverted_index.hpp"
#include "sortie/kmer_count.hpp"
#include "sortie/lcp.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/npz.hpp"
#include "sortie/query.hpp"
#include "sortie/segmented_sort.hpp"
#include "sortie/semiring_spgemm.hpp"
#include "sortie/sort.hpp"
#include "sortie/sort_file.hpp"
#include "sortie/sort_records.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_chunks.hpp"
#include "sortie/text_deduplication.hpp"
#include "tests/matrices/npz_builder.hpp"
#include "tests/suffix_array/lcp_definition.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

using Matrix = matrices::Csr<double>;
using Pos = std::uint32_t;

template <class T>
std::uint64_t hash(const std::vector<T>& values, std::uint64_t seed = fnv1a_seed) {
  return extend_fnv1a(seed, values.data(), values.size() * sizeof(T));
}
std::uint64_t hash(const Matrix& matrix, std::uint64_t seed = fnv1a_seed) {
  return hash(matrix.values, hash(matrix.col_idx, hash(matrix.row_ptr, seed)));
}
std::uint64_t hash_of_file(const std::string& path) {
  const std::string content = content_of(path);
  return extend_fnv1a(fnv1a_seed, content.data(), content.size());
}

/// Operands, made without the host runtime.
struct Operands {
  TemporaryFolder folder;

  Matrix matrix = matrices::erdos_renyi<double>(3000, 3000, 8, 1);
  matrices::Pattern<> pattern{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx};
  std::string matrix_file = folder.write("in.mtx", text_of(matrix));
  Matrix graph = groups_of_vertices();
  std::string edge_file = folder.write("in.edges", edges_of(graph));
  std::string npz_file = folder.write("in.npz", npz_of(matrix));

  NamedText text = joined("", {random_letters(30000, 4, 'A', 1), random_letters(9000, 4, 'A', 2)});
  std::vector<Pos> suffixes = reference<Pos>(text.view());
  std::vector<Pos> lcp = lcp_by_definition(text.view(), suffixes);
  std::vector<std::uint64_t> record_begins = {0, 30001};
  std::string sequence_file =
      folder.write("in.fa", ">one\n" + random_letters(900000, 4, 'A', 3) + "\n");
  std::vector<std::uint64_t> pattern_begins = begins_of_patterns();

  std::vector<std::uint64_t> keys = random_keys(200000);
  std::vector<std::uint32_t> values = counted(keys.size());
  std::vector<std::uint32_t> segment_begins = {0, 10, 5000, 100000};
  std::vector<std::uint32_t> segment_ends = {10, 5000, 90000, 200000};

  static std::string text_of(const Matrix& matrix) {
    std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                                   matrix.rows, matrix.cols, matrix.nnz());
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      for (auto i = matrix.row_ptr[row]; i < matrix.row_ptr[row + 1]; ++i) {
        text += fmt::format("{} {} {}\n", row + 1, matrix.col_idx[i] + 1, matrix.values[i]);
      }
    }
    return text;
  }
  /// A graph of groups of ten vertices, each joined with all of its group.
  static Matrix groups_of_vertices() {
    Matrix graph{3000, 3000, {0}, {}, {}};
    for (std::int32_t row = 0; row < 3000; ++row) {
      for (std::int32_t column = row / 10 * 10; column < row / 10 * 10 + 10; ++column) {
        if (column == row) continue;
        graph.col_idx.push_back(column);
        graph.values.push_back(1 + (row + column) % 7);
      }
      graph.row_ptr.push_back(graph.nnz());
    }
    return graph;
  }
  static std::string edges_of(const Matrix& graph) {
    std::string text;
    for (std::int64_t row = 0; row < graph.rows; ++row) {
      for (auto i = graph.row_ptr[row]; i < graph.row_ptr[row + 1]; ++i)
        text += fmt::format("v{} v{} {}\n", row, graph.col_idx[i], graph.values[i]);
    }
    return text;
  }
  /// An archive in the form of SciPy.
  static std::string npz_of(const Matrix& matrix) {
    CsrMembers members;
    members.shape = npy_list<std::int64_t>("<i8", {matrix.rows, matrix.cols});
    members.indptr = npy_list("<i8", matrix.row_ptr);
    members.indices = npy_list("<i4", matrix.col_idx);
    members.data = npy_list("<f8", matrix.values);
    return members.file();
  }
  static std::vector<std::uint64_t> random_keys(std::size_t size) {
    Random random(4);
    std::vector<std::uint64_t> keys(size);
    for (std::uint64_t& key : keys) key = random.next();
    return keys;
  }
  static std::vector<std::uint32_t> counted(std::size_t size) {
    std::vector<std::uint32_t> values(size);
    std::iota(values.begin(), values.end(), 0U);
    return values;
  }
  /// Patterns of eight letters of the text.
  static std::vector<std::uint64_t> begins_of_patterns() {
    std::vector<std::uint64_t> begins(1000);
    for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = 8 * i;
    return begins;
  }
  /// The text in two documents.
  [[nodiscard]] std::vector<std::uint64_t> document_begins() const {
    return {0, record_begins[1], text.symbols.size()};
  }
  [[nodiscard]] suffix_array::PatternView patterns() const {
    return {text.symbols, pattern_begins};
  }
};

const Operands& operands() {
  static const Operands operands;
  return operands;
}

class RecordsInMemory : public sorting::RecordSource {
 public:
  explicit RecordsInMemory(std::span<const std::uint64_t> keys) : keys_(std::as_bytes(keys)) {}
  std::uint64_t read(std::span<char> into) override {
    const std::size_t bytes = std::min(into.size(), keys_.size());
    std::copy_n(reinterpret_cast<const char*>(keys_.data()), bytes, into.data());
    keys_ = keys_.subspan(bytes);
    return bytes / sizeof(std::uint64_t);
  }
  [[nodiscard]] std::optional<std::uint64_t> records() const override { return {}; }

 private:
  std::span<const std::byte> keys_;
};

std::vector<EntryPoint> rows_of_matrices() {
  return {
      {.name = "read_matrix_market",
       .call =
           [](const Context& context) {
             return hash(matrices::read_matrix_market<double>(context, operands().matrix_file));
           },
       .phases = {"read", "parse matrix"}},
      {.name = "write_matrix_market",
       .call =
           [](const Context& context) {
             const std::string path = operands().folder.path("out.mtx");
             matrices::write_matrix_market(context, path, operands().matrix);
             return hash_of_file(path);
           },
       .phases = {"write matrix"},
       .small_budget = SmallBudget::constant},
      {.name = "MatrixMarketRows",
       .call =
           [](const Context& context) {
             const std::string path = operands().folder.path("rows.mtx");
             const Matrix& matrix = operands().matrix;
             matrices::MatrixMarketRows<double, std::int32_t> file(context, path, matrix.rows,
                                                                   matrix.cols);
             file.append(matrix);
             file.commit();
             return hash_of_file(path);
           },
       .phases = {"write matrix"},
       .small_budget = SmallBudget::constant},
      {.name = "read_npz",
       .call =
           [](const Context& context) {
             return hash(matrices::read_npz<double>(context, operands().npz_file));
           },
       .phases = {"read", "parse matrix"}},
      {.name = "write_npz",
       .call =
           [](const Context& context) {
             const std::string path = operands().folder.path("out.npz");
             matrices::write_npz(context, path, operands().matrix);
             return hash_of_file(path);
           },
       .phases = {"write matrix"},
       .small_budget = SmallBudget::constant},
      {.name = "NpzRows",
       .call =
           [](const Context& context) {
             const std::string path = operands().folder.path("rows.npz");
             const Matrix& matrix = operands().matrix;
             matrices::NpzRows<double> file(context, path, matrix.rows, matrix.cols);
             file.append(matrix);
             file.commit();
             return hash_of_file(path);
           },
       .phases = {"write matrix"}},
      {.name = "multiply",
       .call =
           [](const Context& context) {
             return hash(spgemm::multiply(context, operands().matrix, operands().matrix));
           },
       .phases = {"analysis", "accumulation"}},
      {.name = "multiply by essc",
       .call =
           [](const Context& context) {
             return hash(spgemm::multiply(context, operands().matrix, operands().matrix,
                                          spgemm::Algorithm::essc));
           },
       .phases = {"analysis", "expansion", "sort", "compression"}},
      {.name = "galerkin",
       .call =
           [](const Context& context) {
             return hash(spgemm::galerkin(context, operands().matrix, operands().matrix));
           },
       .phases = {"transpose", "analysis", "galerkin"}},
      {.name = "GalerkinPlan",
       .call =
           [](const Context& context) {
             const Matrix& matrix = operands().matrix;
             spgemm::GalerkinPlan<double, std::int32_t> plan(context, matrix, matrix);
             plan.multiply(context, matrix, matrix);
             return hash(plan.c());
           },
       .phases = {"transpose", "analysis", "galerkin"}},
      {.name = "multiply_structure",
       .call =
           [](const Context& context) {
             return hash(spgemm::multiply_structure(context, operands().pattern, operands().pattern)
                             .col_idx);
           },
       .phases = {"analysis", "structure"}},
      {.name = "multiply_in_chunks",
       .call =
           [](const Context& context) {
             std::uint64_t result = fnv1a_seed;
             spgemm::multiply_in_chunks(context, operands().matrix, operands().matrix,
                                        [&](Matrix& rows) { result = hash(rows.values, result); });
             return result;
           },
       .phases = {"analysis", "accumulation"}},
      {.name = "multiply over a semiring",
       .call =
           [](const Context& context) {
             return hash(spgemm::multiply(context, operands().matrix, operands().matrix,
                                          {.semiring = spgemm::Semiring::min_plus}));
           },
       .phases = {"structure", "values"}},
      {.name = "multiply with a mask and a filter",
       .call =
           [](const Context& context) {
             return hash(
                 spgemm::multiply(context, operands().matrix, operands().matrix,
                                  {.mask = &operands().pattern, .filter = {.keep_top = 3}}));
           },
       .phases = {"values", "filter"}},
      {.name = "multiply_values",
       .call =
           [](const Context& context) {
             Matrix c = operands().matrix;
             spgemm::multiply_values(context, operands().matrix, operands().matrix,
                                     spgemm::Semiring::plus_times, c);
             return hash(c);
           },
       .phases = {"values"}},
      {.name = "filter_rows",
       .call =
           [](const Context& context) {
             Matrix c = operands().matrix;
             spgemm::filter_rows(context, c, {.keep_top = 3});
             return hash(c);
           },
       .phases = {"filter"}},
  };
}

std::vector<EntryPoint> rows_of_graph_clusters() {
  return {
      {.name = "undirected_graph",
       .call =
           [](const Context& context) {
             return hash(graphs::undirected_graph(context, operands().graph, "graph"));
           },
       .phases = {}},
      {.name = "find_clusters",
       .call =
           [](const Context& context) {
             const graphs::Clusters clusters = graphs::find_clusters(context, operands().graph);
             return hash(clusters.members, hash(clusters.begins));
           },
       .phases = {"expansion", "interpretation"}},
      {.name = "read_graph of lines",
       .call =
           [](const Context& context) {
             return hash(graphs::read_graph(context, operands().edge_file).graph);
           },
       .phases = {"read", "parse"}},
  };
}

/// Documents for an index, in three blocks.
indexing::DocumentSource documents() {
  return [next = 0](indexing::Documents& block, std::uint64_t) mutable {
    constexpr int count = 300;
    if (next == count) return false;
    do {
      block.bytes += fmt::format("document {} word{} {}", next, next % 17, next % 3);
      block.end_document(std::to_string(next++));
    } while (next % (count / 3) != 0);
    return true;
  };
}

std::uint64_t hash_of_index(const Context& context, indexing::Indexer indexer) {
  const std::string path = operands().folder.path("index");
  indexing::build_index(context, documents(), path, {.indexer = indexer, .positions = true});
  return hash_of_file(path);
}

/// An index that calls read.
std::string index_file() {
  static const std::string path = [] {
    std::string made = operands().folder.path("made.index");
    indexing::build_index({}, documents(), made);
    return made;
  }();
  return path;
}

std::vector<EntryPoint> rows_of_inverted_indexes() {
  return {
      {.name = "build_index",
       .call =
           [](const Context& context) {
             return hash_of_index(context, indexing::Indexer::cpu_overlapped);
           },
       .phases = {"parse and sort", "merge"},
       .own_threads = true},
      {.name = "build_index sorted by the runtime",
       .call =
           [](const Context& context) { return hash_of_index(context, indexing::Indexer::cpu); },
       .phases = {"parse and sort", "merge"}},
      {.name = "check_index",
       .call =
           [](const Context& context) {
             indexing::check_index(context, documents(), index_file(), {});
             return std::uint64_t{0};
           },
       .phases = {"check index"},
       .own_threads = true},
      {.name = "write_ciff",
       .call =
           [](const Context& context) {
             const std::string path = operands().folder.path("ciff");
             indexing::write_ciff(context, index_file(), path);
             return hash_of_file(path);
           },
       .phases = {"write CIFF"},
       .small_budget = SmallBudget::constant,
       .own_threads = true},
  };
}

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

std::vector<EntryPoint> rows_of_texts() {
  return {
      {.name = "find_duplicates",
       .call =
           [](const Context& context) {
             const texts::Deduplication found =
                 texts::find_duplicates(context, operands().text.symbols,
                                        operands().document_begins(), {.min_length = 10});
             return hash(found.ranges);
           },
       .phases = {"anchors", "sort anchors", "groups", "ranges"}},
      {.name = "find_duplicates of files",
       .call =
           [](const Context& context) {
             texts::CorpusStream corpus(context, std::vector{operands().matrix_file});
             return hash(texts::find_duplicates(context, corpus, {}).result.ranges);
           },
       .phases = {"read corpus", "anchors", "groups"}},
      {.name = "check_duplicates",
       .call =
           [](const Context& context) {
             const std::vector<std::uint64_t> begins = operands().document_begins();
             const texts::DeduplicationOptions options{.min_length = 10};
             const auto& text = operands().text.symbols;
             check_duplicates(context, text, begins, options,
                              texts::find_duplicates(context, text, begins, options));
             return std::uint64_t{0};
           },
       .phases = {"verify"}},
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

std::vector<EntryPoint> rows_of_sorts() {
  return {
      {.name = "segmented_sort",
       .call =
           [](const Context& context) {
             std::vector<std::uint64_t> keys = operands().keys;
             segmented_sort(context, std::span(keys),
                            std::span<const std::uint32_t>(operands().segment_begins),
                            std::span<const std::uint32_t>(operands().segment_ends));
             return hash(keys);
           },
       .phases = {"segmented sort"}},
      {.name = "sort",
       .call =
           [](const Context& context) {
             std::vector<std::uint64_t> keys = operands().keys;
             sort(context, std::span(keys));
             return hash(keys);
           },
       .phases = {"local sort"},
       .small_budget = SmallBudget::constant},
      {.name = "stable sort of pairs",
       .call =
           [](const Context& context) {
             std::vector<std::uint64_t> keys = operands().keys;
             std::vector<std::uint32_t> values = operands().values;
             sort(context, std::span(keys), std::span(values), {.stable = true});
             return hash(values, hash(keys));
           },
       .phases = {"scatter", "local sort"}},
      {.name = "sort_records",
       .call =
           [](const Context& context) {
             std::vector<std::uint64_t> records = operands().keys;
             sort_records(context, std::span(records), std::less<>());
             return hash(records);
           },
       .phases = {"local sort"}},
      {.name = "sort_records_of",
       .call =
           [](const Context& context) {
             RecordsInMemory source(operands().keys);
             const std::string path = operands().folder.path("sorted");
             sorting::FileSortRequest request;
             request.format.key = KeyType::u64;
             request.output = path;
             (void)sorting::sort_records_of(context, source, request);
             return hash_of_file(path);
           },
       .phases = {"read", "sort", "write"}},
  };
}

std::vector<EntryPoint> rows_of_suffix_arrays() {
  using namespace suffix_array;
  return {
      {.name = "read_fasta",
       .call =
           [](const Context& context) {
             return hash(sequences::read_fasta(context, operands().sequence_file).symbols);
           },
       .phases = {"read"},
       .own_threads = true},
      {.name = "read_corpus",
       .call =
           [](const Context& context) {
             return hash(texts::read_corpus(context, {&operands().sequence_file, 1}).bytes);
           },
       .phases = {"read corpus"},
       .own_threads = true},
      {.name = "CorpusStream",
       .call =
           [](const Context& context) {
             texts::CorpusStream corpus(context, {&operands().sequence_file, 1});
             corpus.pass({});
             return corpus.files()[0].checksum;
           },
       .phases = {"read corpus"},
       .own_threads = true},
      {.name = "write_cleaned_corpus",
       .call =
           [](const Context& context) {
             texts::CorpusStream corpus({}, {&operands().sequence_file, 1});
             corpus.pass({});
             return texts::write_cleaned_corpus(context, corpus, {}, "/dev/null").documents;
           },
       .phases = {"read corpus"},
       .own_threads = true},
      {.name = "suffix array",
       .call =
           [](const Context& context) { return hash(build<Pos>(context, operands().text.view())); },
       .phases = {"pack", "sort", "rounds"}},
      {.name = "check",
       .call =
           [](const Context& context) {
             check<Pos>(context, operands().text.view(), operands().suffixes);
             return std::uint64_t{0};
           },
       .phases = {"check"}},
      {.name = "inverse_suffix_array",
       .call =
           [](const Context& context) {
             return hash(inverse_suffix_array<Pos>(context, operands().suffixes));
           },
       .phases = {"inverse"}},
      {.name = "lcp_array",
       .call =
           [](const Context& context) {
             return hash(lcp_array<Pos>(context, operands().text.view(), operands().suffixes));
           },
       .phases = {"lcp"}},
      {.name = "check_lcp",
       .call =
           [](const Context& context) {
             check_lcp<Pos>(context, operands().text.view(), operands().suffixes, operands().lcp);
             return std::uint64_t{0};
           },
       .phases = {"check lcp"}},
      {.name = "burrows_wheeler_transform",
       .call =
           [](const Context& context) {
             return hash(burrows_wheeler_transform<Pos>(context, operands().text.view(),
                                                        operands().suffixes));
           },
       .phases = {"bwt"}},
      {.name = "check_burrows_wheeler",
       .call =
           [](const Context& context) {
             const auto transform = burrows_wheeler_transform<Pos>(
                 {{.threads = context.threads, .progress = {}}, Backend::host},
                 operands().text.view(), operands().suffixes);
             check_burrows_wheeler<Pos>(context, operands().text.view(), operands().suffixes,
                                        transform);
             return std::uint64_t{0};
           },
       .phases = {"check bwt"},
       .small_budget = SmallBudget::constant},
      {.name = "document_array",
       .call =
           [](const Context& context) {
             return hash(
                 document_array<Pos>(context, operands().suffixes, operands().record_begins));
           },
       .phases = {"documents"}},
      {.name = "check_document_array",
       .call =
           [](const Context& context) {
             const auto documents =
                 document_array<Pos>({{.threads = context.threads, .progress = {}}, Backend::host},
                                     operands().suffixes, operands().record_begins);
             check_document_array<Pos>(context, operands().suffixes, operands().record_begins,
                                       documents);
             return std::uint64_t{0};
           },
       .phases = {"check documents"},
       .small_budget = SmallBudget::constant},
      {.name = "find",
       .call =
           [](const Context& context) {
             return hash(find<Pos>(context, operands().text.view(), operands().suffixes,
                                   operands().patterns()));
           },
       .phases = {"query"}},
      {.name = "locate",
       .call =
           [](const Context& context) {
             return hash(locate<Pos>(context, operands().text.view(), operands().suffixes,
                                     operands().patterns())
                             .positions);
           },
       .phases = {"query", "locate"}},
      {.name = "bound_order",
       .call =
           [](const Context& context) {
             std::vector<Pos> suffixes = operands().suffixes;
             std::vector<Pos> lcp = operands().lcp;
             bound_order<Pos>(context, suffixes, lcp, 4);
             return hash(lcp, hash(suffixes));
           },
       .phases = {"bounded order"}},
      {.name = "check_bounded_order",
       .call =
           [](const Context& context) {
             // All letters: the suffix array itself.
             check_bounded_order<Pos>(context, operands().text.view(), operands().suffixes,
                                      operands().text.symbols.size());
             return std::uint64_t{0};
           },
       .phases = {"check bounded order"}},
  };
}

}  // namespace

const std::vector<EntryPoint>& entry_points() {
  static const std::vector<EntryPoint> rows = [] {
    std::vector<EntryPoint> all = rows_of_matrices();
    for (auto& more : {rows_of_graph_clusters(), rows_of_texts(), rows_of_inverted_indexes(),
                       rows_of_genome_indexes(), rows_of_matches(), rows_of_kmers(),
                       rows_of_sorts(), rows_of_suffix_arrays()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return rows;
}

}  // namespace sortie::test
