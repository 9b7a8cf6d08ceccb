// SPDX-License-Identifier: Apache-2.0
//
// Matrix Market files that ranks read and write together: what one machine reads and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/spgemm/ranks/matrix_output.hpp"
#include "apps/spgemm/ranks/matrix_source.hpp"
#include "sortie/cluster_spgemm.hpp"
#include "sortie/error.hpp"
#include "sortie/matrix_market.hpp"
#include "sortie/npz.hpp"
#include "tests/cluster/spgemm_shapes.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/shared_folder.hpp"

namespace sortie::cluster {
namespace {

using matrices::Csr;
using matrices::read_matrix_market;

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

/// Collective: rank 0 writes a file.
void write_file(Ranks& ranks, const std::string& path, std::string_view text) {
  ranks.on_rank(0, "write file", [&] {
    std::ofstream file(path, std::ios::binary);
    file << text;
  });
}

/// What one machine reads, or its error, on rank 0. Collective.
template <class Value, class Idx>
Csr<Value, Idx> read_alone(Ranks& ranks, const std::string& path, std::string& error) {
  Csr<Value, Idx> matrix;
  ranks.on_rank(0, "expected", [&] {
    error = test::error_of([&] { matrix = read_matrix_market<Value, Idx>({}, path); });
  });
  return matrix;
}

/// Checks that all ranks read what one machine reads. \param also_transposed  and its transpose
template <class Value, class Idx>
void expect_same_matrix(Ranks& ranks, const std::string& path, bool also_transposed = true) {
  std::string error;
  const auto expected = read_alone<Value, Idx>(ranks, path, error);
  if (ranks.rank() == 0) {
    EXPECT_EQ(error, "none");
  }
  const auto read = cluster::read_matrix_market<Value, Idx>(ranks, {}, path);
  const auto whole = test::joined(ranks, read);
  if (ranks.rank() == 0) {
    EXPECT_TRUE(test::equal_bits(whole, expected));
  }
  if (!also_transposed) return;
  const auto transposed =
      test::joined(ranks, cluster::read_matrix_market<Value, Idx>(ranks, {}, path, true));
  if (ranks.rank() == 0) {
    EXPECT_TRUE(test::equal_bits(transposed, matrices::transpose(expected)));
  }
}

/// Checks that all ranks throw one machine's error.
void expect_same_error(Ranks& ranks, const std::string& path) {
  std::string expected;
  static_cast<void>(read_alone<double, std::int32_t>(ranks, path, expected));
  const std::string found = test::error_of([&] {
    static_cast<void>(cluster::read_matrix_market<double, std::int32_t>(ranks, {}, path));
  });
  EXPECT_THAT(found, testing::StartsWith("rank "));
  if (ranks.rank() == 0) {
    EXPECT_NE(expected, "none");
    EXPECT_THAT(found, testing::EndsWith(": " + expected));
  }
}

/// Entries in no order, with duplicates, zeros, comments and blank lines.
std::string mixed_entries(std::int64_t rows, std::int64_t cols, std::int64_t count, bool lower,
                          const std::function<std::string(std::uint64_t)>& numbers) {
  std::string text;
  std::uint64_t state = 5;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto row = static_cast<std::int64_t>((state >> 40) % static_cast<std::uint64_t>(rows));
    auto col = static_cast<std::int64_t>((state >> 20) % static_cast<std::uint64_t>(cols));
    if (i % 5 == 0) row = rows / 2;  // a hub row with duplicates
    if (lower && row < col) std::swap(row, col);
    text += std::to_string(row + 1) + " " + std::to_string(col + 1) + numbers(state >> 33) + "\n";
    if (i % 11 == 0) text += "% a comment\n";
    if (i % 13 == 0) text += "   \n";
  }
  return text;
}

std::string real_number(std::uint64_t number) {
  return " " + std::to_string(static_cast<double>(number % 2001) / 7 - 100) +
         (number % 3 == 0 ? "e-1" : "");
}
std::string no_number(std::uint64_t) {
  return "";
}

TEST(ClusterSpgemmFiles, EveryKindIsReadAsByOneMachine) {
  const auto complex_number = [](std::uint64_t n) { return real_number(n) + real_number(n / 9); };
  const auto integer = [](std::uint64_t n) { return " " + std::to_string(n % 1000) + "\r"; };
  const std::string sized = "40 40 200\n";
  const std::string mixed = mixed_entries(40, 40, 200, false, real_number);
  const std::vector<std::string> files = {
      general + sized + mixed,
      general + "% comment\n\n40 40 201\n" + mixed + "40 40 7",  // no line end
      general + "40 25 300\n" + mixed_entries(40, 25, 300, false, real_number),
      general + "3 2 4\n1 1 1\n3 2 2\n1 1 0.1\n1 1 1e-17\n",
      general + "5 5 0\n",
      general + "0 7 0\n",
      general + "1 300 200\n" + mixed_entries(1, 300, 200, false, real_number),
      general + "9 9 2\n%" + std::string(3000, 'x') + "\n9 9 1\n%" + std::string(200, 'y') +
          "\n1 1 2\n%" + std::string(2000, 'z') + "\n",
      "%%MatrixMarket matrix coordinate real symmetric\n" + sized +
          mixed_entries(40, 40, 200, true, real_number),
      "%%MatrixMarket matrix coordinate pattern symmetric\n" + sized +
          mixed_entries(40, 40, 200, true, no_number),
      "%%MatrixMarket matrix coordinate integer general\n" + sized +
          mixed_entries(40, 40, 200, false, integer),
      "%%MatrixMarket matrix coordinate real skew-symmetric\n4 4 3\n2 1 1.5\n4 3 -2\n4 1 0\n",
      "%%MatrixMarket matrix array real general\n3 2\n1\n0\n2\n3\n0\n4\n",
  };
  test::on_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    for (std::size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE(i);
      const std::string path = folder.path("m" + std::to_string(i));
      write_file(ranks, path, files[i]);
      expect_same_matrix<double, std::int32_t>(ranks, path, i % 4 == 0);
      if (i == 0) expect_same_matrix<float, std::int64_t>(ranks, path);
    }
    const std::string path = folder.path("complex");
    write_file(ranks, path,
               "%%MatrixMarket matrix coordinate complex hermitian\n" + sized +
                   mixed_entries(40, 40, 200, true, complex_number));
    expect_same_matrix<std::complex<double>, std::int32_t>(ranks, path);
  });
}

