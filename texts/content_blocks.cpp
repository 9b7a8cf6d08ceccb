// SPDX-License-Identifier: Apache-2.0
#include "texts/content_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"
#include "texts/json_lines.hpp"
#include "texts/utf8.hpp"

namespace sortie::texts {
namespace {

/// A first line is not looked at beyond this.
constexpr std::size_t longest_first_line = std::size_t{64} << 20;

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

void BlockMemory::take(std::uint64_t bytes, const std::string& file) {
  const std::uint64_t held = held_ += bytes;
  if (limit_ == 0 || held <= limit_) return;
  held_ -= bytes;
  const Error error = out_of_memory_error("a block of the file", held, limit_);
  throw Error(error.kind(), fmt::format("{}: {}", file, error.what()));
}

void BlockBuffer::reserve(std::size_t size, std::size_t kept, const std::string& file) {
  if (size <= capacity_) return;
  memory_->take(size, file);
  std::unique_ptr<char[]> larger(new (std::nothrow) char[size]);
  if (larger == nullptr) {
    memory_->give_back(size);
    const Error error = out_of_memory_error("a block of the file", size, host_memory_available());
    throw Error(error.kind(), fmt::format("{}: {}", file, error.what()));
  }
  if (kept != 0) std::memcpy(larger.get(), data_.get(), kept);
  data_ = std::move(larger);
  memory_->give_back(std::exchange(capacity_, size));
}

void BlockBuffer::swap(BlockBuffer& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
}

void ContentBlock::swap(ContentBlock& other) noexcept {
  bytes.swap(other.bytes);
  std::swap(size, other.size);
  std::swap(offset, other.offset);
  std::swap(begins, other.begins);
  std::swap(is_first, other.is_first);
  std::swap(is_last, other.is_last);
}

std::size_t separator_bytes(Format format, int token_bytes) {
  constexpr std::size_t mark_and_number = 6;
  if (format == Format::table) return mark_and_number;
  return format == Format::infini_gram ? static_cast<std::size_t>(token_bytes) : 0;
}

bool is_named_packed(std::string_view path) {
  return path.ends_with(".gz") || path.ends_with(".zst") || path.ends_with(".zstd");
}

bool is_named_jsonl(std::string_view path) {
  constexpr std::array<std::string_view, 3> names = {".jsonl", ".jsonlines", ".ndjson"};
  if (is_named_packed(path)) path = path.substr(0, path.rfind('.'));
  return std::ranges::any_of(names, [&](auto end) { return path.ends_with(end); });
}

FileContent::FileContent(const std::string& path, const CorpusOptions& options,
                         std::size_t block_bytes, BlockMemory& memory, int decoders)
    : path_(path),
      options_(options),
      block_bytes_(block_bytes),
      source_(path, ByteSource::Content::any, 1, decoders),
      ahead_(memory),
      format_(find_format()),
      begins_(read_begins()) {}

Format FileContent::find_format() {
  if (options_.format != Format::automatic) return options_.format;
  if (options_.token_bytes != 1) return Format::plain;
  if (is_named_jsonl(path_)) return Format::jsonl;
  for (std::size_t size = 1; size <= longest_first_line;) {
    read_ahead(size);
    const std::string_view head(ahead_.data(), ahead_size_);
    if (!head.starts_with('{')) break;
    const std::size_t line = head.find('\n');
    if (line != std::string_view::npos || ended_) {
      ahead_.reserve(ahead_size_ + json_padding, ahead_size_, path_);
      try {
        JsonLineParser parser(path_, options_.field);
        static_cast<void>(parser.parse({ahead_.data(), std::min(line, ahead_size_)}));
        return Format::jsonl;
      } catch (const JsonFault&) {
        return Format::plain;
      }
    }
    size = size == 1 ? block_bytes_ : 2 * size;
  }
  return Format::plain;
}

/// \throws Error (input) numbers that are not those of a file with separators
std::shared_ptr<const DocumentBegins> FileContent::read_begins() const {
  const std::size_t separator = separator_bytes(format_, options_.token_bytes);
  if (separator == 0) return nullptr;
  std::string path = path_ + ".size";
  if (format_ == Format::infini_gram) {
    constexpr std::string_view text = "tokenized";
    const std::size_t name = path_.rfind(text);
    if (name == std::string::npos || path_.find('/', name) != std::string::npos)
      throw input_error(path_, 0, "another name", "tokenized.N of an infini-gram shard");
    path = std::string(path_).replace(name, text.size(), "offset");
  }
  const ByteBuffer bytes = read_all(path);
  if (bytes.size % sizeof(std::uint64_t) != 0)
    throw input_error(path, 0, fmt::format("{} bytes", bytes.size), "numbers of 64 bits");
  auto begins = std::make_shared<DocumentBegins>(bytes.size / sizeof(std::uint64_t));
  if (bytes.size != 0) std::memcpy(begins->data(), bytes.data.get(), bytes.size);
  if (format_ == Format::infini_gram) {
    // The end is that of the file. That of a compressed file is not known yet.
    const bool is_known = !source_.compressed() && source_.file().is_regular();
    begins->push_back(is_known ? source_.size_hint() : ~std::uint64_t{0});
  }
  const std::uint64_t token = static_cast<std::uint64_t>(options_.token_bytes);
  for (std::size_t i = 0; i < begins->size(); ++i) {
    const std::uint64_t at = (*begins)[i];
    const bool is_end = i + 1 == begins->size();
    const bool is_right = i == 0 ? at == 0 : at >= (*begins)[i - 1] + separator;
    if (is_right && (is_end || at % token == 0)) continue;
    throw input_error(path, 0, fmt::format("the number {} at entry {}", at, i),
                      "the places of separators, ascending from 0");
  }
  if (begins->empty()) throw input_error(path, 0, "an empty file", "at least the size of the text");
  return begins;
}

/// Reads until `size` bytes are ahead, or the file ends.
void FileContent::read_ahead(std::size_t size) {
  if (ended_ || size <= ahead_size_) return;
  ahead_.reserve(size, ahead_size_, path_);
  ahead_size_ += source_.read({ahead_.data() + ahead_size_, size - ahead_size_});
  ended_ = ahead_size_ < size;
}

/// Reads until the block has the wanted size, or the file ends. \return its size
std::size_t FileContent::fill(ContentBlock& block, std::size_t filled, std::size_t wanted) {
  if (ended_ || filled >= wanted) return filled;
  block.bytes.reserve(wanted + json_padding, filled, path_);
  const std::size_t got = source_.read({block.bytes.data() + filled, wanted - filled});
  ended_ = got < wanted - filled;
  return filled + got;
}

/// Bytes of whole documents, or whole characters; 0 if there are none. At least one byte remains,
/// so that the next block is not empty.
std::size_t FileContent::cut(std::string_view content) const {
  content.remove_suffix(1);
  if (format_ == Format::jsonl) {
    const std::size_t line = content.rfind('\n');
    return line == std::string_view::npos ? 0 : line + 1;
  }
  if (!options_.split_documents && begins_ == nullptr) return 0;
  if (!options_.split_documents) {
    const std::uint64_t last = *(std::ranges::upper_bound(*begins_, offset_ + content.size()) - 1);
    return last > offset_ ? static_cast<std::size_t>(last - offset_) : 0;
  }
  content = content.substr(0, block_bytes_);
  if (options_.token_bytes != 1)
    return content.size() - content.size() % static_cast<std::size_t>(options_.token_bytes);
  return content.size() - incomplete_tail(as_bytes(content));
}

void FileContent::next(ContentBlock& block) {
  block.is_first = !started_;
  started_ = true;
  std::size_t filled = std::exchange(ahead_size_, 0);
  block.bytes.swap(ahead_);
  // One byte more than a block tells whether the file ends with it.
  std::size_t wanted = std::max(block_bytes_ + 1, filled);
  const bool is_whole = format_ == Format::plain && !options_.split_documents;
  const bool is_split = format_ != Format::jsonl && options_.split_documents;
  if (is_whole && !source_.compressed())
    wanted = std::max<std::size_t>(wanted, source_.size_hint() + 1);
  block.bytes.reserve(wanted + json_padding, filled, path_);
  std::size_t end = 0;
  while (true) {
    filled = fill(block, filled, wanted);
    if (ended_ && (!is_split || filled <= block_bytes_)) {
      end = filled;
      break;
    }
    end = cut({block.bytes.data(), filled});
    if (end != 0) break;
    wanted = 2 * filled;
  }
  block.size = end;
  block.offset = std::exchange(offset_, offset_ + end);
  block.begins = begins_;
  block.is_last = ended_ && end == filled;
  if (end == filled) return;
  ahead_size_ = filled - end;
  ahead_.reserve(ahead_size_, 0, path_);
  std::memcpy(ahead_.data(), block.bytes.data() + end, ahead_size_);
}

struct ContentReader::State {
  std::string path;
  const CorpusOptions& options;
  std::size_t block_bytes;
  BlockMemory& memory;
  std::size_t blocks_ahead;
  std::unique_ptr<FileContent> file;  ///< null: not opened, or a fault

