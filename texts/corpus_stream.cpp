// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/files/block_pipeline.hpp"
#include "core/files/checksum.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/corpus.hpp"
#include "sortie/error.hpp"
#include "texts/content_blocks.hpp"
#include "texts/json_lines.hpp"
#include "texts/stream_state.hpp"
#include "texts/utf8.hpp"

namespace sortie::texts {
namespace {

/// Blocks of a worker: content, what is read behind its end, and text.
constexpr int blocks_of_worker = 3;
/// Blocks that are read ahead of a compressed file, beside one that is being read and its rest.
constexpr int blocks_ahead = 2;
constexpr int blocks_of_file_ahead = blocks_ahead + 2;
constexpr std::size_t least_block_bytes = 64;
/// Files of at most this part of a block are read by the workers, as a whole.
constexpr std::size_t small_files_of_block = 4;

constexpr int most_files_ahead = 8;
constexpr int threads_of_file_ahead = 4;

Compression compression_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::gzip:
      return Compression::gzip;
    case Encoding::zstd:
      return Compression::zstd;
    default:
      return Compression::none;
  }
}

/// Size of a file that can be read again; nothing for others.
std::optional<std::uint64_t> size_of_regular(const std::string& path) {
  struct stat status = {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// The block of a worker: its content, parsed as far as that is possible without the blocks before.
class WorkerBlock {
 public:
  WorkerBlock(const CorpusOptions& options, std::size_t block_bytes, BlockMemory& memory)
      : content(memory),
        options_(options),
        block_bytes_(block_bytes),
        memory_(memory),
        text_(memory) {}

  /// A fault in the content, whose line or byte is counted from the begin of the block.
  struct Fault {
    bool at_line = true;
    std::uint64_t place = 0;
    std::string found;
    std::string expected;
  };

  /// Reads a file that was not opened yet.
  void read_whole(const std::string& path) {
    own_ = std::make_unique<FileContent>(path, options_, block_bytes_, memory_);
    set_file(*own_);
    own_->next(content);
    while (!content.is_last) {
      ContentBlock more(memory_);
      own_->next(more);
      content.bytes.reserve(content.size + more.size + json_padding, content.size, path);
      std::copy_n(more.bytes.data(), more.size, content.bytes.data() + content.size);
      content.size += more.size;
      content.is_last = more.is_last;
    }
    own_.reset();
  }

  /// Copies the block, which the caller has placed, for later passes.
  void keep() const { std::copy_n(content.bytes.data(), content.size, to_keep->bytes); }
  /// Takes the block of an earlier pass.
  void restore(const KeptBlock& kept, const std::string& path) {
    content.bytes.reserve(kept.size + json_padding, 0, path);
    std::copy_n(kept.bytes, kept.size, content.bytes.data());
    content.size = kept.size;
    content.offset = kept.offset;
    content.begins = kept.begins;
    content.is_first = kept.is_first;
    content.is_last = kept.is_last;
    format = kept.format;
    compression = kept.compression;
    file_bytes = kept.file_bytes;
  }

  void set_file(const FileContent& file) {
    format = file.format();
    compression = compression_of(file.source().encoding());
    file_bytes = file.source().size_hint();
  }

  void parse(const std::string& path) {
    begins.clear();
    lines.clear();
    line_numbers.clear();
    line_ranges.clear();
    invalid_utf8 = 0;
    line_ends = 0;
    fault.reset();
    continues = format == Format::plain && !content.is_first;
    continued = format == Format::plain && !content.is_last;
    first_is_invalid = last_is_invalid = false;
    if (format == Format::jsonl) return parse_lines(path);
    if (format == Format::plain) return parse_plain();
    parse_separated(path);
  }

  int file = 0;
  bool is_opened = false;  ///< false: a small file, to be read as a whole
  KeptBlock* to_keep = nullptr;
  ContentBlock content;
  Format format = Format::plain;
  Compression compression = Compression::none;
  std::uint64_t file_bytes = 0;

  ParsedBlock parsed;
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> lines;         ///< of the documents in the file
  std::vector<std::uint64_t> line_numbers;  ///< of the documents in the block, from 0
  std::vector<ByteRange> line_ranges;
  bool continues = false;
  bool continued = false;
  std::uint64_t invalid_utf8 = 0;  ///< documents
  bool first_is_invalid = false;
  bool last_is_invalid = false;
  std::uint64_t line_ends = 0;
  std::optional<Fault> fault;

 private:
  void parse_plain() {
    const std::span<const std::uint8_t> bytes = {
        reinterpret_cast<const std::uint8_t*>(content.bytes.data()), content.size};
    begins = {0, bytes.size()};
    lines = {0};
    parsed.text.bytes = bytes;
    first_is_invalid = last_is_invalid = !check_utf8(bytes, 0);
  }

  /// Whether bytes of a document are UTF-8, which is counted. \param at  where they are in the content
  bool check_utf8(std::span<const std::uint8_t> bytes, std::size_t at) {
    if (options_.token_bytes != 1 || is_utf8(bytes)) return true;
    ++invalid_utf8;
    if (options_.refuse_invalid_utf8 && !fault) {
      const std::size_t valid = valid_prefix(bytes);
      fault = Fault{false, at + valid, fmt::format("the byte 0x{:02x}", bytes[valid]), "UTF-8"};
    }
    return false;
  }

  /// Parses documents behind separators, by where they begin.
  void parse_separated(const std::string& path) {
    const DocumentBegins& all = *content.begins;
    const std::uint64_t from = content.offset;
    const std::uint64_t to = from + content.size;
    if (content.is_last) check_end(path, to);
    text_.reserve(content.size + 1, 0, path);
    char* const text = text_.data();
    std::size_t filled = 0;
    auto document = static_cast<std::size_t>(std::ranges::upper_bound(all, from) - all.begin()) - 1;
    continues = document + 1 < all.size() && all[document] < from;
    for (; document + 1 < all.size() && all[document] < to; ++document) {
      check_separator(document);
      const std::uint64_t body = all[document] + separator_bytes(format, options_.token_bytes);
      const std::uint64_t end = std::clamp(all[document + 1], from, to);
      const std::uint64_t begin = std::clamp(body, from, end);
      begins.push_back(filled);
      lines.push_back(document + 1);
      std::copy_n(content.bytes.data() + (begin - from), end - begin, text + filled);
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text) + filled;
      last_is_invalid = !check_utf8({bytes, end - begin}, begin - from);
      if (lines.size() == 1) first_is_invalid = last_is_invalid;
      filled += end - begin;
      continued = all[document + 1] > to && !content.is_last;
    }
    begins.push_back(filled);
    parsed.text.bytes = {reinterpret_cast<const std::uint8_t*>(text), filled};
  }

  /// Checks as much of a separator as is in the block.
  void check_separator(std::size_t document) {
    std::array<std::uint8_t, 8> expected = {};
    expected.fill(0xff);
    const auto number = static_cast<std::uint32_t>(document + 1);
    if (format == Format::table) std::memcpy(expected.data() + 2, &number, sizeof(number));
    const std::uint64_t begin = (*content.begins)[document];
    for (std::size_t i = 0; i < separator_bytes(format, options_.token_bytes); ++i) {
      if (begin + i < content.offset || begin + i >= content.offset + content.size) continue;
      const std::size_t at = begin + i - content.offset;
      const auto byte = static_cast<std::uint8_t>(content.bytes.data()[at]);
      if (byte == expected[i] || fault) continue;
      fault = Fault{false, at, fmt::format("0x{:02x}", byte),
                    fmt::format("0x{:02x} of the separator of document {}", expected[i], number)};
    }
  }

  /// \param size  of the content \throws Error (input)
  void check_end(const std::string& path, std::uint64_t size) const {
    const DocumentBegins& all = *content.begins;
    const bool is_open = all.back() == ~std::uint64_t{0};
    const std::uint64_t least =
        !is_open         ? all.back()
        : all.size() > 1 ? all[all.size() - 2] + separator_bytes(format, options_.token_bytes)
                         : 0;
    if (is_open ? size >= least : size == least) return;
    throw input_error(
        path, 0, fmt::format("{} bytes", size),
        fmt::format("{}{}, as the places of its documents say", is_open ? "at least " : "", least));
  }

  void parse_lines(const std::string& path) {
    if (!parser_) parser_.emplace(path, options_.field);
    // Escapes are longer than what they say, so the content's size suffices.
    text_.reserve(content.size + 1, 0, path);
    char* const text = text_.data();
    std::size_t filled = 0;
    const std::string_view all = content.view();
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t found = all.find('\n', begin);
      const std::size_t end = std::min(found, all.size());
      const std::string_view line = all.substr(begin, end - begin);
      if (!is_blank(line)) {
        const std::string_view document = parse_line(line);
        if (fault) return;
        begins.push_back(filled);
        line_numbers.push_back(line_ends);
        line_ranges.push_back({begin, end});
        std::copy(document.begin(), document.end(), text + filled);
        filled += document.size();
      }
      if (found != std::string_view::npos) ++line_ends;
      begin = end + 1;
    }
    begins.push_back(filled);
    lines = line_numbers;
    parsed.text.bytes = {reinterpret_cast<const std::uint8_t*>(text), filled};
  }

  std::string_view parse_line(std::string_view line) {
    try {
      const JsonLineParser::Document document = parser_->parse(line);
      if (!document.invalid_utf8) return document.text;
      if (options_.refuse_invalid_utf8) throw JsonFault{"bytes that are not UTF-8", "UTF-8"};
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(document.text.data());
      invalid_utf8 += is_utf8({bytes, document.text.size()}) ? 0 : 1;
      return document.text;
    } catch (const JsonFault& json) {
      fault = Fault{true, line_ends, json.found, json.expected};
      return {};
    }
  }

  const CorpusOptions& options_;
  std::size_t block_bytes_;
  BlockMemory& memory_;
  std::unique_ptr<FileContent> own_;
  std::optional<JsonLineParser> parser_;
  BlockBuffer text_;
};

