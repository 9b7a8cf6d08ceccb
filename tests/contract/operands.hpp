// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/files/checksum.hpp"
#include "core/random.hpp"
#include "matrices/generators.hpp"
#include "sortie/query.hpp"
#include "sortie/spgemm.hpp"
#include "tests/matrices/npz_builder.hpp"
#include "tests/suffix_array/lcp_definition.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/temporary_folder.hpp"

/// What the entry points are called with, and the checksums of their results.
namespace sortie::test {

using Matrix = matrices::Csr<double>;
using Pos = std::uint32_t;

template <class T>
std::uint64_t hash(const std::vector<T>& values, std::uint64_t seed = fnv1a_seed) {
  return extend_fnv1a(seed, values.data(), values.size() * sizeof(T));
}
inline std::uint64_t hash(const Matrix& matrix, std::uint64_t seed = fnv1a_seed) {
  return hash(matrix.values, hash(matrix.col_idx, hash(matrix.row_ptr, seed)));
}
inline std::uint64_t hash_of_file(const std::string& path) {
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

inline const Operands& operands() {
  static const Operands operands;
  return operands;
}

}  // namespace sortie::test