  std::mutex mutex;  ///< guards what follows
  std::condition_variable changed;
  std::deque<std::unique_ptr<ContentBlock>> ready;
  std::deque<std::unique_ptr<ContentBlock>> unused;
  std::exception_ptr fault;  ///< after the blocks that are ready
  bool stopped = false;
  std::jthread thread;  ///< last, so that it ends first

  void read_all() {
    try {
      for (bool is_last = false; !is_last;) {
        std::unique_ptr<ContentBlock> block;
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return stopped || ready.size() < blocks_ahead; });
          if (stopped) return;
          if (!unused.empty()) {
            block = std::move(unused.front());
            unused.pop_front();
          }
        }
        if (block == nullptr) block = std::make_unique<ContentBlock>(memory);
        file->next(*block);
        is_last = block->is_last;
        const std::lock_guard lock(mutex);
        ready.push_back(std::move(block));
        changed.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      fault = std::current_exception();
      changed.notify_all();
    }
  }
};

ContentReader::ContentReader(const std::string& path, const CorpusOptions& options,
                             std::size_t block_bytes, BlockMemory& memory, int blocks_ahead,
                             int decoders)
    : state_(new State{path,
                       options,
                       block_bytes,
                       memory,
                       static_cast<std::size_t>(blocks_ahead),
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       {},
                       {}}) {
  State& state = *state_;
  try {
    state.file = std::make_unique<FileContent>(path, options, block_bytes, memory, decoders);
  } catch (...) {
    state.fault = std::current_exception();
    return;
  }
  if (blocks_ahead == 0 || !state.file->source().compressed()) return;
  try {
    state.thread = std::jthread([&state] { state.read_all(); });
  } catch (const std::system_error&) {
    // The system has no more threads; next() reads.
  }
}

ContentReader::~ContentReader() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->changed.notify_all();
}

const FileContent& ContentReader::file() const {
  return *state_->file;
}

void ContentReader::next(ContentBlock& block) {
  State& state = *state_;
  if (!state.thread.joinable()) {
    if (state.fault) std::rethrow_exception(state.fault);
    return state.file->next(block);
  }
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return !state.ready.empty() || state.fault; });
  if (state.ready.empty()) std::rethrow_exception(state.fault);
  std::unique_ptr<ContentBlock> taken = std::move(state.ready.front());
  state.ready.pop_front();
  block.swap(*taken);
  state.unused.push_back(std::move(taken));
  state.changed.notify_all();
}

}  // namespace sortie::texts