TEST(ClusterSpgemmFiles, WhatCannotBeDividedIsReadByRankZero) {
  const std::string text = general + "40 40 200\n" + mixed_entries(40, 40, 200, false, real_number);
  test::on_few_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    write_file(ranks, folder.path("m.gz"), test::gzip(text));
    expect_same_matrix<double, std::int32_t>(ranks, folder.path("m.gz"));
    EXPECT_FALSE(MatrixSource(ranks, {}, folder.path("m.gz")).is_divided());
    write_file(ranks, folder.path("m"), text);
    EXPECT_TRUE(MatrixSource(ranks, {}, folder.path("m")).is_divided());
    const auto matrix = test::joined(
        ranks, cluster::read_matrix_market<double, std::int32_t>(ranks, {}, folder.path("m")));
    ranks.on_rank(0, "write", [&] { matrices::write_npz({}, folder.path("m.npz"), matrix); });
    const auto from_npz = test::joined(
        ranks, cluster::read_matrix_market<double, std::int32_t>(ranks, {}, folder.path("m.npz")));
    if (ranks.rank() == 0) {
      EXPECT_TRUE(test::equal_bits(from_npz, matrix));
    }
  });
}

TEST(ClusterSpgemmFiles, ErrorsNameTheLineAsOneMachineDoes) {
  const std::string mixed = mixed_entries(40, 40, 200, false, real_number);
  const std::string half = mixed.substr(0, mixed.find('\n', mixed.size() / 2) + 1);
  const std::string rest = mixed.substr(half.size());
  const std::vector<std::string> files = {
      general + "40 40 201\n" + half + "7 x 1\n" + rest,
      general + "40 40 201\n" + mixed + "41 1 1\n",
      general + "40 40 201\n" + "1 0 1\n" + mixed + "0 1 1\n",
      general + "40 40 199\n" + mixed,
      general + "40 40 50\n" + half + "wrong\n" + rest,
      general + "40 40 300\n" + mixed,
      general + "40 40 1\n",
      general + "40 40\n",
      "",
      "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
      general + "3000000000 1 0\n",
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 1 1\n1 2 1\n",
  };
  test::on_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    for (std::size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE(i);
      write_file(ranks, folder.path("m"), files[i]);
      expect_same_error(ranks, folder.path("m"));
    }
    expect_same_error(ranks, folder.path("none"));
    write_file(ranks, folder.path("bad.gz"), test::gzip(files[0]));
    expect_same_error(ranks, folder.path("bad.gz"));
  });
}

