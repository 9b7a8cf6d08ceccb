// SPDX-License-Identifier: Apache-2.0
#include "sortie/top_k.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "segsort/backends.hpp"
#include "sortie/error.hpp"

namespace sortie::segsort {

#ifndef SORTIE_HAVE_CUDA
void select_on_cuda(const Context&, const TopKRequest&) {
  throw Error(ErrorKind::unavailable, "top_k: this build of Sortie has no CUDA");
}
#endif

namespace {

/// Longer segments are divided among the threads.
constexpr std::uint64_t longest_of_thread = std::uint64_t{1} << 18;
/// Items that one task selects from, at least: some hundred microseconds.
constexpr std::uint64_t items_of_task = std::uint64_t{1} << 16;
/// Items that a buffer takes beyond k before it is reduced, at least.
constexpr std::uint64_t least_slack = 24;

/// Keys that are compared with the bound together: enough that comparing them costs little beside
/// the branch, few enough that most blocks have none before the bound.
constexpr std::uint64_t block_keys = 32;
/// Keys of such a block that are compared together to find those before the bound.
constexpr std::uint64_t part_keys = 8;

/// The begin of the first block in which a key comes before `bound`, or of the last keys, if these
/// are fewer than a block.
template <std::uint64_t Keys, class Word>
[[gnu::always_inline]] inline std::uint64_t block_before(const Word* keys, std::uint64_t begin,
                                                         std::uint64_t end, KeyCodec<Word> codec,
                                                         Word bound) {
  for (; end - begin >= Keys; begin += Keys) {
    Word any = 0;
    for (std::uint64_t i = 0; i < Keys; ++i)
      any |= static_cast<Word>(codec.encoded(keys[begin + i]) < bound ? 1 : 0);
    if (any != 0) break;
  }
  return begin;
}
template <std::uint64_t Keys, class Word>
SORTIE_TARGET_AVX2 std::uint64_t block_before_avx2(const Word* keys, std::uint64_t begin,
                                                   std::uint64_t end, KeyCodec<Word> codec,
                                                   Word bound) {
  return block_before<Keys>(keys, begin, end, codec, bound);
}
template <std::uint64_t Keys, class Word>
SORTIE_TARGET_AVX512 std::uint64_t block_before_avx512(const Word* keys, std::uint64_t begin,
                                                       std::uint64_t end, KeyCodec<Word> codec,
                                                       Word bound) {
  return block_before<Keys>(keys, begin, end, codec, bound);
}

/// Calls take(i) for the keys before bound(), which take() may lower, and for few others.
/// \param bound  encoded
template <class Word, class Bound, class Take>
void for_each_before(const Word* keys, std::uint64_t begin, std::uint64_t end,
                     const KeyCodec<Word>& codec, const Bound& bound, const Take& take) {
  const VectorUnit unit = vector_unit();
  const auto first_before = [&]<std::uint64_t Keys>(std::uint64_t first, std::uint64_t last) {
    return unit == VectorUnit::avx512 ? block_before_avx512<Keys>(keys, first, last, codec, bound())
           : unit == VectorUnit::avx2 ? block_before_avx2<Keys>(keys, first, last, codec, bound())
                                      : block_before<Keys>(keys, first, last, codec, bound());
  };
  while (begin < end) {
    begin = first_before.template operator()<block_keys>(begin, end);
    const std::uint64_t block_end = std::min(end, begin + block_keys);
    while (begin < block_end) {
      begin = first_before.template operator()<part_keys>(begin, block_end);
      const std::uint64_t part_end = std::min(block_end, begin + part_keys);
      for (; begin < part_end; ++begin) take(begin);
    }
  }
}

template <class Word>
struct Candidate {
  Word word;  ///< ascends in the requested order
  std::uint64_t position;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.word, a.position) < std::tie(b.word, b.position);
  }
};

std::uint64_t buffer_items(std::uint64_t k, std::uint64_t items) {
  return k >= items ? items : std::min(items, k + std::max(k, least_slack));
}

/// The k first candidates of what it has taken.
///
/// Items enter a buffer. When it is full, it is reduced to its k first, and from then on only items
/// before the last of these enter. Items are taken by position, so that later ones lose against
/// equal ones.
template <class Word>
class TopBuffer {
 public:
  /// Starts anew, with the same memory. \param items  to be taken, at most. \pre k > 0
  void start(std::uint64_t k, std::uint64_t items) {
    k_ = std::min(k, items);
    capacity_ = buffer_items(k, items);
    buffer_.clear();
    buffer_.reserve(capacity_);
    bounded_ = false;
  }