/// One pass over the files.
class Pass {
 public:
  Pass(CorpusStream::State& stream, const ParsedSteps& steps)
      : stream_(stream), steps_(steps), memory_(stream.limit) {
    for (int worker = 0; worker < stream.workers; ++worker)
      blocks_.push_back(std::make_unique<WorkerBlock>(stream.options, stream.block_bytes, memory_));
  }

  void run() {
    PhaseTimer timer(stream_.context, "read corpus");
    run_blocks(
        stream_.workers,
        {.take = [&](int worker, std::uint64_t number) { return take(*blocks_[worker], number); },
         .work =
             [&](int worker, std::uint64_t number) {
               work(*blocks_[worker], number);
               if (steps_.work && !blocks_[worker]->fault)
                 steps_.work(worker, blocks_[worker]->parsed);
             },
         .pass =
             [&](int worker, std::uint64_t number) {
               place(*blocks_[worker], number);
               if (steps_.pass) steps_.pass(worker, blocks_[worker]->parsed);
               if (blocks_[worker]->content.is_last) end_file();
               // Callbacks belong to the calling thread.
               if (worker == 0) report();
             },
         .finish =
             [&](int worker, std::uint64_t) {
               if (steps_.finish) steps_.finish(worker, blocks_[worker]->parsed);
               if (blocks_[worker]->to_keep != nullptr) blocks_[worker]->keep();
             }});
    if (!stream_.has_passed) {
      if (!keeps_) stream_.kept.clear();
      stream_.kept_content.shrink(keeps_ ? kept_bytes_ : 0);
    }
    report_progress(stream_.context, "read corpus", content_, content_);
    timer.set_bytes(content_);
    stream_.documents = documents_;
    stream_.text_bytes = text_bytes_;
  }