/// Checks the file of a divided matrix against one machine's, byte for byte.
template <class Matrix>
void expect_same_file(Ranks& ranks, const test::SharedFolder& folder, const Matrix& matrix,
                      std::size_t division) {
  ranks.on_rank(0, "expected",
                [&] { matrices::write_matrix_market({}, folder.path("expected"), matrix); });
  const auto first_rows = test::divisions(matrix.rows, ranks.size())[division];
  cluster::write_matrix_market(ranks, {}, folder.path("found"),
                               test::divide(ranks, matrix, first_rows));
  if (ranks.rank() == 0) {
    EXPECT_EQ(test::content_of(folder.path("found")), test::content_of(folder.path("expected")));
  }
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(ClusterSpgemmFiles, TheFileIsThatOfOneMachine) {
  const auto shapes = test::all_shapes<double, std::int32_t>();
  test::on_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    std::size_t division = 0;
    for (const auto& shape : shapes) {
      SCOPED_TRACE(shape.name);
      expect_same_file(ranks, folder, shape.a, division);
      division = (division + 1) % 3;
    }
    expect_same_file(ranks, folder, matrices::pattern_of(shapes[0].a), 0);
    const auto complex = test::all_shapes<std::complex<double>, std::int64_t>()[0].a;
    expect_same_file(ranks, folder, complex, 0);
  });
}

TEST(ClusterSpgemmFiles, SplitFilesTogetherHaveEveryEntry) {
  const auto matrix = test::all_shapes<double, std::int32_t>()[1].a;
  test::on_few_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    const auto divided = test::divide(ranks, matrix, equal_rows(matrix.rows, ranks.size()));
    for (const char* phase : {"write part", "rename part"}) {
      for (const int failing : {0, ranks.size() / 2, ranks.size() - 1}) {
        const test::Fault fault(ranks, failing, phase);
        EXPECT_EQ(test::error_of([&] { write_split(ranks, {}, folder.path("c"), divided); }),
                  "rank " + std::to_string(failing) + ": injected");
        EXPECT_EQ(folder.entries(), 0u) << phase;
      }
    }
    write_split(ranks, {}, folder.path("c"), divided);
    EXPECT_EQ(folder.entries(), static_cast<std::uint64_t>(ranks.size()));
    if (ranks.rank() != 0) return;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      // The entries of the rows of this rank, and no others.
      const auto at = static_cast<std::size_t>(rank);
      Csr<double, std::int32_t> rows = matrix;
      const std::int64_t begin = matrix.row_ptr[static_cast<std::size_t>(divided.first_rows[at])];
      const std::int64_t end = matrix.row_ptr[static_cast<std::size_t>(divided.first_rows[at + 1])];
      for (std::int64_t& offset : rows.row_ptr) offset = std::clamp(offset, begin, end) - begin;
      rows.col_idx.assign(matrix.col_idx.begin() + begin, matrix.col_idx.begin() + end);
      rows.values.assign(matrix.values.begin() + begin, matrix.values.begin() + end);
      const std::string path = split_name(folder.path("c"), rank);
      EXPECT_TRUE(test::equal_bits(read_matrix_market<double, std::int32_t>({}, path), rows));
      EXPECT_THAT(test::content_of(path),
                  testing::HasSubstr("\n% rows " + std::to_string(divided.first_rows[at] + 1) +
                                     " to " + std::to_string(divided.first_rows[at + 1]) + "\n"));
    }
  });
}

