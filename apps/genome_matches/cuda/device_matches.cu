// SPDX-License-Identifier: Apache-2.0

// Matches that are unique in the reference, on a GPU. A part of a query is copied, with the letters
// into which its matches may extend:
//
//     query   ... | before | range                     | margin | ...
//                            thread i: the longest match from position i on
//
// A thread looks up the suffixes with the key of its first letters, and searches them by bisection,
// as SuffixIndex::longest_match() does. The host skips positions by a filter and by the end of the
// match before; here all positions are searched, since they do not depend on each other.
#include "apps/genome_matches/cuda/device_matches.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/cuda/block_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/host_runtime.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_buffer.hpp"

namespace sortie::genome_matches {
namespace {

/// Letters behind a range that are copied with it.
constexpr std::uint64_t margin = std::uint64_t{64} << 10;
/// Bytes behind letters that may be loaded.
constexpr std::uint64_t padding = 16;

/// Letters on the device. Words are loaded where they are aligned.
struct DeviceLetters {
  const std::uint64_t* words;
  std::uint64_t size;

  __device__ std::uint8_t operator[](std::uint64_t i) const {
    return reinterpret_cast<const std::uint8_t*>(words)[i];
  }
  /// The eight letters from `i` on.
  __device__ std::uint64_t word(std::uint64_t i) const {
    const std::uint64_t* const at = words + i / 8;
    const int shift = static_cast<int>(i % 8) * 8;
    return shift == 0 ? at[0] : at[0] >> shift | at[1] << (64 - shift);
  }
};

/// The number of a letter, in the order of letters; 4 for others than A, C, G and T.
__device__ unsigned int rank_of(std::uint8_t letter) {
  if (letter != 'A' && letter != 'C' && letter != 'G' && letter != 'T') return 4;
  const unsigned int code = letter >> 1 & 3U;  // A 0, C 1, T 2, G 3
  return code ^ code >> 1;
}

/// The first key that is greater than a suffix, or equal to its first letters if these are no key:
/// SuffixIndex::count_keys() counts the suffix from there on.
__device__ std::uint64_t next_key(DeviceLetters reference, std::uint64_t suffix, int key_length) {
  std::uint64_t key = 0;
  for (int i = 0; i < key_length; ++i) {
    const std::uint64_t at = suffix + static_cast<unsigned>(i);
    const std::uint8_t letter = at < reference.size ? reference[at] : 0;
    const unsigned int rank = rank_of(letter);
    if (rank == 4) {
      const unsigned int less = (letter > 'A') + (letter > 'C') + (letter > 'G') + (letter > 'T');
      return ((key << 2) + less) << 2 * (key_length - i - 1);
    }
    key = key << 2 | rank;
  }
  return key + 1;
}

/// Writes for each key the first suffix that is not less, and at the end the number of suffixes.
/// The thread of suffix i writes i for the keys between it and the suffix before:
///
///     suffix        0       1          2    ...  n - 1
///     keys     0 0 0 | 1 1 1 | 2 2 2 2 | ...       | n n n
void write_begins(DeviceLetters reference, const std::uint32_t* suffixes, int key_length,
                  std::uint32_t* begins) {
  const std::uint64_t keys = std::uint64_t{1} << 2 * key_length;
  const auto write = [=] __device__(std::uint64_t i) {
    const std::uint64_t first = i == 0 ? 0 : next_key(reference, suffixes[i - 1], key_length);
    const std::uint64_t end =
        i == reference.size ? keys + 1 : next_key(reference, suffixes[i], key_length);
    for (std::uint64_t key = first; key < end; ++key) begins[key] = static_cast<std::uint32_t>(i);
  };
  for_each_item<std::uint64_t>(reference.size + 1, write, nullptr);
}

/// What the kernel reads. Positions of the query are those of the part that is copied.
struct Search {
  DeviceLetters reference;
  DeviceLetters query;
  const std::uint32_t* suffixes;
  const std::uint32_t* begins;
  int key_length;
  std::uint64_t min_length;

