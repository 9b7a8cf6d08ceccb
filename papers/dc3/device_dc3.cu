// SPDX-License-Identifier: Apache-2.0
#include "papers/dc3/dc3.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <bit>
#include <cub/device/device_select.cuh>
#include <cub/version.cuh>
#include <string>
#include <utility>

#if CUB_VERSION >= 200700
#include <cub/device/device_merge.cuh>
#else
#include <thrust/execution_policy.h>
#include <thrust/merge.h>
#endif

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "papers/dc3/numbered_text.cuh"
#include "papers/dc3/skew_order.cuh"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

using dc3::number_text;
using dc3::NumberedText;
using dc3::padding;
using dc3::RankedString;
using dc3::SkewItem;
using dc3::Words;

/// The numbers of the suffixes at positions 1 and 2 modulo 3: 0 .. thirds - 1 for positions 1, 4,
/// ..., and from `thirds` on for positions 2, 5, ... Neighbours in the string of names have
/// neighbouring numbers.
struct Numbering {
  std::uint32_t thirds;

  __host__ __device__ std::uint32_t position(std::uint32_t number) const {
    return number < thirds ? 3 * number + 1 : 3 * (number - thirds) + 2;
  }
};

// Thread i writes the key of suffix i of the order: `count` symbols from the offset on.
template <class Key>
struct WriteTripleKey {
  Numbering numbering;
  const std::uint32_t* string;
  const std::uint32_t* order;
  std::uint32_t offset;
  std::uint32_t count;
  int bits;
  Key* keys;

  __device__ void operator()(std::uint32_t i) const {
    const std::uint32_t* symbols = string + numbering.position(order[i]) + offset;
    Key key = 0;
    for (std::uint32_t c = 0; c < count; ++c) key = key << bits | symbols[c];
    keys[i] = key;
  }
};

struct WriteNumber {
  std::uint32_t* order;
  __device__ void operator()(std::uint32_t i) const { order[i] = i; }
};

/// Marks triples that differ from the previous one in the order: the prefix sums of the marks are
/// the names.
struct MarkDifferent {
  Numbering numbering;
  const std::uint32_t* string;
  const std::uint32_t* order;
  std::uint32_t* marks;

  __device__ void operator()(std::uint32_t i) const {
    marks[i] = 1;
    if (i == 0) return;
    const std::uint32_t* left = string + numbering.position(order[i - 1]);
    const std::uint32_t* right = string + numbering.position(order[i]);
    marks[i] = left[0] != right[0] || left[1] != right[1] || left[2] != right[2] ? 1 : 0;
  }
};

struct WriteName {
  const std::uint32_t* order;
  const std::uint32_t* sorted_names;
  std::uint32_t* names;
  __device__ void operator()(std::uint32_t i) const { names[order[i]] = sorted_names[i]; }
};

struct WriteRank {
  const std::uint32_t* order;
  std::uint32_t* ranks;
  __device__ void operator()(std::uint32_t i) const { ranks[order[i]] = i + 1; }
};

struct IsFirstThird {
  std::uint32_t thirds;
  __host__ __device__ bool operator()(std::uint32_t number) const { return number < thirds; }
};

// Thread i owns suffix i of the order: replaces the number of the suffix after it by its position.
struct WriteThirdKey {
  const std::uint32_t* string;
  std::uint32_t* order;
  std::uint32_t* keys;

  __device__ void operator()(std::uint32_t i) const {
    const std::uint32_t position = 3 * order[i];
    order[i] = position;
    keys[i] = string[position];
  }
};

/// The output of the merge: the position of an item.
struct TakePosition {
  __host__ __device__ std::uint32_t operator()(const SkewItem& item) const { return item.position; }
};

/// The levels of the recursion.
class SkewSort {
 public:
  explicit SkewSort(cudaStream_t stream) : stream_(stream) {}

