// SPDX-License-Identifier: Apache-2.0
#include "papers/pdss/pdss.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "papers/dc3/dc3.hpp"
#include "papers/dc3/numbered_text.cuh"
#include "papers/ics17/sort_ics17.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_segmented_sort.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

using dc3::Words;

// Thread p owns the suffix at position p: its first letters as a key.
struct WriteFirstKey {
  const std::uint32_t* string;
  std::uint32_t size;
  std::uint32_t letters;
  int bits;
  std::uint32_t* keys;
  std::uint32_t* positions;

  __device__ void operator()(std::uint32_t p) const {
    std::uint32_t key = 0;
    for (std::uint32_t c = 0; c < letters; ++c)
      key = key << bits | (c < size - p ? string[p + c] : 0);
    keys[p] = key;
    positions[p] = p;
  }
};

/// Suffixes that share their category with others, in the order of the suffix array.
struct Members {
  std::uint32_t* positions;
  std::uint32_t* places;  ///< in the suffix array
  std::uint32_t* firsts;  ///< 1: the first of its category
};

// Thread j: the rank of the suffix h letters after member j. It exists: members agree in h letters,
// so that none of them holds the end of the text.
struct WriteRankKey {
  const std::uint32_t* positions;
  const std::uint32_t* ranks;
  std::uint32_t h;
  std::uint32_t* keys;

  __device__ void operator()(std::uint32_t j) const { keys[j] = ranks[positions[j] + h]; }
};

/// The new categories among sorted members: heads[j] - 1 is the first member of the category of j.
struct Categories {
  const std::uint32_t* heads;
  std::uint32_t count;

  __device__ bool begins(std::uint32_t j) const { return j >= count || heads[j] == j + 1; }
  __device__ bool has_others(std::uint32_t j) const { return !begins(j) || !begins(j + 1); }
};

// Thread j: j + 1 if a category begins at member j, else 0; a prefix maximum makes the heads.
struct MarkCategory {
  const std::uint32_t* firsts;
  const std::uint32_t* keys;
  std::uint32_t* heads;

  __device__ void operator()(std::uint32_t j) const {
    heads[j] = firsts[j] != 0 || keys[j] != keys[j - 1] ? j + 1 : 0;
  }
};

// Thread j writes member j to the suffix array and its rank, and marks what the next round sorts.
struct WriteRank {
  Members members;
  Categories categories;
  std::uint32_t* ranks;
  std::uint32_t* suffix_array;
  std::uint32_t* kept;
  std::uint32_t* kept_heads;

  __device__ void operator()(std::uint32_t j) const {
    const std::uint32_t position = members.positions[j];
    ranks[position] = members.places[categories.heads[j] - 1];
    suffix_array[members.places[j]] = position;
    const bool keep = categories.has_others(j);
    kept[j] = keep ? 1 : 0;
    kept_heads[j] = keep && categories.begins(j) ? 1 : 0;
  }
};

// Thread j moves member j to the next round's list, at the place that the prefix sums give.
struct KeepMember {
  Members from;
  Members to;
  Categories categories;
  const std::uint32_t* kept;
  const std::uint32_t* kept_heads;
  std::uint32_t* offsets;

  __device__ void operator()(std::uint32_t j) const {
    if (j + 1 == categories.count) offsets[kept_heads[j]] = kept[j];
    if (!categories.has_others(j)) return;
    const std::uint32_t place = kept[j] - 1;
    to.positions[place] = from.positions[j];
    to.places[place] = from.places[j];
    to.firsts[place] = categories.begins(j) ? 1 : 0;
    if (categories.begins(j)) offsets[kept_heads[j] - 1] = place;
  }
};

struct WriteFirstMember {
  Members members;
  __device__ void operator()(std::uint32_t j) const {
    members.places[j] = j;
    members.firsts[j] = j == 0 ? 1 : 0;
  }
};

/// The state between rounds.
class PrefixDoubling {
 public:
  PrefixDoubling(const DeviceContext& context, std::uint32_t size)
      : context_(context),
        size_(size),
        stream_(context.stream),
        ranks_(size, stream_),
        suffix_array_(size, stream_) {}

  [[nodiscard]] Words sort(dc3::NumberedText text);

  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
  [[nodiscard]] std::uint64_t sorted() const { return sorted_; }

 private:
  struct List {
    Words positions;
    Words places;
    Words firsts;
    [[nodiscard]] Members view() { return {positions.data(), places.data(), firsts.data()}; }
  };

  void refine(List& list, const Words& keys);
  void sort_categories(List& list, Words& keys) const;

  const DeviceContext& context_;
  std::uint32_t size_;
  cudaStream_t stream_;
  Words ranks_;
  Words suffix_array_;
  Words offsets_;  ///< of the categories, and the end
  std::uint32_t categories_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t sorted_ = 0;
};

