// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/entry_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "apps/suffix_array/program_calls.hpp"
#include "matrices/generators.hpp"
#include "sortie/burrows_wheeler.hpp"
#include "sortie/corpus.hpp"
#include "sortie/documents.hpp"
#include "sortie/fasta.hpp"
#include "sortie/galerkin.hpp"
#include "sortie/graph_clusters.hpp"
#include "sortie/inverted_index.hpp"
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
#include "sortie/top_k.hpp"
#include "tests/contract/operands.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

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
      {.name = "top_k",
       .call =
           [](const Context& context) {
             std::vector<std::uint64_t> positions(3 * operands().segment_begins.size());
             top_k(context, std::span<const std::uint64_t>(operands().keys),
                   std::span<const std::uint32_t>(operands().segment_begins),
                   std::span<const std::uint32_t>(operands().segment_ends), 3, positions);
             return hash(positions);
           },
       .phases = {"top k"}},
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
                       entry_points_of_genomes(), rows_of_sorts(), rows_of_suffix_arrays()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return rows;
}

}  // namespace sortie::test