  /// Letters that a suffix and the query from `at` on have in common, if they have `common` first
  /// letters in common.
  __device__ std::uint64_t agree(std::uint64_t suffix, std::uint64_t at,
                                 std::uint64_t common) const {
    const std::uint64_t left = reference.size - suffix;
    const std::uint64_t letters = query.size - at;
    const std::uint64_t most = left < letters ? left : letters;
    while (common < most) {
      const std::uint64_t differing = reference.word(suffix + common) ^ query.word(at + common);
      if (differing != 0) {
        common += static_cast<unsigned>(__ffsll(static_cast<long long>(differing)) - 1) / 8;
        break;
      }
      common += 8;
    }
    return common < most ? common : most;
  }

  /// The range of suffixes in which a query lies, by its first letters.
  __device__ void start(std::uint64_t at, std::uint64_t& low, std::uint64_t& high) const {
    low = 0;
    high = reference.size;
    if (query.size - at < static_cast<std::uint64_t>(key_length)) return;
    std::uint64_t key = 0;
    for (int i = 0; i < key_length; ++i) {
      const unsigned int rank = rank_of(query[at + static_cast<unsigned>(i)]);
      if (rank == 4) return;
      key = key << 2 | rank;
    }
    low = begins[key];
    high = begins[key + 1];
  }

  /// The longest match from `at` on, if it is unique.
  /// \param suffix   where it is in the reference
  /// \param longest  its letters
  /// \return the same; 0 if it is not unique or too short
  __device__ std::uint64_t unique_match(std::uint64_t at, std::uint64_t& suffix,
                                        std::uint64_t& longest) const {
    std::uint64_t low;
    std::uint64_t high;
    start(at, low, high);
    const std::uint64_t first = low;
    const std::uint64_t last = high;
    std::uint64_t common_low = 0;
    std::uint64_t common_high = 0;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const std::uint64_t candidate = suffixes[middle];
      const std::uint64_t common =
          agree(candidate, at, common_low < common_high ? common_low : common_high);
      const bool is_less =
          at + common < query.size && (candidate + common == reference.size ||
                                       reference[candidate + common] < query[at + common]);
      if (is_less) {
        low = middle + 1;
        common_low = common;
      } else {
        high = middle;
        common_high = common;
      }
    }
    if (low == first && low > 0) common_low = agree(suffixes[low - 1], at, 0);
    if (low == last && low < reference.size) common_high = agree(suffixes[low], at, 0);
    const bool is_before = common_low > common_high;
    const std::uint64_t length = is_before ? common_low : common_high;
    longest = length;
    if (common_low == common_high || length < min_length) return 0;
    const std::uint64_t entry = is_before ? low - 1 : low;
    suffix = suffixes[entry];
    // The neighbour on the other side has fewer letters in common.
    const bool has_next = is_before ? entry > 0 : entry + 1 < reference.size;
    if (has_next && agree(suffixes[is_before ? entry - 1 : entry + 1], at, 0) >= length) return 0;
    return length;
  }
};

/// A match, of which the position in the query is that in the part.
struct FoundMatch {
  std::uint32_t query;
  std::uint32_t length;
  std::uint64_t reference;
};

/// Counters of a call: matches, and whether one reaches the end of the part.
struct Found {
  unsigned int matches;
  unsigned int reaches_end;
};

/// What a thread of the host uses.
struct Workspace {
  static constexpr std::uint64_t most_letters =
      1 + DeviceMatches::most_positions + margin + padding;

  CudaStream stream = make_stream();
  PinnedBuffer<std::uint8_t> host_letters{most_letters};
  PinnedBuffer<Found> host_found{1};
  DeviceBuffer<std::uint64_t> letters{most_letters / 8 + 1, stream.get()};
  DeviceBuffer<Found> found{1, stream.get()};
  DeviceBuffer<FoundMatch> matches{DeviceMatches::most_positions, stream.get()};
  std::vector<FoundMatch> host_matches;
};

}  // namespace

struct DeviceMatches::State {
  int device = 0;
  SuffixTables tables;
  DeviceBuffer<std::uint64_t> reference;
  DeviceBuffer<std::uint32_t> suffixes;
  DeviceBuffer<std::uint32_t> begins;
  std::mutex mutex;                                    ///< of the following
  std::vector<std::unique_ptr<Workspace>> workspaces;  ///< that no thread uses
};

