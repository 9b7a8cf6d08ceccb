// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "sortie/error.hpp"

namespace {

using sortie::ErrorKind;

TEST(InputError, NamesFileLineFoundAndExpected) {
  const auto error = sortie::input_error("a.mtx", 7, "row index 0", "an index from 1 to 27");
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_STREQ(error.what(), "a.mtx:7: found row index 0, expected an index from 1 to 27");
}

TEST(InputError, LeavesOutTheLineWhereThereIsNone) {
  EXPECT_STREQ(sortie::input_error("a.mtx", 0, "an empty file", "a matrix").what(),
               "a.mtx: found an empty file, expected a matrix");
}

TEST(InputError, NamesStandardInput) {
  EXPECT_STREQ(sortie::input_error("-", 3, "x", "y").what(), "<stdin>:3: found x, expected y");
}

TEST(OutOfMemoryError, NamesWantedAndFree) {
  const auto error = sortie::out_of_memory_error("the product", 3 << 20, 1024);
  EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
  EXPECT_STREQ(error.what(),
               "out of memory: the product needs 3.00 MiB (3145728 bytes), 1.00 KiB (1024 bytes) "
               "are free");
}

TEST(Quoted, KeepsPlainText) {
  EXPECT_EQ(sortie::quoted("%%MatrixMarket"), "\"%%MatrixMarket\"");
}

TEST(Quoted, KeepsNothing) {
  EXPECT_EQ(sortie::quoted(""), "\"\"");
}

TEST(Quoted, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(sortie::quoted("a\x1b[2J\r\n\t\"\\"), R"("a\x1b[2J\r\n\t\"\\")");
  EXPECT_EQ(sortie::quoted(std::string_view("\0\xff", 2)), R"("\x00\xff")");
}

TEST(Quoted, CutsAfterFortyBytes) {
  const std::string forty(40, 'x');
  EXPECT_EQ(sortie::quoted(forty), "\"" + forty + "\"");
  EXPECT_EQ(sortie::quoted(forty + "y"), "\"" + forty + "...\"");
}

}  // namespace