  void take(const Word* keys, std::uint64_t begin, std::uint64_t end, const KeyCodec<Word>& codec) {
    for (; begin < end && !bounded_; ++begin) add({codec.encoded(keys[begin]), begin});
    for_each_before(
        keys, begin, end, codec, [this] { return bound_; },
        [&](std::uint64_t i) {
          const Word word = codec.encoded(keys[i]);
          if (word < bound_) add({word, i});
        });
  }
  /// \pre all positions of `other` are beyond those taken
  void take(const TopBuffer& other) {
    for (const Candidate<Word>& candidate : other.buffer_) add(candidate);
  }
  /// The k first, or all; in order if `sorted`.
  const std::vector<Candidate<Word>>& finish(bool sorted) {
    if (buffer_.size() > k_) reduce();
    if (sorted) std::sort(buffer_.begin(), buffer_.end());
    return buffer_;
  }

 private:
  void add(const Candidate<Word>& candidate) {
    if (buffer_.size() == capacity_) {
      reduce();
      if (candidate.word > bound_) return;
    }
    buffer_.push_back(candidate);
  }
  void reduce() {
    const auto last = buffer_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(buffer_.begin(), last, buffer_.end());
    bound_ = last->word;
    bounded_ = true;
    buffer_.resize(k_);
  }

  std::uint64_t k_ = 0;
  std::uint64_t capacity_ = 0;
  std::vector<Candidate<Word>> buffer_;
  Word bound_ = 0;
  bool bounded_ = false;
};

template <class Word>
class HostSelection {
 public:
  explicit HostSelection(const TopKRequest& request)
      : request_(request),
        keys_(static_cast<const Word*>(request.keys)),
        codec_(kind_of(request.key_type), request.options.order) {}

  void run() const {
    // A task has consecutive segments, the long ones excepted.
    const std::uint64_t segments = request_.begin_offsets.size;
    std::vector<std::uint64_t> long_segments;
    std::vector<std::uint64_t> tasks{0};
    std::uint64_t sum = 0;
    for (std::uint64_t s = 0; s < segments; ++s) {
      const bool is_long = length_of(s) > longest_of_thread;
      if (is_long) long_segments.push_back(s);
      sum += is_long ? 1 : length_of(s) + 1;
      if (sum < items_of_task && s + 1 < segments) continue;
      tasks.push_back(s + 1);
      sum = 0;
    }
    for_each_task(tasks.size() - 1, [&](std::uint64_t task) {
      TopBuffer<Word> buffer;
      for (std::uint64_t s = tasks[task]; s < tasks[task + 1]; ++s)
        if (length_of(s) <= longest_of_thread) select(s, buffer);
    });
    for (const std::uint64_t s : long_segments) select_with_all_threads(s);
  }

 private:
  [[nodiscard]] std::uint64_t length_of(std::uint64_t segment) const {
    return request_.end_offsets[segment] - request_.begin_offsets[segment];
  }
  [[nodiscard]] std::uint64_t first_of(std::uint64_t segment) const {
    const std::uint64_t end = request_.end_offsets[segment];
    std::uint64_t best = request_.begin_offsets[segment];
    Word least = codec_.encoded(keys_[best]);
    for_each_before(
        keys_, best + 1, end, codec_, [&] { return least; },
        [&](std::uint64_t i) {
          const Word word = codec_.encoded(keys_[i]);
          if (word >= least) return;
          least = word;
          best = i;
        });
    return best;
  }
  void write(std::uint64_t segment, TopBuffer<Word>& buffer) const {
    std::uint64_t at = segment * request_.k;
    for (const Candidate<Word>& candidate : buffer.finish(request_.options.sorted))
      request_.positions[at++] = candidate.position;
  }
  void select(std::uint64_t segment, TopBuffer<Word>& buffer) const {
    if (length_of(segment) == 0) return;
    if (request_.k == 1) {
      request_.positions[segment] = first_of(segment);
      return;
    }
    buffer.start(request_.k, length_of(segment));
    buffer.take(keys_, request_.begin_offsets[segment], request_.end_offsets[segment], codec_);
    write(segment, buffer);
  }
  void select_with_all_threads(std::uint64_t segment) const {
    const std::uint64_t begin = request_.begin_offsets[segment];
    const EqualShares shares = thread_shares(length_of(segment));
    std::vector<TopBuffer<Word>> buffers(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t first, std::uint64_t end) {
      buffers[share].start(request_.k, end - first);
      buffers[share].take(keys_, begin + first, begin + end, codec_);
      buffers[share].finish(false);
    });
    TopBuffer<Word> all;
    all.start(request_.k, length_of(segment));
    for (const TopBuffer<Word>& buffer : buffers) all.take(buffer);
    write(segment, all);
  }

  const TopKRequest& request_;
  const Word* keys_;
  KeyCodec<Word> codec_;
};

