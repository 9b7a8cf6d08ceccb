// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "apps/text_deduplication/cuda/streamed_marks.hpp"
#include "apps/text_deduplication/duplicate_marks.hpp"
#include "apps/text_deduplication/host/streamed_marks.hpp"
#include "apps/text_deduplication/removed_ranges.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "core/reserved_memory.hpp"
#include "sortie/error.hpp"
#include "sortie/text_deduplication.hpp"

namespace sortie::texts {
namespace {

/// The share of the memory that a text may take: marks take an eighth of its size or two, and the
/// rest is for anchors.
constexpr std::uint64_t text_share_of_three = 2;
constexpr std::size_t excerpt_bytes = 200;

struct TooLarge {};

/// Reads the text of a corpus whose size is not known before. All threads copy their blocks: most of
/// the time goes into the page faults of new memory.
class TextLoader {
 public:
  TextLoader(CorpusDeduplication& into, std::uint64_t most)
      : into_(into), memory_(std::make_shared<ReservedMemory>(most)) {}

  /// Returns false if the text has more bytes than allowed.
  bool load(CorpusStream& corpus) {
    into_.begins.clear();
    try {
      corpus.pass({.work = {},
                   .pass = [&](int, const CorpusBlock& block) { append(block); },
                   .finish = [&](int, const CorpusBlock& block) { copy(block); }});
    } catch (const TooLarge&) {
      into_.text_size = 0;
      into_.begins = {0};
      return false;
    }
    into_.begins.push_back(into_.text_size);
    memory_->shrink(into_.text_size);
    into_.storage = {memory_, reinterpret_cast<const std::uint8_t*>(memory_->data())};
    return true;
  }

 private:
  void append(const CorpusBlock& block) {
    for (std::uint64_t i = block.continues ? 1 : 0; i < block.documents(); ++i)
      into_.begins.push_back(into_.text_size + block.begins[i]);
    into_.text_size += block.bytes.size();
    if (into_.text_size > memory_->size()) throw TooLarge{};
  }

  void copy(const CorpusBlock& block) const {
    std::ranges::copy(block.bytes, memory_->data() + block.first_byte);
  }