 private:
  [[nodiscard]] const std::string& path(std::size_t file) const { return stream_.files[file].path; }

  [[nodiscard]] bool is_small(std::size_t file) const {
    const auto size = size_of_regular(path(file));
    return size && *size <= stream_.block_bytes / small_files_of_block;
  }

  /// Threads that decompress a file, which takes memory beside the blocks.
  [[nodiscard]] int decoders_of_file() const {
    constexpr int most = 8;
    return stream_.context.memory_budget != 0
               ? 1
               : std::clamp(stream_.workers / stream_.files_ahead, 1, most);
  }

  /// Opens the next files, as far as they are read in parts.
  void open_files() {
    while (next_file_ < stream_.files.size() &&
           open_.size() < static_cast<std::size_t>(stream_.files_ahead) && !is_small(next_file_)) {
      open_.push_back(std::make_unique<ContentReader>(
          path(next_file_), stream_.options, stream_.block_bytes, memory_,
          stream_.workers > 1 ? blocks_ahead : 0, decoders_of_file()));
      ++next_file_;
    }
  }

  bool take(WorkerBlock& block, std::uint64_t number) {
    if (stream_.has_kept()) {
      if (number == stream_.kept.size()) return false;
      block.file = stream_.kept[number].file;
      return true;
    }
    open_files();
    block.is_opened = !open_.empty();
    if (!block.is_opened) {
      if (next_file_ == stream_.files.size()) return false;
      block.file = static_cast<int>(next_file_++);
      return true;
    }
    block.file = static_cast<int>(next_file_ - open_.size());
    open_.front()->next(block.content);
    block.set_file(open_.front()->file());
    if (block.content.is_last) open_.pop_front();
    return true;
  }