DeviceMatches::DeviceMatches(const Context& context, const SuffixTables& tables)
    : state_(std::make_unique<State>()) {
  const DeviceCall call(context);
  const int threads = threads_of(context);
  state_->device = context.device;
  state_->tables = tables;
  state_->reference = {tables.reference.size() / 8 + 2, call.stream};
  copy_to_device_in_blocks(state_->reference.data(), std::as_bytes(tables.reference), call.stream,
                           threads);
  state_->suffixes = copied_to_device(tables.suffixes, call.stream, threads);
  const auto key_length = static_cast<int>(tables.key_length);
  state_->begins = {(std::uint64_t{1} << 2 * key_length) + 1, call.stream};
  write_begins({state_->reference.data(), tables.reference.size()}, state_->suffixes.data(),
               key_length, state_->begins.data());
  check_cuda(cudaStreamSynchronize(call.stream));
}

DeviceMatches::~DeviceMatches() {
  release_on_device(state_->device, [this] { state_.reset(); });
}

bool DeviceMatches::fits(const Context& context, const SuffixTables& tables) {
  const DeviceScope scope(context);
  const std::uint64_t bytes = tables.reference.size() + tables.suffixes.size_bytes() +
                              (sizeof(std::uint32_t) << 2 * tables.key_length);
  const auto threads = static_cast<std::uint64_t>(threads_of(context));
  constexpr std::uint64_t thread_bytes = std::uint64_t{6} << 20;
  return bytes + threads * thread_bytes < device_memory_free() / 16 * 15;
}

bool DeviceMatches::find_unique(Letters query, QueryRange range,
                                std::vector<Match>& matches) const {
  const SuffixTables& tables = state_->tables;
  if (query.size() < tables.min_length) return true;
  const std::uint64_t last = std::min(range.end, query.size() - tables.min_length + 1);
  if (range.begin >= last) return true;
  const CurrentDevice current(state_->device);
  std::unique_ptr<Workspace> space;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->workspaces.empty()) {
      space = std::move(state_->workspaces.back());
      state_->workspaces.pop_back();
    }
  }
  if (space == nullptr) space = std::make_unique<Workspace>();
  const std::uint64_t begin = range.begin == 0 ? 0 : range.begin - 1;
  const std::uint64_t end = std::min(query.size(), range.end + margin);
  const Letters part = query.subspan(begin, end - begin);
  cudaStream_t stream = space->stream.get();
  std::ranges::copy(part, space->host_letters.data());
  check_cuda(cudaMemcpyAsync(space->letters.data(), space->host_letters.data(), part.size(),
                             cudaMemcpyHostToDevice, stream));
  check_cuda(cudaMemsetAsync(space->found.data(), 0, sizeof(Found), stream));
  const Search search{{state_->reference.data(), tables.reference.size()},
                      {space->letters.data(), part.size()},
                      state_->suffixes.data(),
                      state_->begins.data(),
                      static_cast<int>(tables.key_length),
                      tables.min_length};
  const bool is_all = end == query.size();
  const auto find = [search, skipped = range.begin - begin, is_all, found = space->found.data(),
                     to = space->matches.data()] __device__(std::uint32_t i) {
    const std::uint64_t at = skipped + i;
    std::uint64_t suffix = 0;
    std::uint64_t longest = 0;
    const std::uint64_t length = search.unique_match(at, suffix, longest);
    if (!is_all && at + longest == search.query.size) found->reaches_end = 1;
    if (length == 0) return;
    if (at > 0 && suffix > 0 && search.reference[suffix - 1] == search.query[at - 1]) return;
    to[atomicAdd(&found->matches, 1U)] = {i, static_cast<std::uint32_t>(length), suffix};
  };
  for_each_item<std::uint32_t>(last - range.begin, find, stream);
  check_cuda(cudaMemcpyAsync(space->host_found.data(), space->found.data(), sizeof(Found),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  const Found counts = *space->host_found.data();
  const bool is_known = counts.reaches_end == 0;
  if (is_known && counts.matches != 0) {
    space->host_matches.resize(counts.matches);
    check_cuda(cudaMemcpyAsync(space->host_matches.data(), space->matches.data(),
                               counts.matches * sizeof(FoundMatch), cudaMemcpyDeviceToHost,
                               stream));
    check_cuda(cudaStreamSynchronize(stream));
    std::ranges::sort(space->host_matches, {}, &FoundMatch::query);
    for (const FoundMatch& match : space->host_matches)
      matches.push_back({range.begin + match.query, match.reference, match.length});
  }
  const std::lock_guard lock(state_->mutex);
  state_->workspaces.push_back(std::move(space));
  return is_known;
}

}  // namespace sortie::genome_matches