/// Checks the memory of a call against its budget, or against what is available. Asking the system
/// for that takes tens of microseconds, as long as a selection from 2^17 keys, so without a budget
/// little memory is not checked.
void require_memory_for(const Context& context, std::string_view what, std::uint64_t bytes) {
  constexpr std::uint64_t little = std::uint64_t{1} << 20;
  if (context.memory_budget != 0 || bytes > little) require_memory(context, what, bytes);
}

/// Sorts whole segments: faster if most items are selected.
template <class Word>
void sort_and_cut(const Context& context, const TopKRequest& request) {
  const std::uint64_t n = request.num_items;
  require_memory_for(context, "a selection by sorting", n * (sizeof(Word) + sizeof(std::uint64_t)));
  const auto* const given = static_cast<const Word*>(request.keys);
  std::vector<Word> keys(given, given + n);
  std::vector<std::uint64_t> positions(n);
  std::iota(positions.begin(), positions.end(), std::uint64_t{0});
  HostContext quiet = context;
  quiet.progress = nullptr;
  sort({quiet, Backend::host}, {keys.data(),
                                request.key_type,
                                n,
                                positions.data(),
                                sizeof(std::uint64_t),
                                request.begin_offsets,
                                request.end_offsets,
                                {request.options.order, true}});
  for_each_index(0, request.begin_offsets.size, [&](std::uint64_t s) {
    const std::uint64_t begin = request.begin_offsets[s];
    std::copy_n(positions.data() + begin, std::min(request.k, request.end_offsets[s] - begin),
                request.positions + s * request.k);
  });
}

template <class Word>
void select_on_host(const Context& context, const TopKRequest& request) {
  // Measured on one core with random u32 keys: from about half of the items on.
  if (request.k >= request.num_items / (2 * request.begin_offsets.size))
    return sort_and_cut<Word>(context, request);
  std::uint64_t longest = 0;
  for (std::uint64_t s = 0; s < request.begin_offsets.size; ++s)
    longest = std::max(longest, request.end_offsets[s] - request.begin_offsets[s]);
  require_memory_for(
      context, "a selection",
      2 * worker_threads() * buffer_items(request.k, longest) * sizeof(Candidate<Word>));
  HostSelection<Word>(request).run();
}

[[noreturn]] void refuse_selection(std::string_view found, std::string_view expected) {
  throw Error(ErrorKind::usage, fmt::format("top_k: found {}, expected {}", found, expected));
}

}  // namespace

void select(const Context& context, const TopKRequest& request) {
  const std::uint64_t segments = request.begin_offsets.size;
  if (segments != request.end_offsets.size)
    refuse_selection(
        fmt::format("{} begin offsets and {} end offsets", segments, request.end_offsets.size),
        "the same number of each");
  const bool fits = request.k == 0 || segments <= request.num_positions / request.k;
  if (!fits || request.num_positions != segments * request.k)
    refuse_selection(fmt::format("{} places for {} segments", request.num_positions, segments),
                     fmt::format("{} for each", request.k));
  check_offsets(request.begin_offsets, request.end_offsets, request.num_items, "top_k");
  const Backend backend = resolve_backend(context);
  if (request.num_items == 0 || request.num_positions == 0) return;
  report_progress(context, "top k", 0, request.num_items);
  if (backend == Backend::cuda) {
    select_on_cuda(context, request);
  } else {
    start_host_runtime(context.threads);
    const PhaseTimer timer(context, "top k");
    switch (key_bytes(request.key_type)) {
      case 1:
        select_on_host<std::uint8_t>(context, request);
        break;
      case 2:
        select_on_host<std::uint16_t>(context, request);
        break;
      case 4:
        select_on_host<std::uint32_t>(context, request);
        break;
      default:
        select_on_host<std::uint64_t>(context, request);
    }
  }
  report_progress(context, "top k", request.num_items, request.num_items);
}

}  // namespace sortie::segsort