/// Splits categories that are sorted by keys, and leaves the members that are not alone.
void PrefixDoubling::refine(List& list, const Words& keys) {
  const auto count = static_cast<std::uint32_t>(list.positions.size());
  Words heads(count, stream_);
  Words kept(count, stream_);
  Words kept_heads(count, stream_);
  for_each_item<std::uint32_t>(count, MarkCategory{list.firsts.data(), keys.data(), heads.data()},
                               stream_);
  inclusive_maximum(heads.data(), count, stream_);
  const Categories categories{heads.data(), count};
  for_each_item<std::uint32_t>(count,
                               WriteRank{list.view(), categories, ranks_.data(),
                                         suffix_array_.data(), kept.data(), kept_heads.data()},
                               stream_);
  inclusive_sum(kept.data(), count, stream_);
  inclusive_sum(kept_heads.data(), count, stream_);
  std::uint32_t members = 0;
  for (const auto& [sums, total] : {std::pair(&kept, &members), {&kept_heads, &categories_}})
    check_cuda(cudaMemcpyAsync(total, sums->data() + count - 1, sizeof(*total),
                               cudaMemcpyDeviceToHost, stream_));
  check_cuda(cudaStreamSynchronize(stream_));
  List next{Words(members, stream_), Words(members, stream_), Words(members, stream_)};
  offsets_ = Words(categories_ + std::uint64_t{1}, stream_);
  for_each_item<std::uint32_t>(count,
                               KeepMember{list.view(), next.view(), categories, kept.data(),
                                          kept_heads.data(), offsets_.data()},
                               stream_);
  list = std::move(next);
}

void PrefixDoubling::sort_categories(List& list, Words& keys) const {
  const auto count = static_cast<std::int64_t>(list.positions.size());
  Words other_keys(keys.size(), stream_);
  Words other_positions(keys.size(), stream_);
  DoubleBuffer<std::uint32_t> key_buffers(keys.data(), other_keys.data());
  DoubleBuffer<std::uint32_t> position_buffers(list.positions.data(), other_positions.data());
  DeviceSortOptions options;
  options.policy = papers::ics17;
  call_with_scratch(stream_, [&](void* scratch, std::size_t& bytes) {
    return DeviceSegmentedSort::SortPairs(scratch, bytes, key_buffers, position_buffers, count,
                                          std::int64_t{categories_}, offsets_.data(),
                                          offsets_.data() + 1, options, stream_);
  });
  if (key_buffers.Current() != keys.data()) std::swap(keys, other_keys);
  if (position_buffers.Current() != list.positions.data())
    std::swap(list.positions, other_positions);
}

Words PrefixDoubling::sort(dc3::NumberedText text) {
  const auto letters = static_cast<std::uint32_t>(std::max(1, 32 / text.bits));
  List list{Words(size_, stream_), Words(size_, stream_), Words(size_, stream_)};
  Words keys(size_, stream_);
  for_each_item<std::uint32_t>(size_,
                               WriteFirstKey{text.string.data(), size_, letters, text.bits,
                                             keys.data(), list.positions.data()},
                               stream_);
  text.string = {};
  sort_by_key(keys, list.positions, std::min(32, static_cast<int>(letters) * text.bits), stream_);
  for_each_item<std::uint32_t>(size_, WriteFirstMember{list.view()}, stream_);
  refine(list, keys);
  for (std::uint32_t h = letters; categories_ > 0; h *= 2) {
    const std::uint64_t count = list.positions.size();
    ++rounds_;
    sorted_ += count;
    keys = Words(count, stream_);
    for_each_item<std::uint32_t>(
        count, WriteRankKey{list.positions.data(), ranks_.data(), h, keys.data()}, stream_);
    WaitingPhase phase(context_, "segmented sort");
    sort_categories(list, keys);
    phase.stop();
    refine(list, keys);
  }
  return std::move(suffix_array_);
}

}  // namespace

std::uint64_t pdss_bytes(std::uint64_t symbols) {
  constexpr std::uint64_t constant_scratch = 1 << 22;
  return 64 * symbols + constant_scratch;
}

DeviceBuffer<std::uint32_t> build_pdss_on_device(const Context& context, const DeviceText& text,
                                                 CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  if (size > longest_dc3_text) {
    throw Error(ErrorKind::unavailable, "pdss: found a text of " + std::to_string(size) +
                                            " symbols, expected at most " +
                                            std::to_string(longest_dc3_text));
  }
  if (size == 0) return {};
  const std::uint64_t budget = device_memory_budget(call);
  if (pdss_bytes(size) > budget) throw out_of_memory_error("pdss", pdss_bytes(size), budget);
  WaitingPhase phase(call, "pdss");
  dc3::NumberedText numbered = dc3::number_text(text, stream);
  PrefixDoubling doubling(call, numbered.size);
  const Words order = doubling.sort(std::move(numbered));
  Words positions = dc3::without_end(order, text.separators.size(), stream);
  phase.stop();
  if (context.report != nullptr) {
    context.report->set("pdss_rounds", doubling.rounds());
    context.report->set("pdss_sorted", doubling.sorted());
  }
  return positions;
}

}  // namespace sortie::suffix_array::cuda
