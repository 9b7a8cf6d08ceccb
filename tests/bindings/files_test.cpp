// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/bindings/place.hpp"
#include "tests/support/temporary_folder.hpp"

// Files through the C interface.
namespace sortie::test {
namespace {

using testing::HasSubstr;

std::string write(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.path(name);
  std::ofstream(path) << text;
  return path;
}

TEST(CFiles, MatrixIsReadAndWritten) {
  const TemporaryFolder folder;
  const std::string path = write(folder, "a.mtx",
                                 "%%MatrixMarket matrix coordinate real symmetric\n"
                                 "3 3 3\n1 1 1.5\n3 1 -2\n2 2 4\n");
  const CContext context;
  sortie_matrix_header header;
  ASSERT_EQ(sortie_read_matrix_header(context, path.c_str(), &header), SORTIE_OK);
  EXPECT_EQ(header.rows, 3);
  EXPECT_EQ(header.entries, 3);
  EXPECT_FALSE(header.is_complex);
  EXPECT_TRUE(header.is_symmetric);
  sortie_csr* matrix = nullptr;
  ASSERT_EQ(sortie_read_matrix(context, path.c_str(), SORTIE_F64, SORTIE_I32, &matrix), SORTIE_OK)
      << context.error();
  const sortie_csr_view view = sortie_csr_get(matrix);
  EXPECT_EQ(view.nnz, 4);
  const auto* const columns = static_cast<const std::int32_t*>(view.col_idx);
  EXPECT_EQ(std::vector<std::int32_t>(columns, columns + 4),
            (std::vector<std::int32_t>{0, 2, 1, 0}));

  const std::string copy = folder.path("copy.mtx");
  ASSERT_EQ(sortie_write_matrix(context, copy.c_str(), &view), SORTIE_OK) << context.error();
  sortie_csr* again = nullptr;
  ASSERT_EQ(sortie_read_matrix(context, copy.c_str(), SORTIE_C128, SORTIE_I64, &again), SORTIE_OK)
      << context.error();
  const sortie_csr_view second = sortie_csr_get(again);
  ASSERT_EQ(second.nnz, 4);
  EXPECT_EQ(static_cast<const std::complex<double>*>(second.values)[1], std::complex<double>(-2));
  sortie_csr_destroy(matrix);
  sortie_csr_destroy(again);
}

TEST(CFiles, SequencesAreRead) {
  const TemporaryFolder folder;
  const std::string path = write(folder, "a.fa", ">one first\nACgt\n>two\nTT\n");
  const CContext context;
  sortie_sequences* sequences = nullptr;
  ASSERT_EQ(sortie_read_sequences(context, path.c_str(), "auto", 0, &sequences), SORTIE_OK)
      << context.error();
  const sortie_text text = sortie_sequences_text(sequences);
  ASSERT_EQ(text.size, 7u);
  EXPECT_EQ(std::string(text.symbols, text.symbols + 4), "ACGT");
  ASSERT_EQ(text.separator_count, 1u);
  EXPECT_EQ(text.separators[0], 4u);
  ASSERT_EQ(sortie_sequences_count(sequences), 2u);
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  EXPECT_EQ(std::string(sortie_sequences_record(sequences, 0, nullptr, nullptr)), "one first");
  EXPECT_EQ(std::string(sortie_sequences_record(sequences, 1, &offset, &length)), "two");
  EXPECT_EQ(offset, 5u);
  EXPECT_EQ(length, 2u);
  EXPECT_EQ(sortie_sequences_record(sequences, 2, nullptr, nullptr), nullptr);
  sortie_sequences_destroy(sequences);

  ASSERT_EQ(sortie_read_sequences(context, path.c_str(), "dna", SORTIE_KEEP_CASE, &sequences),
            SORTIE_OK);
  EXPECT_EQ(sortie_sequences_text(sequences).symbols[2], 'g');
  sortie_sequences_destroy(sequences);
}

TEST(CFiles, ErrorsNameFileAndLine) {
  const TemporaryFolder folder;
  const CContext context;
  sortie_csr* matrix = nullptr;
  const std::string absent = folder.path("absent.mtx");
  EXPECT_EQ(sortie_read_matrix(context, absent.c_str(), SORTIE_F64, SORTIE_I32, &matrix),
            SORTIE_INPUT);
  EXPECT_THAT(context.error(), HasSubstr("absent.mtx"));
  const std::string bad =
      write(folder, "bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  EXPECT_EQ(sortie_read_matrix(context, bad.c_str(), SORTIE_F64, SORTIE_I32, &matrix),
            SORTIE_INPUT);
  EXPECT_THAT(context.error(), HasSubstr("bad.mtx:3: found row index 3"));
  EXPECT_EQ(matrix, nullptr);
  sortie_sequences* sequences = nullptr;
  const std::string sequence = write(folder, "bad.fa", ">x\nACJ\n");
  EXPECT_EQ(sortie_read_sequences(context, sequence.c_str(), "dna", 0, &sequences), SORTIE_INPUT);
  EXPECT_THAT(context.error(), HasSubstr("bad.fa:2"));
  EXPECT_EQ(sortie_read_sequences(context, sequence.c_str(), "letters", 0, &sequences),
            SORTIE_USAGE);
  EXPECT_EQ(sortie_read_sequences(context, nullptr, "dna", 0, &sequences), SORTIE_USAGE);
  EXPECT_EQ(sequences, nullptr);
}

}  // namespace
}  // namespace sortie::test
