// SPDX-License-Identifier: Apache-2.0
#include "apps/inverted_index/index_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include "apps/inverted_index/varint.hpp"
#include "core/files/checksum.hpp"
#include "core/files/input_file.hpp"
#include "sortie/index_search.hpp"

namespace sortie::indexing {
namespace {

std::span<const std::byte> byte_span(const void* at, std::uint64_t size) {
  return {static_cast<const std::byte*>(at), size};
}

}  // namespace

MappedIndex::MappedIndex(const std::string& path) : path_(path) {
  const auto require = [&](bool holds, std::string_view found) {
    if (!holds) fail(found);
  };
  const InputFile file(path);
  require(file.is_regular(), "a pipe or a device");
  size_ = file.size();
  require(size_ >= sizeof(header_), "a file of fewer bytes than the header of an index");
  std::array<char, sizeof(header_)> head;
  require(file.read_at(0, head) == head.size(), "a truncated file");
  std::memcpy(&header_, head.data(), head.size());
  require(std::string_view(header_.magic.data(), header_.magic.size()) == index_magic,
          "another kind of file");
  if (header_.version != index_version) fail(fmt::format("version {}", header_.version));
  const auto header_bytes = byte_span(&header_, sizeof(header_));
  require(block_checksum(header_bytes.first(offsetof(IndexHeader, header_checksum))) ==
              header_.header_checksum,
          "a header with a wrong checksum");
  if (header_.file_bytes != size_)
    fail(fmt::format("{} bytes where the header says {}", size_, header_.file_bytes));
  const std::uint64_t sections[] = {sizeof(header_),           header_.terms_begin,
                                    header_.term_blocks_begin, header_.lengths_begin,
                                    header_.name_ends_begin,   header_.names_begin,
                                    header_.checksums_begin,   size_};
  require(std::is_sorted(std::begin(sections), std::end(sections)), "sections out of order");
  const std::uint64_t blocks =
      (header_.checksums_begin - sizeof(header_) + checked_bytes - 1) / checked_bytes;
  term_blocks_ = header_.terms / block_terms + (header_.terms % block_terms != 0 ? 1 : 0);
  const auto has_numbers = [](std::uint64_t begin, std::uint64_t end, std::uint64_t count,
                              std::uint64_t bytes) {
    return count <= (end - begin) / bytes && count * bytes == end - begin;
  };
  require(header_.documents < PostingCursor::end_document &&
              has_numbers(header_.term_blocks_begin, header_.lengths_begin, term_blocks_, 8) &&
              has_numbers(header_.lengths_begin, header_.name_ends_begin, header_.documents, 4) &&
              has_numbers(header_.name_ends_begin, header_.names_begin, header_.documents, 8) &&
              has_numbers(header_.checksums_begin, size_, blocks, 8),
          "sections of other sizes than its counts require");
  constexpr std::uint32_t longest_kmer = 31;
  require(header_.kmer_length <= longest_kmer &&
              (header_.kmer_length > 0) == ((header_.flags & has_kmers) != 0),
          "k-mers of an invalid length");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const mapping =
      descriptor < 0 ? MAP_FAILED : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  const int code = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (mapping == MAP_FAILED)
    throw Error(ErrorKind::input,
                fmt::format("{}: cannot be mapped: {}", path, std::strerror(code)));
  data_ = static_cast<const char*>(mapping);
  try {
    require(block_checksum(byte_span(data_ + header_.checksums_begin, 8 * blocks)) ==
                header_.checksums_checksum,
            "checksums with a wrong checksum");
    checked_ = std::make_unique<std::atomic<bool>[]>(blocks);
  } catch (...) {
    ::munmap(mapping, size_);
    throw;
  }
}

MappedIndex::~MappedIndex() {
  ::munmap(const_cast<char*>(data_), size_);
}

void MappedIndex::fail(std::string_view found) const {
  throw input_error(path_, 0, found, fmt::format("an index of sortie, version {}", index_version));
}

void MappedIndex::check(std::uint64_t block) const {
  const std::uint64_t begin = sizeof(header_) + block * checked_bytes;
  const std::uint64_t size = std::min(checked_bytes, header_.checksums_begin - begin);
  if (block_checksum(byte_span(data_ + begin, size)) !=
      load<std::uint64_t>(data_ + header_.checksums_begin + 8 * block))
    fail(fmt::format("a wrong checksum of the {} bytes from {} on", size, begin));
  checked_[block].store(true, std::memory_order_relaxed);
}

std::string MappedIndex::stemmer() const {
  const auto end = std::find(header_.stemmer.begin(), header_.stemmer.end(), '\0');
  return {header_.stemmer.begin(), end};
}

std::string_view MappedIndex::document_name(std::uint32_t document) const {
  const auto end_of = [&](std::uint64_t number) {
    return load<std::uint64_t>(bytes(header_.name_ends_begin + 8 * number, 8));
  };
  const std::uint64_t begin = document == 0 ? 0 : end_of(document - 1);
  const std::uint64_t end = end_of(document);
  if (begin > end || end > header_.checksums_begin - header_.names_begin)
    fail("a name of a document outside of its section");
  return {bytes(header_.names_begin + begin, end - begin), end - begin};
}

std::uint64_t MappedIndex::term_block(std::uint64_t block) const {
  const auto offset = load<std::uint64_t>(bytes(header_.term_blocks_begin + 8 * block, 8));
  if (offset >= header_.term_blocks_begin - header_.terms_begin)
    fail("a block of terms outside of its section");
  return header_.terms_begin + offset;
}

template <class Visit>
void MappedIndex::visit_block(std::uint64_t block, const Visit& visit) const {
  const std::uint64_t begin = term_block(block);
  const std::uint64_t end =
      block + 1 < term_blocks_ ? term_block(block + 1) : header_.term_blocks_begin;
  if (end < begin) fail("blocks of terms out of order");
  const char* at = bytes(begin, end - begin);
  const char* const at_end = at + (end - begin);
  const std::uint64_t terms = std::min(block_terms, header_.terms - block * block_terms);
  std::string term;
  TermPostings postings;
  postings.begin = sizeof(header_) + take_varint(at, at_end);
  for (std::uint64_t i = 0; i < terms; ++i) {
    const std::uint64_t shared = i == 0 ? 0 : take_varint(at, at_end);
    const std::uint64_t size = take_varint(at, at_end);
    if (at == nullptr || shared > term.size() || size > static_cast<std::uint64_t>(at_end - at))
      fail("a damaged block of terms");
    term.resize(shared);
    term.append(at, size);
    at += size;
    postings.documents = take_varint(at, at_end);
    postings.occurrences = postings.documents + take_varint(at, at_end);
    postings.bytes = take_varint(at, at_end);
    if (at == nullptr || postings.documents == 0 || postings.documents > header_.documents ||
        postings.begin > header_.terms_begin ||
        postings.bytes > header_.terms_begin - postings.begin)
      fail("a term with postings outside of their section");
    if (!visit(term, postings)) return;
    postings.begin += postings.bytes;
  }
}

std::optional<TermPostings> MappedIndex::find(std::string_view term) const {
  // The last block whose first term is not greater.
  std::uint64_t first = 0;
  std::uint64_t count = term_blocks_;
  while (count > 0) {
    const std::uint64_t half = count / 2;
    const std::uint64_t begin = term_block(first + half);
    const std::uint64_t left = header_.term_blocks_begin - begin;
    const char* at = bytes(begin, std::min<std::uint64_t>(left, 2 * longest_varint));
    const char* const end = at + std::min<std::uint64_t>(left, 2 * longest_varint);
    const char* const numbers = at;
    static_cast<void>(take_varint(at, end));
    const std::uint64_t size = take_varint(at, end);
    if (at == nullptr || size > left - static_cast<std::uint64_t>(at - numbers))
      fail("a damaged block of terms");
    const std::uint64_t word = begin + static_cast<std::uint64_t>(at - numbers);
    if (std::string_view(bytes(word, size), size) <= term) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  std::optional<TermPostings> found;
  if (first == 0) return found;
  visit_block(first - 1, [&](const std::string& other, const TermPostings& postings) {
    if (other == term) found = postings;
    return other < term;
  });
  return found;
}

void MappedIndex::for_each_term(
    const std::function<void(std::string_view, const TermPostings&)>& visit) const {
  for (std::uint64_t block = 0; block < term_blocks_; ++block) {
    visit_block(block, [&](const std::string& term, const TermPostings& postings) {
      visit(term, postings);
      return true;
    });
  }
}

PostingCursor::PostingCursor(const MappedIndex& index, const TermPostings& postings)
    : index_(&index), postings_(postings), full_blocks_(postings.documents / packed_numbers) {
  if (full_blocks_ * sizeof(PostingSkip) > postings.bytes)
    index.fail("postings that are too short");
  skips_begin_ = postings.begin + postings.bytes - full_blocks_ * sizeof(PostingSkip);
  load(0);
}

void PostingCursor::load(std::uint64_t block) {
  block_ = block;
  at_ = count_ = 0;
  document_ = end_document;
  if (block >= full_blocks_) {
    if (block == full_blocks_) load_last();
    return;
  }
  const PostingSkip before = block == 0 ? PostingSkip{end_document, 0, 0} : skip(block - 1);
  const PostingSkip own = skip(block);
  if (own.end() < before.end() + 2 || own.end() > skips_begin_ - postings_.begin)
    index_->fail("a block of postings outside of its list");
  const std::uint64_t size = own.end() - before.end();
  const char* at = index_->bytes(postings_.begin + before.end(), size);
  const int bits = static_cast<unsigned char>(at[0]);
  frequency_bits_ = static_cast<unsigned char>(at[1]);
  if (bits > 32 || frequency_bits_ > 32 ||
      2 + packed_bytes(bits) + packed_bytes(frequency_bits_) > size)
    index_->fail("a damaged block of postings");
  unpack_block(at + 2, bits, documents_.data());
  packed_frequencies_ = at + 2 + packed_bytes(bits);
  positions_ = packed_frequencies_ + packed_bytes(frequency_bits_);
  positions_end_ = at + size;
  has_frequencies_ = false;
  // Each is less than 2^32, so the sum of all tells of an overflow of any.
  std::uint64_t last = before.last_document == end_document ? ~std::uint64_t{0}
                                                            : std::uint64_t{before.last_document};
  for (std::uint32_t& document : documents_) {
    last += std::uint64_t{document} + 1;
    document = static_cast<std::uint32_t>(last);
  }
  if (last != own.last_document || last >= index_->header().documents)
    index_->fail("a damaged block of postings");
  count_ = packed_numbers;
  document_ = documents_[0];
}

void PostingCursor::load_last() {
  const auto count = static_cast<std::uint32_t>(postings_.documents % packed_numbers);
  if (count == 0) return;
  const PostingSkip before =
      full_blocks_ == 0 ? PostingSkip{end_document, 0, 0} : skip(full_blocks_ - 1);
  const std::uint64_t begin = postings_.begin + before.end();
  if (before.end() > skips_begin_ - postings_.begin)
    index_->fail("a block of postings outside of its list");
  const char* at = index_->bytes(begin, skips_begin_ - begin);
  const char* const end = at + (skips_begin_ - begin);
  std::uint64_t last = before.last_document == end_document ? ~std::uint64_t{0}
                                                            : std::uint64_t{before.last_document};
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t code = take_varint(at, end);
    const std::uint64_t more = (code & 1) != 0 ? 0 : take_varint(at, end) + 1;
    last += (code >> 1) + 1;
    if (at == nullptr || code >> 33 != 0 || last >= index_->header().documents ||
        more >= end_document)
      index_->fail("a damaged block of postings");
    documents_[i] = static_cast<std::uint32_t>(last);
    frequencies_[i] = static_cast<std::uint32_t>(more + 1);
  }
  positions_ = at;
  positions_end_ = end;
  has_frequencies_ = true;
  count_ = count;
  document_ = documents_[0];
}

void PostingCursor::load_frequencies() {
  unpack_block(packed_frequencies_, frequency_bits_, frequencies_.data());
  for (std::uint32_t& frequency : frequencies_) ++frequency;
  has_frequencies_ = true;
}

void PostingCursor::advance(std::uint32_t target) {
  if (document_ >= target) return;
  if (count_ == 0) return;
  if (documents_[count_ - 1] < target) {
    // Steps of growing length, then a binary search.
    std::uint64_t first = block_ + 1;
    std::uint64_t step = 1;
    while (first + step <= full_blocks_ && skip(first + step - 1).last_document < target) {
      first += step;
      step *= 2;
    }
    std::uint64_t count = std::min(step, full_blocks_ - std::min(full_blocks_, first));
    while (count > 0) {
      const std::uint64_t half = count / 2;
      if (skip(first + half).last_document < target) {
        first += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    load(first);
    if (count_ == 0 || documents_[count_ - 1] < target) {
      // Only the last block can end before the target.
      if (block_ < full_blocks_) index_->fail("a damaged block of postings");
      at_ = count_ = 0;
      document_ = end_document;
      return;
    }
  }
  while (documents_[at_] < target) ++at_;
  document_ = documents_[at_];
}

void PostingCursor::positions(std::vector<std::uint64_t>& positions) {
  if (!has_frequencies_) load_frequencies();
  const char* at = positions_;
  for (std::uint32_t i = 0; i < at_; ++i) {
    for (std::uint32_t left = frequencies_[i]; left > 0 && at != nullptr; --left)
      static_cast<void>(take_varint(at, positions_end_));
  }
  positions.clear();
  std::uint64_t position = 0;
  for (std::uint32_t left = frequencies_[at_]; left > 0 && at != nullptr; --left) {
    position += take_varint(at, positions_end_);
    positions.push_back(position);
  }
  if (at == nullptr) index_->fail("damaged positions");
}

InvertedIndex::InvertedIndex(const std::string& path)
    : mapped_(std::make_unique<MappedIndex>(path)) {}
InvertedIndex::~InvertedIndex() = default;
InvertedIndex::InvertedIndex(InvertedIndex&&) noexcept = default;
InvertedIndex& InvertedIndex::operator=(InvertedIndex&&) noexcept = default;

std::uint64_t InvertedIndex::documents() const {
  return mapped_->header().documents;
}
std::uint64_t InvertedIndex::terms() const {
  return mapped_->header().terms;
}
std::uint64_t InvertedIndex::postings() const {
  return mapped_->header().postings;
}
std::uint64_t InvertedIndex::occurrences() const {
  return mapped_->header().occurrences;
}
bool InvertedIndex::has_positions() const {
  return (mapped_->header().flags & IndexFlags::has_positions) != 0;
}
int InvertedIndex::kmer_length() const {
  return static_cast<int>(mapped_->header().kmer_length);
}
bool InvertedIndex::is_canonical() const {
  return (mapped_->header().flags & has_canonical_kmers) != 0;
}
std::string InvertedIndex::stemmer() const {
  return mapped_->stemmer();
}
std::string InvertedIndex::document_name(std::uint32_t document) const {
  return std::string(mapped_->document_name(document));
}
std::uint32_t InvertedIndex::document_length(std::uint32_t document) const {
  return mapped_->document_length(document);
}

}  // namespace sortie::indexing
