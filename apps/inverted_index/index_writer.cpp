// SPDX-License-Identifier: Apache-2.0
#include "apps/inverted_index/index_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "apps/inverted_index/varint.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/files/checksum.hpp"
#include "sortie/error.hpp"

namespace sortie::indexing {
namespace {

template <class T>
std::string_view bytes_of(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof(object)};
}

template <class T>
std::string_view bytes_of(std::span<const T> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

/// The path, which a memory-mapped file can be written to.
const std::string& regular_path(const std::string& path) {
  if (WholeFile::takes_rewrites(path)) return path;
  throw Error(ErrorKind::usage,
              fmt::format("{}: found a pipe or a device, expected a file for the index", path));
}

}  // namespace

void SpilledBytes::spill() {
  if (!file_) file_.emplace(folder_);
  file_->write(spilled_, buffer_);
  spilled_ += buffer_.size();
  buffer_.clear();
}

void SpilledBytes::copy_to(WholeFile& file) {
  std::string part(std::min<std::uint64_t>(most_buffered, spilled_), '\0');
  for (std::uint64_t done = 0; done < spilled_; done += part.size()) {
    part.resize(std::min<std::uint64_t>(part.size(), spilled_ - done));
    file_->read(done, part);
    file.write(part);
  }
  file.write(buffer_);
}

void PostingsEncoder::add_position(std::uint64_t position) {
  append_varint(position_bytes_, position - last_position_);
  last_position_ = position;
}

void PostingsEncoder::end_block() {
  std::array<std::uint32_t, packed_numbers> gaps;
  std::array<std::uint32_t, packed_numbers> more;
  std::uint32_t least_length = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t most = 0;
  std::uint32_t all_gaps = 0;
  std::uint32_t all_more = 0;
  for (std::size_t i = 0; i < packed_numbers; ++i) {
    all_gaps |= gaps[i] = documents_[i] - before_ - 1;
    all_more |= more[i] = frequencies_[i] - 1;
    most = std::max(most, frequencies_[i]);
    least_length = std::min(least_length, lengths_[documents_[i]]);
    before_ = documents_[i];
  }
  const int gap_bits = std::bit_width(all_gaps);
  const int more_bits = std::bit_width(all_more);
  std::array<char, 2 + 2 * packed_bytes(32)> packed;
  packed[0] = static_cast<char>(gap_bits);
  packed[1] = static_cast<char>(more_bits);
  pack_block(gaps.data(), gap_bits, packed.data() + 2);
  pack_block(more.data(), more_bits, packed.data() + 2 + packed_bytes(gap_bits));
  append({packed.data(), 2 + packed_bytes(gap_bits) + packed_bytes(more_bits)});
  append(position_bytes_);
  position_bytes_.clear();
  skips_.push_back({before_, least_length,
                    bytes_ << PostingSkip::frequency_bits |
                        std::min<std::uint64_t>(most, PostingSkip::most_frequency)});
  count_ = 0;
  flush_();
}

PostingsEncoder::List PostingsEncoder::finish() {
  if (count_ == packed_numbers) end_block();
  const std::uint64_t documents = skips_.size() * packed_numbers + count_;
  char buffer[2 * longest_varint];
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint32_t gap = documents_[i] - before_ - 1;
    const std::uint32_t frequency = frequencies_[i];
    char* at = put_varint(buffer, std::uint64_t{gap} << 1 | (frequency == 1 ? 1 : 0));
    if (frequency != 1) at = put_varint(at, frequency - 2);
    append({buffer, static_cast<std::size_t>(at - buffer)});
    before_ = documents_[i];
  }
  append(position_bytes_);
  for (const PostingSkip& skip : skips_) append(bytes_of(skip));
  const List list{documents, occurrences_, bytes_};
  position_bytes_.clear();
  skips_.clear();
  count_ = 0;
  before_ = ~std::uint32_t{0};
  bytes_ = occurrences_ = 0;
  return list;
}

IndexWriter::IndexWriter(const std::string& path, const IndexOptions& options)
    : file_(regular_path(path)),
      name_ends_(sorting::spill_folder(path)),
      names_(sorting::spill_folder(path)),
      terms_(sorting::spill_folder(path)),
      term_blocks_(sorting::spill_folder(path)) {
  std::copy(index_magic.begin(), index_magic.end(), header_.magic.begin());
  header_.version = index_version;
  header_.flags = (options.positions ? has_positions : 0U) |
                  (options.kmer_length > 0 ? has_kmers : 0U) |
                  (options.canonical ? has_canonical_kmers : 0U);
  header_.kmer_length = static_cast<std::uint32_t>(options.kmer_length);
  if (options.stemmer.size() > header_.stemmer.size())
    throw Error(ErrorKind::usage,
                fmt::format("stemmer: found {}, expected a name of at most {} "
                            "bytes",
                            sortie::quoted(options.stemmer), header_.stemmer.size()));
  std::copy(options.stemmer.begin(), options.stemmer.end(), header_.stemmer.begin());
  file_.write(bytes_of(header_));
}

