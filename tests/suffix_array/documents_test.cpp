// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "sortie/documents.hpp"
#include "sortie/error.hpp"
#include "sortie/fasta.hpp"
#include "tests/suffix_array/texts.hpp"
#include "tests/support/backend.hpp"

namespace sortie::suffix_array {
namespace {

template <class Pos>
class Documents : public testing::Test {
 protected:
  static std::string fault(const std::vector<Pos>& suffixes,
                           const std::vector<std::uint64_t>& begins,
                           const std::vector<std::uint32_t>& documents) {
    try {
      check_document_array<Pos>(test::context(), suffixes, begins, documents);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::check);
      return error.what();
    }
    return "";
  }
  static bool is_refused(const std::vector<Pos>& suffixes,
                         const std::vector<std::uint64_t>& begins) {
    try {
      (void)document_array<Pos>(test::context(), suffixes, begins);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
    return false;
  }
};
using Widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Documents, Widths);

// A C | G T T | (empty): separators at 2 and 6 belong to the records before them.
TYPED_TEST(Documents, TellTheRecordOfEverySuffix) {
  const test::NamedText text = test::joined("", {"AC", "GTT", ""});
  const auto suffixes = build<TypeParam>(test::context(), text.view());
  EXPECT_EQ(suffixes, (std::vector<TypeParam>{2, 6, 0, 1, 3, 5, 4}));
  const std::vector<std::uint64_t> begins = {0, 3, 7};
  EXPECT_EQ(document_array<TypeParam>(test::context(), suffixes, begins),
            (std::vector<std::uint32_t>{0, 1, 0, 0, 1, 1, 1}));
}

TYPED_TEST(Documents, AreWhatTheTextSaysOfManyRecords) {
  const sequences::Text text = sequences::read_fasta(
      test::context(), std::string(SORTIE_TEST_DATA) + "/sequences/valid/mirbase_hairpin_200.fa");
  std::vector<std::uint64_t> begins;
  for (const auto& record : text.records) begins.push_back(record.offset);
  const std::vector<std::uint64_t> separators = text.separators();
  const auto suffixes = build<TypeParam>(test::context(), {text.symbols, separators});
  const auto documents = document_array<TypeParam>(test::context(), suffixes, begins);
  ASSERT_EQ(documents.size(), suffixes.size());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    ASSERT_EQ(documents[i], text.record_of(suffixes[i])) << "entry " << i;
  }
  EXPECT_EQ(this->fault(suffixes, begins, documents), "");
}

TYPED_TEST(Documents, OfOneRecordOrNoText) {
  const std::vector<TypeParam> suffixes = {2, 1, 0};
  EXPECT_EQ(document_array<TypeParam>(test::context(), suffixes, std::vector<std::uint64_t>{0}),
            (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_TRUE(document_array<TypeParam>(test::context(), {}, {}).empty());
}

TYPED_TEST(Documents, RefuseRecordsOutOfOrder) {
  EXPECT_TRUE(this->is_refused({0, 1}, {}));
  EXPECT_TRUE(this->is_refused({0, 1}, {1}));
  EXPECT_TRUE(this->is_refused({0, 1}, {0, 2, 1}));
  EXPECT_FALSE(this->is_refused({0, 1}, {0, 2, 2}));
}

TYPED_TEST(Documents, AreChecked) {
  const std::vector<TypeParam> suffixes = {2, 0, 1, 3};
  const std::vector<std::uint64_t> begins = {0, 2};
  EXPECT_EQ(this->fault(suffixes, begins, {1, 0, 0, 1}), "");
  EXPECT_EQ(this->fault(suffixes, begins, {1, 0, 1, 1}),
            "document array, entry 2: found record 1, expected that of position 1");
  EXPECT_EQ(this->fault(suffixes, begins, {0, 0, 0, 1}),
            "document array, entry 0: found record 0, expected that of position 2");
  EXPECT_EQ(this->fault(suffixes, begins, {1, 0, 0, 2}),
            "document array, entry 3: found record 2, expected that of position 3");
  EXPECT_EQ(this->fault(suffixes, begins, {1, 0}), "document array: found 2 entries, expected 4");
}

}  // namespace
}  // namespace sortie::suffix_array