  void work(WorkerBlock& block, std::uint64_t number) const {
    const auto file = static_cast<std::size_t>(block.file);
    if (stream_.has_kept()) {
      block.restore(stream_.kept[number], path(file));
    } else if (!block.is_opened) {
      block.read_whole(path(file));
    }
    block.parse(path(file));
    ParsedBlock& parsed = block.parsed;
    parsed.content = block.content.view();
    parsed.lines = block.line_ranges;
    parsed.is_first = block.content.is_first;
    parsed.is_last = block.content.is_last;
    parsed.text.begins = block.begins;
    parsed.text.lines = block.lines;
    parsed.text.file = file;
    parsed.text.continues = block.continues;
    parsed.text.continued = block.continued;
    if (stream_.has_passed && number < stream_.blocks.size())
      set_begin(block, stream_.blocks[number]);
  }

  static void set_begin(WorkerBlock& block, const BlockBegin& begin) {
    CorpusBlock& text = block.parsed.text;
    text.first_byte = begin.byte;
    text.first_document = begin.document - (text.continues ? 1 : 0);
    if (block.format != Format::jsonl) return;
    for (std::size_t i = 0; i < block.lines.size(); ++i)
      block.lines[i] = begin.line + block.line_numbers[i] + 1;
  }

  /// Gives the block its place in the corpus, and adds what it has to the file.
  void place(WorkerBlock& block, std::uint64_t number) {
    if (block.content.is_first) start_file(block);
    const BlockBegin begin = {documents_, text_bytes_, line_ends_};
    block.to_keep = nullptr;
    if (!stream_.has_passed) {
      stream_.blocks.push_back(begin);
      set_begin(block, begin);
      plan_to_keep(block);
    } else if (number >= stream_.blocks.size() || stream_.blocks[number] != begin) {
      throw changed("other documents");
    }
    if (block.fault) {
      const WorkerBlock::Fault& fault = *block.fault;
      if (fault.at_line)
        throw input_error(now_.path, line_ends_ + fault.place + 1, fault.found, fault.expected);
      throw input_error(now_.path, 0,
                        fmt::format("{} at byte {}", fault.found, now_.content_bytes + fault.place),
                        fault.expected);
    }
    CorpusBlock& text = block.parsed.text;
    const bool is_counted = text.continues && invalid_goes_on_;
    now_.invalid_utf8 += block.invalid_utf8 - (block.first_is_invalid && is_counted ? 1 : 0);
    invalid_goes_on_ =
        text.continued && (block.last_is_invalid || (is_counted && text.documents() == 1));
    documents_ = text.first_document + text.documents();
    text_bytes_ += text.bytes.size();
    line_ends_ += block.line_ends;
    now_.content_bytes += block.content.size;
    content_ += block.content.size;
    if (!stream_.has_kept()) checksum_->extend(block.content.view());
  }

