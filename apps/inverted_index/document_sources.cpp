// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "apps/inverted_index/words.hpp"
#include "sortie/fasta.hpp"
#include "sortie/inverted_index.hpp"

namespace sortie::indexing {
namespace {

/// Documents that the threads of a corpus stream read, joined to large blocks.
class CorpusReader {
 public:
  CorpusReader(const HostContext& context, std::vector<std::string> paths,
               const texts::CorpusOptions& options)
      : context_(context), paths_(std::move(paths)), options_(options) {
    context_.progress = {};
    context_.report = nullptr;
    context_.memory_budget = 0;
    options_.split_documents = true;
  }
  ~CorpusReader() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }
  CorpusReader(const CorpusReader&) = delete;
  CorpusReader& operator=(const CorpusReader&) = delete;

  bool next(Documents& block, std::uint64_t block_bytes) {
    if (!thread_.joinable()) {
      block_bytes_ = block_bytes;
      thread_ = std::thread([this] { read(); });
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_full_ || ended_; });
    if (!is_full_) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return false;
    }
    std::swap(block, full_);
    is_full_ = false;
    changed_.notify_all();
    return true;
  }

 private:
  /// Ends the pass when no more blocks are wanted.
  struct Stopped {};

  void read() {
    std::exception_ptr error;
    try {
      constexpr std::size_t least_bytes = 64;
      constexpr std::size_t most_bytes = std::size_t{1} << 20;
      options_.block_bytes =
          std::clamp(static_cast<std::size_t>(block_bytes_ / 8), least_bytes, most_bytes);
      stream_.emplace(context_, paths_, options_);
      texts::CorpusSteps steps;
      steps.pass = [&](int, const texts::CorpusBlock& block) { add(block); };
      stream_->pass(steps);
      if (filling_.size() > 0) deliver();
    } catch (const Stopped&) {
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = error;
    ended_ = true;
    changed_.notify_all();
  }

  void add(const texts::CorpusBlock& block) {
    filling_.bytes.reserve(block_bytes_ + options_.block_bytes);
    for (std::uint64_t i = 0; i < block.documents(); ++i) {
      const std::string_view bytes(
          reinterpret_cast<const char*>(block.bytes.data()) + block.begins[i],
          block.begins[i + 1] - block.begins[i]);
      if (i == 0 && block.continues) {
        filling_.bytes.append(bytes);
        filling_.begins.back() = filling_.bytes.size();
      } else {
        filling_.bytes.append(bytes);
        const std::string& path = stream_->files()[block.file].path;
        filling_.end_document(block.lines[i] == 0 ? path
                                                  : fmt::format("{}:{}", path, block.lines[i]));
      }
      if (filling_.bytes.size() < block_bytes_) continue;
      if (i + 1 < block.documents() || !block.continued) {
        deliver();
      } else {
        split();
      }
    }
  }

  /// Delivers all but the word at the end of the last document, which goes on in the next block.
  void split() {
    const char* const begin = filling_.bytes.data() + filling_.begins[filling_.size() - 1];
    const char* const end = filling_.bytes.data() + filling_.bytes.size();
    const char* at = end;
    while (at > begin) {
      const char* first = at - 1;
      while (first > begin && at - first < 4 && (static_cast<unsigned char>(*first) & 0xc0) == 0x80)
        --first;
      const Utf8Character last = decode_utf8(first, at);
      if (first + last.bytes != at || lower_of(last.character) == 0) break;
      at = first;
    }
    if (at == begin) return;  // no word ends here
    Documents rest;
    rest.continues = true;
    rest.bytes.assign(at, end);
    rest.end_document(filling_.names.back());
    filling_.bytes.resize(static_cast<std::size_t>(at - filling_.bytes.data()));
    filling_.begins.back() = filling_.bytes.size();
    deliver();
    filling_ = std::move(rest);
  }

  void deliver() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_full_ || stopped_; });
    if (stopped_) throw Stopped();
    std::swap(full_, filling_);
    is_full_ = true;
    changed_.notify_all();
    filling_.clear();
  }

  HostContext context_;
  std::vector<std::string> paths_;
  texts::CorpusOptions options_;
  std::optional<texts::CorpusStream> stream_;
  std::uint64_t block_bytes_ = 0;
  Documents filling_;  ///< of the reading thread
  std::mutex mutex_;
  std::condition_variable changed_;
  Documents full_;
  bool is_full_ = false;
  bool ended_ = false;
  bool stopped_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

/// Records of files that are read one after the other.
class SequenceReader {
 public:
  SequenceReader(const HostContext& context, std::vector<std::string> paths, int kmer_length)
      : context_(context),
        paths_(std::move(paths)),
        overlap_(static_cast<std::uint64_t>(std::max(kmer_length, 1)) - 1) {
    context_.progress = {};
    context_.report = nullptr;
    context_.memory_budget = 0;
  }

  bool next(Documents& block, std::uint64_t block_bytes) {
    while (block.bytes.size() < block_bytes) {
      if (record_ == text_.records.size()) {
        if (file_ == paths_.size()) break;
        text_ = {};  // not two texts at a time
        text_ = sequences::read_fasta(context_, paths_[file_++]);
        record_ = at_ = 0;
        continue;
      }
      const sequences::Record& record = text_.records[record_];
      const std::uint64_t begin = at_ - std::min(at_, overlap_);
      const std::uint64_t end = std::min(record.length, at_ + (block_bytes - block.bytes.size()));
      const char* const letters =
          reinterpret_cast<const char*>(text_.symbols.data()) + record.offset;
      // The first part of a block only can continue a record.
      if (at_ > 0) block.continues = true;
      block.bytes.append(letters + begin, letters + end);
      if (at_ == 0) ++number_;
      const std::string word = record.name.substr(0, record.name.find_first_of(" \t"));
      block.end_document(word.empty() ? fmt::format("#{}", number_) : word);
      at_ = end;
      if (at_ < record.length) break;
      ++record_;
      at_ = 0;
    }
    return block.size() > 0;
  }

 private:
  HostContext context_;
  std::vector<std::string> paths_;
  std::uint64_t overlap_;
  sequences::Text text_;
  std::size_t file_ = 0;      ///< next file
  std::size_t record_ = 0;    ///< next record of the text
  std::uint64_t at_ = 0;      ///< next letter of the record
  std::uint64_t number_ = 0;  ///< of the record, from 1
};

}  // namespace

DocumentSource corpus_documents(const HostContext& context, std::vector<std::string> paths,
                                const texts::CorpusOptions& options) {
  return
      [reader = std::make_shared<CorpusReader>(context, std::move(paths), options)](
          Documents& block, std::uint64_t block_bytes) { return reader->next(block, block_bytes); };
}

DocumentSource sequence_documents(const HostContext& context, std::vector<std::string> paths,
                                  int kmer_length) {
  return
      [reader = std::make_shared<SequenceReader>(context, std::move(paths), kmer_length)](
          Documents& block, std::uint64_t block_bytes) { return reader->next(block, block_bytes); };
}

}  // namespace sortie::indexing