  /// \param string  `size` numbers from 1 on, of at most `bits` bits, no two suffixes equal;
  ///                followed by the padding
  /// \return its suffix array
  Words sort(Words string, std::uint32_t size, int bits);

  [[nodiscard]] std::uint64_t levels() const { return levels_; }

 private:
  Words sort_triples(const Words& string, const Numbering& numbering, std::uint32_t count,
                     int bits) const;
  template <class Key>
  void sort_triples_by(const Words& string, const Numbering& numbering, Words& order, int bits,
                       std::uint32_t symbols_a_key) const;
  std::uint32_t name_triples(const Words& string, const Numbering& numbering, const Words& order,
                             Words& names) const;
  Words sort_thirds(const Words& string, const Words& order, std::uint32_t thirds, int bits) const;
  Words merge(const RankedString& ranked, const Words& order, std::uint32_t skipped,
              const Words& thirds, std::uint32_t size) const;

  cudaStream_t stream_;
  std::uint64_t levels_ = 0;
};

Words SkewSort::sort(Words string, std::uint32_t size, int bits) {
  ++levels_;
  const std::uint32_t thirds = (size + 2) / 3;
  const Numbering numbering{thirds};
  // With size = 1 modulo 3 there is a suffix of zeros alone at position `size`: it separates the
  // names of positions 1 modulo 3 from those of positions 2 modulo 3. For other sizes, two zeros in
  // the last triple do that.
  const std::uint32_t count = thirds + size / 3;

  Words order = sort_triples(string, numbering, count, bits);
  Words ranks(count + padding, stream_);
  const std::uint32_t different = name_triples(string, numbering, order, ranks);
  if (different < count) {
    order = {};
    order = sort(std::move(ranks), count, static_cast<int>(std::bit_width(different)));
    ranks = Words(count + padding, stream_);
    check_cuda(cudaMemsetAsync(ranks.data() + count, 0, padding * sizeof(std::uint32_t), stream_));
    for_each_item<std::uint32_t>(count, WriteRank{order.data(), ranks.data()}, stream_);
  }
  const Words third_positions = sort_thirds(string, order, thirds, bits);
  return merge({string.data(), ranks.data(), thirds}, order, size % 3 == 1 ? 1 : 0, third_positions,
               size);
}

template <class Key>
void SkewSort::sort_triples_by(const Words& string, const Numbering& numbering, Words& order,
                               int bits, std::uint32_t symbols_a_key) const {
  const std::uint64_t count = order.size();
  DeviceBuffer<Key> keys(count, stream_);
  for (std::uint32_t left = 3; left != 0;) {
    const std::uint32_t taken = left % symbols_a_key == 0 ? symbols_a_key : left % symbols_a_key;
    left -= taken;
    for_each_item<std::uint32_t>(
        count,
        WriteTripleKey<Key>{numbering, string.data(), order.data(), left, taken, bits, keys.data()},
        stream_);
    sort_by_key(keys, order, static_cast<int>(taken) * bits, stream_);
  }
}

Words SkewSort::sort_triples(const Words& string, const Numbering& numbering, std::uint32_t count,
                             int bits) const {
  Words order(count, stream_);
  for_each_item<std::uint32_t>(count, WriteNumber{order.data()}, stream_);
  if (3 * bits <= 32) {
    sort_triples_by<std::uint32_t>(string, numbering, order, bits, 3);
  } else {
    sort_triples_by<std::uint64_t>(string, numbering, order, bits, 3 * bits <= 64 ? 3 : 2);
  }
  return order;
}