  /// Lets the block be kept, unless blocks before could not be.
  void plan_to_keep(WorkerBlock& block) {
    const ContentBlock& content = block.content;
    keeps_ = keeps_ && block.compression != Compression::none &&
             kept_bytes_ + content.size <= stream_.kept_content.size();
    if (!keeps_) return;
    block.to_keep = &stream_.kept.emplace_back();
    *block.to_keep = {stream_.kept_content.data() + kept_bytes_,
                      content.size,
                      content.offset,
                      content.begins,
                      content.is_first,
                      content.is_last,
                      block.file,
                      block.format,
                      block.compression,
                      block.file_bytes};
    kept_bytes_ += content.size;
  }

  void start_file(const WorkerBlock& block) {
    now_ = {};
    now_.path = path(static_cast<std::size_t>(block.file));
    now_.format = block.format;
    now_.compression = block.compression;
    now_.file_bytes = block.file_bytes;
    now_.first_document = documents_;
    now_.first_byte = text_bytes_;
    file_ = static_cast<std::size_t>(block.file);
    line_ends_ = 0;
    invalid_goes_on_ = false;
    checksum_.emplace();
  }

  void end_file() {
    now_.documents = documents_ - now_.first_document;
    now_.text_bytes = text_bytes_ - now_.first_byte;
    now_.checksum = stream_.has_kept() ? stream_.files[file_].checksum : checksum_->value();
    const auto token = static_cast<std::uint64_t>(stream_.options.token_bytes);
    if (now_.content_bytes % token != 0)
      throw input_error(now_.path, 0, fmt::format("{} bytes", now_.content_bytes),
                        fmt::format("a multiple of {}, the size of a token", token));
    CorpusFile& known = stream_.files[file_];
    if (stream_.has_passed && (known.content_bytes != now_.content_bytes ||
                               known.checksum != now_.checksum || known.format != now_.format))
      throw changed(fmt::format("{} bytes with checksum {}", now_.content_bytes,
                                checksum_text(now_.checksum)));
    known = now_;
  }

  [[nodiscard]] Error changed(const std::string& found) const {
    const CorpusFile& known = stream_.files[file_];
    return input_error(known.path, 0, found,
                       fmt::format("{} bytes with checksum {}, as when the file was read before",
                                   known.content_bytes, checksum_text(known.checksum)));
  }

  void report() {
    report_progress(stream_.context, "read corpus", content_,
                    stream_.has_passed ? content_total() : 0);
  }

  [[nodiscard]] std::uint64_t content_total() {
    if (content_total_ == 0)
      for (const CorpusFile& file : stream_.files) content_total_ += file.content_bytes;
    return content_total_;
  }

  CorpusStream::State& stream_;
  const ParsedSteps& steps_;
  BlockMemory memory_;
  std::vector<std::unique_ptr<WorkerBlock>> blocks_;  ///< of the workers

  // Used by `take`.
  std::deque<std::unique_ptr<ContentReader>> open_;
  std::size_t next_file_ = 0;  ///< that is not opened

