// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <fstream>

#include "common_index_file_format.pb.h"
#include "sortie/error.hpp"
#include "tests/inverted_index/random_documents.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {
namespace {

/// A file of messages, read by protobuf.
class CiffFile {
 public:
  explicit CiffFile(const std::string& path) : file_(path, std::ios::binary), stream_(&file_) {}
  template <class Message>
  Message next() {
    Message message;
    bool at_end = false;
    EXPECT_TRUE(
        google::protobuf::util::ParseDelimitedFromZeroCopyStream(&message, &stream_, &at_end));
    return message;
  }
  bool at_end() {
    ciff::Header none;
    bool at_end = false;
    return !google::protobuf::util::ParseDelimitedFromZeroCopyStream(&none, &stream_, &at_end) &&
           at_end;
  }

 private:
  std::ifstream file_;
  google::protobuf::io::IstreamInputStream stream_;
};

TEST(Ciff, ProtobufReadsTheIndex) {
  const TemporaryFolder folder;
  const auto documents = random_documents(700, 40, 300, 1);
  for (const bool positions : {false, true}) {
    indexing::IndexOptions options;
    options.positions = positions;
    indexing::build_index({}, documents.source(), folder.path("index"), options);
    indexing::write_ciff({}, folder.path("index"), folder.path("ciff"));
    CiffFile file(folder.path("ciff"));
    const auto header = file.next<ciff::Header>();
    std::uint64_t occurrences = 0;
    for (const std::uint64_t length : documents.lengths) occurrences += length;
    EXPECT_EQ(header.version(), 1);
    ASSERT_EQ(static_cast<std::size_t>(header.num_postings_lists()), documents.terms.size());
    ASSERT_EQ(static_cast<std::size_t>(header.num_docs()), documents.texts.size());
    EXPECT_EQ(header.total_postings_lists(), header.num_postings_lists());
    EXPECT_EQ(header.total_docs(), header.num_docs());
    EXPECT_EQ(static_cast<std::uint64_t>(header.total_terms_in_collection()), occurrences);
    EXPECT_DOUBLE_EQ(header.average_doclength(), static_cast<double>(occurrences) / 700);
    EXPECT_THAT(header.description(), testing::StartsWith("sortie "));
    std::map<std::string, Postings> terms;
    std::string before;
    for (int i = 0; i < header.num_postings_lists(); ++i) {
      const auto list = file.next<ciff::PostingsList>();
      EXPECT_LT(before, list.term());
      before = list.term();
      std::uint32_t document = 0;
      std::int64_t frequencies = 0;
      for (const ciff::Posting& posting : list.postings()) {
        document += static_cast<std::uint32_t>(posting.docid());
        terms[list.term()][document].resize(static_cast<std::size_t>(posting.tf()));
        frequencies += posting.tf();
      }
      EXPECT_EQ(list.df(), list.postings_size());
      EXPECT_EQ(list.cf(), frequencies);
    }
    EXPECT_TRUE(terms == without_positions(documents.terms));
    for (std::size_t d = 0; d < documents.texts.size(); ++d) {
      const auto record = file.next<ciff::DocRecord>();
      EXPECT_EQ(static_cast<std::size_t>(record.docid()), d);
      EXPECT_EQ(record.collection_docid(), documents.names[d]);
      EXPECT_EQ(static_cast<std::uint64_t>(record.doclength()), documents.lengths[d]);
    }
    EXPECT_TRUE(file.at_end());
  }
}

TEST(Ciff, KmersAreLetters) {
  const TemporaryFolder folder;
  indexing::IndexOptions options;
  options.kmer_length = 3;
  const std::vector<std::string> paths = {folder.write("in.fa", ">a\nGATTACA\n")};
  indexing::build_index({}, indexing::sequence_documents({}, paths, 3), folder.path("index"),
                        options);
  indexing::write_ciff({}, folder.path("index"), folder.path("ciff"));
  CiffFile file(folder.path("ciff"));
  const auto header = file.next<ciff::Header>();
  std::vector<std::string> terms;
  for (int i = 0; i < header.num_postings_lists(); ++i)
    terms.push_back(file.next<ciff::PostingsList>().term());
  EXPECT_EQ(terms, (std::vector<std::string>{"ACA", "ATT", "GAT", "TAC", "TTA"}));
}

}  // namespace
}  // namespace sortie::test