void IndexWriter::add_documents(const Documents& block, std::span<const std::uint32_t> lengths) {
  std::size_t i = 0;
  const auto add_length = [&](std::uint32_t& sum, std::uint32_t length) {
    if (length > ~sum)
      throw input_error(block.names[i], 0, "more than 4294967295 terms", "fewer in a document");
    sum += length;
    header_.occurrences += length;
  };
  if (block.continues && !lengths.empty()) add_length(lengths_.back(), lengths[i++]);
  for (; i < lengths.size(); ++i) {
    // The greatest number marks the end of postings.
    if (lengths_.size() + 1 >= std::numeric_limits<std::uint32_t>::max())
      throw input_error(block.names[i], 0, "more than 4294967294 documents", "fewer");
    lengths_.push_back(0);
    add_length(lengths_.back(), lengths[i]);
    names_.append(block.names[i]);
    name_ends_.append_number(names_.size());
  }
}

void IndexWriter::add_term(std::string_view term, const PostingsEncoder::List& list) {
  entry_.clear();
  std::size_t shared = 0;
  if (header_.terms % block_terms == 0) {
    term_blocks_.append_number(terms_.size());
    append_varint(entry_, next_postings_);
  } else {
    const std::size_t most = std::min(term.size(), last_term_.size());
    while (shared < most && term[shared] == last_term_[shared]) ++shared;
    append_varint(entry_, shared);
  }
  append_varint(entry_, term.size() - shared);
  entry_.append(term.substr(shared));
  append_varint(entry_, list.documents);
  append_varint(entry_, list.occurrences - list.documents);
  append_varint(entry_, list.bytes);
  terms_.append(entry_);
  last_term_.assign(term);
  next_postings_ += list.bytes;
  header_.postings += list.documents;
  ++header_.terms;
}

void IndexWriter::finish(int threads, IndexFigures& figures) {
  header_.documents = lengths_.size();
  header_.terms_begin = file_.bytes_written();
  terms_.copy_to(file_);
  header_.term_blocks_begin = file_.bytes_written();
  term_blocks_.copy_to(file_);
  header_.lengths_begin = file_.bytes_written();
  file_.write(bytes_of(std::span<const std::uint32_t>(lengths_)));
  header_.name_ends_begin = file_.bytes_written();
  name_ends_.copy_to(file_);
  header_.names_begin = file_.bytes_written();
  names_.copy_to(file_);
  header_.checksums_begin = file_.bytes_written();
  file_.flush();
  // Threads have written parts of blocks, so that these are complete only now.
  const std::uint64_t content = header_.checksums_begin - sizeof(header_);
  std::vector<std::uint64_t> checksums((content + checked_bytes - 1) / checked_bytes);
  std::vector<std::string> buffers(static_cast<std::size_t>(threads));
  BlockSteps steps;
  steps.take = [&](int, std::uint64_t block) { return block < checksums.size(); };
  steps.work = [&](int worker, std::uint64_t block) {
    std::string& buffer = buffers[static_cast<std::size_t>(worker)];
    const std::uint64_t begin = block * checked_bytes;
    buffer.resize(std::min(checked_bytes, content - begin));
    file_.read_at(sizeof(header_) + begin, buffer);
    checksums[block] = block_checksum(std::as_bytes(std::span(buffer)));
  };
  run_blocks(threads, steps);
  const std::span<const std::uint64_t> sums(checksums);
  file_.write(bytes_of(sums));
  header_.file_bytes = file_.bytes_written();
  header_.checksums_checksum = block_checksum(std::as_bytes(sums));
  header_.header_checksum = block_checksum(
      std::as_bytes(std::span(&header_, 1)).first(offsetof(IndexHeader, header_checksum)));
  file_.rewrite(0, bytes_of(header_));
  file_.commit();
  figures.documents = header_.documents;
  figures.terms = header_.terms;
  figures.postings = header_.postings;
  figures.occurrences = header_.occurrences;
  figures.index_bytes = header_.file_bytes;
}

}  // namespace sortie::indexing