  // Used by `pass`.
  bool keeps_ = true;
  std::uint64_t kept_bytes_ = 0;
  std::size_t file_ = 0;
  CorpusFile now_;  ///< the file so far
  std::optional<StreamChecksum> checksum_;
  std::uint64_t line_ends_ = 0;  ///< of the file before the block
  bool invalid_goes_on_ = false;
  std::uint64_t documents_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t content_ = 0;
  std::uint64_t content_total_ = 0;
};

}  // namespace

void require_valid(std::span<const std::string> paths, const CorpusOptions& options) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::usage, what); };
  if (paths.empty()) refuse("corpus: found no files, expected at least one");
  if (options.token_bytes != 1 && options.token_bytes != 2 && options.token_bytes != 4)
    refuse(
        fmt::format("corpus: found tokens of {} bytes, expected 1, 2 or 4", options.token_bytes));
  if (options.token_bytes != 1 && options.format == Format::jsonl)
    refuse("corpus: found tokens in JSONL, expected plain files of tokens");
  if (options.token_bytes == 4 && options.format == Format::table)
    refuse("corpus: found tokens of 4 bytes in the format table, expected 1 or 2");
  if (options.block_bytes < least_block_bytes)
    refuse(fmt::format("corpus: found blocks of {} bytes, expected at least {}",
                       options.block_bytes, least_block_bytes));
}

CorpusStream::State::State(const HostContext& settings, std::span<const std::string> paths,
                           const CorpusOptions& wanted)
    : options(wanted) {
  require_valid(paths, options);
  for (const std::string& path : expand_paths(paths)) files.emplace_back().path = path;
  use(settings);
  const auto blocks_held =
      static_cast<std::uint64_t>(blocks_of_worker * workers + blocks_of_file_ahead * files_ahead);
  block_bytes = static_cast<std::size_t>(
      std::clamp<std::uint64_t>(limit / blocks_held, least_block_bytes, options.block_bytes));
  if (options.keep_content && settings.memory_budget == 0) most_kept = limit / 8;
}

void CorpusStream::State::use(const HostContext& settings) {
  context = settings;
  workers = threads_of(context);
  const auto one_for_each = static_cast<int>(std::min<std::size_t>(files.size(), most_files_ahead));
  files_ahead = std::clamp(workers / threads_of_file_ahead, 1, one_for_each);
  limit = host_memory_limit(context);
}

void CorpusStream::State::pass(const ParsedSteps& steps) {
  for (const CorpusFile& file : files) {
    if (has_passed && !size_of_regular(file.path))
      throw Error(ErrorKind::usage,
                  fmt::format("{}: found a pipe, expected a file, since the corpus is read twice",
                              file.path == "-" ? "<stdin>" : file.path));
  }
  if (!has_passed) {
    blocks.clear();
    kept.clear();
    kept_content = ReservedMemory(most_kept);
  }
  Pass(*this, steps).run();
  has_passed = true;
}

CorpusStream::CorpusStream(const HostContext& context, std::span<const std::string> paths,
                           const CorpusOptions& options)
    : state_(std::make_unique<State>(context, paths, options)) {}
CorpusStream::~CorpusStream() = default;

int CorpusStream::workers() const {
  return state_->workers;
}
std::span<const CorpusFile> CorpusStream::files() const {
  return state_->files;
}
std::uint64_t CorpusStream::documents() const {
  return state_->documents;
}
std::uint64_t CorpusStream::text_bytes() const {
  return state_->text_bytes;
}

void CorpusStream::pass(const CorpusSteps& steps) {
  const auto of_text = [](const CorpusSteps::Step& step) -> ParsedSteps::Step {
    if (!step) return {};
    return [&step](int worker, const ParsedBlock& block) { step(worker, block.text); };
  };
  state_->pass({of_text(steps.work), of_text(steps.pass), of_text(steps.finish)});
}

}  // namespace sortie::texts