/// Names triples by their rank among the distinct triples, from 1. Also writes the zeros after the
/// names. \return the number of distinct triples
std::uint32_t SkewSort::name_triples(const Words& string, const Numbering& numbering,
                                     const Words& order, Words& names) const {
  const auto count = static_cast<std::uint32_t>(order.size());
  Words sorted_names(count, stream_);
  check_cuda(cudaMemsetAsync(names.data() + count, 0, padding * sizeof(std::uint32_t), stream_));
  for_each_item<std::uint32_t>(
      count, MarkDifferent{numbering, string.data(), order.data(), sorted_names.data()}, stream_);
  inclusive_sum(sorted_names.data(), count, stream_);
  for_each_item<std::uint32_t>(count, WriteName{order.data(), sorted_names.data(), names.data()},
                               stream_);
  std::uint32_t result = 0;
  check_cuda(cudaMemcpyAsync(&result, sorted_names.data() + count - 1, sizeof(result),
                             cudaMemcpyDeviceToHost, stream_));
  check_cuda(cudaStreamSynchronize(stream_));
  return result;
}

/// \return the positions 0 modulo 3 in the order of their suffixes
Words SkewSort::sort_thirds(const Words& string, const Words& order, std::uint32_t thirds,
                            int bits) const {
  Words selected(thirds, stream_);
  Words selected_count(1, stream_);
  call_with_scratch(stream_, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, order.data(), selected.data(),
                                 selected_count.data(), static_cast<int>(order.size()),
                                 IsFirstThird{thirds}, stream_);
  });
  Words keys(thirds, stream_);
  for_each_item<std::uint32_t>(thirds, WriteThirdKey{string.data(), selected.data(), keys.data()},
                               stream_);
  sort_by_key(keys, selected, bits, stream_);
  return selected;
}

/// \param skipped  entries at the front of `order` that are not suffixes of the string
Words SkewSort::merge(const RankedString& ranked, const Words& order, std::uint32_t skipped,
                      const Words& thirds, std::uint32_t size) const {
  Words positions(size, stream_);
  const auto first =
      thrust::make_transform_iterator(order.data() + skipped, dc3::GatherRanked{ranked});
  const auto second = thrust::make_transform_iterator(thirds.data(), dc3::GatherThird{ranked});
  const std::uint64_t first_size = order.size() - skipped;
  const auto out = thrust::make_transform_output_iterator(positions.data(), TakePosition{});
#if CUB_VERSION >= 200700
  call_with_scratch(stream_, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceMerge::MergeKeys(scratch, bytes, first, static_cast<std::int64_t>(first_size),
                                       second, static_cast<std::int64_t>(thirds.size()), out,
                                       dc3::IsBefore{}, stream_);
  });
#else
  // CUDA before 12.8 has this merge in Thrust only, which allocates from the system.
  thrust::merge(thrust::cuda::par.on(stream_), first, first + first_size, second,
                second + thirds.size(), out, dc3::IsBefore{});
#endif
  return positions;
}

}  // namespace

std::uint64_t dc3_bytes(std::uint64_t symbols) {
  constexpr std::uint64_t constant_scratch = 1 << 21;
  return 24 * symbols + constant_scratch;
}

DeviceBuffer<std::uint32_t> build_dc3_on_device(const Context& context, const DeviceText& text,
                                                CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  const std::uint64_t separators = text.separators.size();
  if (size > longest_dc3_text) {
    throw Error(ErrorKind::unavailable, "dc3: found a text of " + std::to_string(size) +
                                            " symbols, expected at most " +
                                            std::to_string(longest_dc3_text));
  }
  if (size == 0) return {};
  const std::uint64_t budget = device_memory_budget(call);
  if (dc3_bytes(size) > budget) throw out_of_memory_error("dc3", dc3_bytes(size), budget);
  WaitingPhase phase(call, "dc3");
  NumberedText numbered = number_text(text, stream);
  SkewSort skew(stream);
  const Words order = skew.sort(std::move(numbered.string), numbered.size, numbered.bits);
  Words positions = dc3::without_end(order, separators, stream);
  phase.stop();
  if (context.report != nullptr) context.report->set("dc3_levels", skew.levels());
  return positions;
}

}  // namespace sortie::suffix_array::cuda