  CorpusDeduplication& into_;
  std::shared_ptr<ReservedMemory> memory_;
};

/// Strings as long as the excerpts of the passages.
std::vector<std::string> empty_excerpts(std::span<const Passage> passages) {
  std::vector<std::string> excerpts;
  for (const Passage& passage : passages)
    excerpts.emplace_back(std::min<std::uint64_t>(passage.end - passage.begin, excerpt_bytes), ' ');
  return excerpts;
}

/// Copies what a part of the text has of the first bytes of passages.
void fill_excerpts(std::span<const std::uint8_t> bytes, std::uint64_t offset,
                   std::span<const Passage> passages, std::span<std::string> excerpts) {
  for (std::size_t i = 0; i < passages.size(); ++i) {
    const std::uint64_t begin = std::max(passages[i].begin, offset);
    const std::uint64_t end =
        std::min(passages[i].begin + excerpts[i].size(), offset + bytes.size());
    if (begin < end)
      std::memcpy(excerpts[i].data() + (begin - passages[i].begin), &bytes[begin - offset],
                  end - begin);
  }
}

void find_in_memory(const Context& context, CorpusDeduplication& all,
                    const CorpusDeduplicationOptions& options, DeduplicationOptions windows) {
  all.plan.text_bytes = all.text_size;
  all.plan.documents = all.begins.size() - 1;
  Context rest = context;
  rest.backend = backend_for(context, all.text_size, all.plan.documents, windows);
  if (rest.backend == Backend::host) {
    if (rest.memory_budget != 0) rest.memory_budget -= all.text_size;
    const MarkingPlan marking =
        host::plan_marking(rest, all.text_size, all.plan.documents, windows);
    all.plan.passes = marking.passes;
    all.plan.memory = all.text_size + all.begins.size() * sizeof(std::uint64_t) + marking.memory;
  }
#ifdef SORTIE_HAVE_CUDA
  if (rest.backend == Backend::cuda) {
    const MarkingPlan marking =
        cuda::plan_marking(rest, all.text_size, all.plan.documents, windows);
    all.plan.passes = marking.passes;
    all.plan.memory = marking.memory;
  }
#endif
  if (options.announce) options.announce(all.plan);
  if (options.plan_only) return;
  all.result = find_duplicates(rest, all.text(), all.begins, windows);
  all.excerpts = empty_excerpts(all.result.passages);
  fill_excerpts(all.text(), 0, all.result.passages, all.excerpts);
}

/// \tparam Marks  StreamedMarks of a backend
template <class Marks>
void find_in_stream(const Context& context, CorpusStream& corpus, CorpusDeduplication& all,
                    const CorpusDeduplicationOptions& options) {
  for (const CorpusFile& file : corpus.files()) {
    // A part of a pipe has been read.
    if (std::filesystem::is_regular_file(file.path)) continue;
    throw Error(
        ErrorKind::out_of_memory,
        fmt::format("{}: found a pipe with more text than fits into memory, expected a file",
                    file.path == "-" ? "<stdin>" : file.path));
  }
  Marks stream(context, corpus, options, host_memory_limit(context));
  all.plan = stream.plan();
  all.begins = stream.begins();
  if (options.announce) options.announce(all.plan);
  if (options.plan_only) return;
  DuplicateMarks marks = stream.find();
  all.resumed_passes = stream.resumed_passes();
  const PhaseTimer timer(context, "ranges");
  const DeduplicationOptions& windows = stream.windows();
  const std::uint64_t other_begin = other_begin_of(all.begins, windows);
  std::vector<ByteRange> ranges = marked_ranges(marks, windows.min_length, other_begin);
  marks.removed = {};
  marks.kept = {};
  const std::vector<ByteRange> whole = ranges;
  const std::vector<Passage> passages = result_of(marks, all.begins, windows, {}).passages;
  all.excerpts = empty_excerpts(passages);
  // Blocks end between characters, so that each is as good as a document.
  corpus.pass({.work = {}, .pass = {}, .finish = [&](int, const CorpusBlock& block) {
                 fill_excerpts(block.bytes, block.first_byte, passages, all.excerpts);
                 for (std::uint64_t i = 0; windows.whole_characters && i < block.documents(); ++i)
                   clip_in_document(
                       block.bytes.subspan(block.begins[i], block.begins[i + 1] - block.begins[i]),
                       block.first_byte + block.begins[i], whole, ranges);
               }});
  remove_islands(all.begins, windows.min_island, other_begin, ranges);
  all.result = result_of(marks, all.begins, windows, std::move(ranges));
}

}  // namespace

CorpusDeduplication find_duplicates(const Context& given, CorpusStream& corpus,
                                    const CorpusDeduplicationOptions& options) {
  DeduplicationOptions checked = options.windows;
  if (options.other_file != CorpusDeduplicationOptions{}.other_file) checked.other_corpus = 0;
  require_options(checked);
  if (!options.backend) static_cast<void>(resolve_backend(given));
  CorpusDeduplication all;
  Context context = given;
  const std::uint64_t memory = host_memory_limit(context);
  const bool is_loaded = TextLoader(all, memory / 3 * text_share_of_three).load(corpus);
  if (options.backend) context.backend = options.backend();
  if (is_loaded) {
    DeduplicationOptions windows = options.windows;
    if (options.other_file < corpus.files().size())
      windows.other_corpus = corpus.files()[options.other_file].first_document;
    find_in_memory(context, all, options, windows);
  } else {
    const bool has_other = options.other_file < corpus.files().size();
    if (context.backend == Backend::cuda && has_other) {
      throw Error(ErrorKind::unavailable,
                  fmt::format("text deduplication on a GPU: found another corpus and more than {} "
                              "of text, expected less (--backend host takes it in passes)",
                              format_bytes(memory / 3 * text_share_of_three)));
    }
#ifdef SORTIE_HAVE_CUDA
    if (resolve_backend(context) == Backend::cuda && !has_other) {
      find_in_stream<cuda::StreamedMarks>(context, corpus, all, options);
      return all;
    }
#endif
    find_in_stream<host::StreamedMarks>(context, corpus, all, options);
  }
  return all;
}

}  // namespace sortie::texts