TEST(ClusterSpgemmFiles, ASampleOfTheWebIsMultipliedAsByOneMachine) {
  const std::string path = SORTIE_SOURCE_DIR "/matrices/sample/NotreDame_www.mtx.gz";
  test::on_few_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    // The first rows, since the whole matrix takes some seconds.
    auto a = cluster::read_matrix_market<double, std::int32_t>(ranks, {}, path);
    auto whole = test::joined(ranks, std::move(a));
    if (ranks.rank() == 0) {
      constexpr std::int64_t kept = 30000;
      ASSERT_GT(whole.rows, kept);
      const auto scattered = [&](std::int64_t row, std::int64_t column) {
        return static_cast<double>((row * 31 + column * 17) % 1000) / 7;
      };
      Csr<double, std::int32_t> cut{kept, kept, {0}, {}, {}};
      for (std::int64_t row = 0; row < kept; ++row) {
        for (std::int64_t i = whole.row_ptr[static_cast<std::size_t>(row)];
             i < whole.row_ptr[static_cast<std::size_t>(row) + 1]; ++i) {
          const std::int32_t column = whole.col_idx[static_cast<std::size_t>(i)];
          if (column >= kept) continue;
          cut.col_idx.push_back(column);
          cut.values.push_back(scattered(row, column));
        }
        cut.row_ptr.push_back(cut.nnz());
      }
      whole = std::move(cut);
    }
    std::string expected;
    ranks.on_rank(0, "expected", [&] {
      Context context;
      context.backend = Backend::host;
      matrices::write_matrix_market({}, folder.path("a"), whole);
      matrices::write_matrix_market({}, folder.path("expected"),
                                    spgemm::multiply(context, whole, whole));
    });
    Context context;
    context.backend = Backend::host;
    auto read = cluster::read_matrix_market<double, std::int32_t>(ranks, {}, folder.path("a"));
    read = balance(ranks, context, std::move(read));
    cluster::write_matrix_market(ranks, {}, folder.path("found"),
                                 multiply(ranks, context, read, read));
    if (ranks.rank() == 0) {
      EXPECT_TRUE(test::content_of(folder.path("found")) ==
                  test::content_of(folder.path("expected")));
    }
  });
}

TEST(ClusterSpgemmFiles, AFileBeyondTheMemoryBudgetIsRefused) {
  const std::string text = general + "40 40 200\n" + mixed_entries(40, 40, 200, false, real_number);
  test::on_few_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    write_file(ranks, folder.path("m"), text);
    HostContext context;
    context.memory_budget = 100;
    EXPECT_THAT(test::error_of([&] {
                  static_cast<void>(
                      read_matrix_market<double, std::int32_t>(ranks, context, folder.path("m")));
                }),
                testing::AllOf(testing::HasSubstr("the text of a rank needs"),
                               testing::HasSubstr("(100 bytes) are free"),
                               testing::HasSubstr("ranks are enough")));
  });
}

TEST(ClusterSpgemmFiles, AFaultInAnyPhaseLeavesNoFile) {
  const std::string text = general + "40 40 200\n" + mixed_entries(40, 40, 200, false, real_number);
  test::on_few_ranks([&](Ranks& ranks) {
    const test::SharedFolder folder(ranks);
    write_file(ranks, folder.path("m"), text);
    write_file(ranks, folder.path("m.gz"), test::gzip(text));
    struct Phase {
      const char* name;
      bool of_rank_zero;
      const char* file = "m";
    };
    for (const Phase& phase : std::vector<Phase>{{"measure memory", false},
                                                 {"open matrix", true},
                                                 {"open matrix on ranks", false},
                                                 {"read text", false},
                                                 {"parse text", false},
                                                 {"check text", false},
                                                 {"count entries", false},
                                                 {"divide entries", false},
                                                 {"receive entries", false},
                                                 {"build rows", false},
                                                 {"read matrix", true, "m.gz"},
                                                 {"group rows", true, "m.gz"},
                                                 {"create output", true},
                                                 {"format matrix", false},
                                                 {"write matrix", false},
                                                 {"close output", false}}) {
      for (const int failing : {0, ranks.size() / 2, ranks.size() - 1}) {
        if (failing > 0 && phase.of_rank_zero) continue;
        const test::Fault fault(ranks, failing, phase.name);
        EXPECT_EQ(test::error_of([&] {
                    const auto read = cluster::read_matrix_market<double, std::int32_t>(
                        ranks, {}, folder.path(phase.file));
                    cluster::write_matrix_market(ranks, {}, folder.path("out"), read);
                  }),
                  "rank " + std::to_string(failing) + ": injected")
            << phase.name;
        EXPECT_EQ(folder.entries(), 2u) << phase.name;
      }
    }
  });
}

}  // namespace
}  // namespace sortie::cluster
