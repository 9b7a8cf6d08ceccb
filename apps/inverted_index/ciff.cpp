// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <limits>

#include "apps/inverted_index/index_reader.hpp"
#include "apps/inverted_index/varint.hpp"
#include "core/files/whole_file.hpp"
#include "core/phase_timer.hpp"
#include "sortie/inverted_index.hpp"
#include "sortie/version.hpp"

namespace sortie::indexing {
namespace {

/// A message of protobuf. Fields of the value 0 are left out, as in version 3.
struct Message {
  std::string bytes;

  void add_number(int field, std::uint64_t value) {
    if (value == 0) return;
    append_varint(bytes, static_cast<std::uint64_t>(field) << 3);
    append_varint(bytes, value);
  }
  void add_bytes(int field, std::string_view value) {
    constexpr std::uint64_t with_length = 2;
    append_varint(bytes, static_cast<std::uint64_t>(field) << 3 | with_length);
    append_varint(bytes, value.size());
    bytes.append(value);
  }
  void add_double(int field, double value) {
    if (value == 0) return;
    constexpr std::uint64_t of_8_bytes = 1;
    append_varint(bytes, static_cast<std::uint64_t>(field) << 3 | of_8_bytes);
    for (std::uint64_t i = 0, word = std::bit_cast<std::uint64_t>(value); i < 8; ++i, word >>= 8)
      bytes.push_back(static_cast<char>(word));
  }
  /// Writes its size and itself, and makes it empty.
  void write_to(WholeFile& file) {
    std::string size;
    append_varint(size, bytes.size());
    file.write(size);
    file.write(bytes);
    bytes.clear();
  }
};

}  // namespace

void write_ciff(const HostContext& context, const std::string& index, const std::string& path) {
  const PhaseTimer timer(context, "write CIFF");
  const MappedIndex mapped(index);
  const IndexHeader& header = mapped.header();
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (header.documents > most || header.terms > most) {
    throw input_error(index, 0,
                      fmt::format("{} documents and {} terms", header.documents, header.terms),
                      "at most 2147483647, which CIFF can number");
  }
  const auto k = static_cast<int>(header.kmer_length);
  WholeFile file(path);
  Message message;
  constexpr int ciff_version = 1;
  message.add_number(1, ciff_version);
  message.add_number(2, header.terms);
  message.add_number(3, header.documents);
  message.add_number(4, header.terms);
  message.add_number(5, header.documents);
  message.add_number(6, header.occurrences);
  message.add_double(7, mapped.average_length());
  std::string terms = k > 0 ? fmt::format("k-mers of {} letters", k) : "words in lower case";
  if (const std::string stemmer = mapped.stemmer(); !stemmer.empty())
    terms += ", stemmed: " + stemmer;
  message.add_bytes(8, fmt::format("sortie {}, {}", version(), terms));
  message.write_to(file);
  Message posting;
  std::uint64_t done = 0;
  mapped.for_each_term([&](std::string_view term, const TermPostings& postings) {
    std::string letters(term);
    if (k > 0) {
      std::uint64_t kmer = 0;
      for (const char byte : term) kmer = kmer << 8 | static_cast<unsigned char>(byte);
      letters.resize(static_cast<std::size_t>(k));
      for (std::size_t i = letters.size(); i-- > 0; kmer >>= 2) letters[i] = "ACGT"[kmer & 3];
    }
    message.add_bytes(1, letters);
    message.add_number(2, postings.documents);
    message.add_number(3, postings.occurrences);
    std::uint32_t before = 0;
    for (PostingCursor at(mapped, postings); at.document() != PostingCursor::end_document;
         at.next()) {
      posting.add_number(1, at.document() - before);
      posting.add_number(2, at.frequency());
      message.add_bytes(4, posting.bytes);
      posting.bytes.clear();
      before = at.document();
    }
    message.write_to(file);
    report_progress(context, "write CIFF", ++done, header.terms);
  });
  for (std::uint32_t document = 0; document < header.documents; ++document) {
    message.add_number(1, document);
    message.add_bytes(2, mapped.document_name(document));
    message.add_number(3, mapped.document_length(document));
    message.write_to(file);
  }
  file.commit();
}

}  // namespace sortie::indexing
