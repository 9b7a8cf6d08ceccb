// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/text_deduplication/cuda/groups.cuh"
#include "apps/text_deduplication/duplicate_marks.hpp"
#include "core/cuda/block_copy.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/host_runtime.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

/// The search of equal windows among anchors on a device.
namespace sortie::texts::cuda {

/// Rounds over items before what is left is divided into single windows.
inline constexpr std::uint32_t most_rounds = 8;

/// Bytes that an item takes at most: in a sort, keys and values, twice; in a round, the same with
/// three numbers; and what is found.
inline constexpr std::uint64_t bytes_of_item = 48;

/// Items that scans of older versions of CUB can count.
inline constexpr std::uint64_t most_items = std::numeric_limits<std::int32_t>::max() - 1;

struct Greater {
  __host__ __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a < b ? b : a;
  }
};

/// The item itself where a group begins; else 0.
struct HeadOf {
  ItemsView items;
  __device__ std::uint32_t operator()(std::uint32_t i) const { return items.is_head(i) ? i : 0; }
};

/// of(0), of(1), ... The types are given, since the host cannot derive those of device functions.
template <class Of>
using NumbersOf = thrust::transform_iterator<Of, thrust::counting_iterator<std::uint32_t>,
                                             std::uint32_t, std::uint32_t>;
template <class Of>
NumbersOf<Of> numbers_of(const Of& of) {
  return {thrust::counting_iterator<std::uint32_t>(0), of};
}

/// Replaces the first `count` + 1 numbers by the sums of those before, and returns the sum of all.
/// \param of  of(i) gives number i on the device, 0 for i = count
template <class Of>
std::uint64_t sums_before(const Of& of, std::uint32_t count, std::uint32_t* sums,
                          cudaStream_t stream) {
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, numbers_of(of), sums,
                                         static_cast<int>(count) + 1, stream);
  });
  std::uint32_t total = 0;
  check_cuda(cudaMemcpyAsync(&total, sums + count, sizeof total, cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return total;
}

struct Items {
  DeviceBuffer<std::uint64_t> keys;
  DeviceBuffer<std::uint64_t> values;

  Items() = default;
  Items(std::uint64_t size, cudaStream_t stream) : keys(size, stream), values(size, stream) {}

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(keys.size()); }
  [[nodiscard]] ItemsView view() const { return {keys.data(), values.data(), size()}; }
};

inline void sort_by(DeviceBuffer<std::uint64_t>& keys, DeviceBuffer<std::uint64_t>& values,
                    int begin_bit, int end_bit, cudaStream_t stream) {
  const std::uint64_t size = keys.size();
  if (size < 2) return;
  DeviceBuffer<std::uint64_t> other_keys(size, stream);
  DeviceBuffer<std::uint64_t> other_values(size, stream);
  RadixBuffers buffers{keys.data(), other_keys.data(), values.data(), other_values.data()};
  call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return device_radix_sort(scratch, bytes, buffers, size, sizeof(std::uint64_t),
                             sizeof(std::uint64_t), begin_bit, end_bit, stream);
  });
  if (buffers.keys == other_keys.data()) {
    std::swap(keys, other_keys);
    std::swap(values, other_values);
  }
}

/// Whether first windows i - 1 and i are of different passages.
struct BeginsPassage {
  const std::uint64_t* begins;
  const std::uint64_t* windows;
  std::uint32_t size;

  [[nodiscard]] __device__ std::uint64_t end(std::uint32_t i) const {
    return begins[i] + (windows[i] & ((std::uint64_t{1} << MarkTargets::window_bits) - 1));
  }
  [[nodiscard]] __device__ std::uint64_t copies(std::uint32_t i) const {
    return windows[i] >> MarkTargets::window_bits;
  }
  [[nodiscard]] __device__ std::uint32_t operator()(std::uint32_t i) const {
    if (i >= size) return 0;
    return i == 0 || copies(i - 1) != copies(i) || end(i - 1) != begins[i] ? 1 : 0;
  }
};

/// The bytes of device memory of one call.
class DeviceBudget {
 public:
  explicit DeviceBudget(const DeviceContext& context)
      : stream_(context.stream),
        held_before_(device_memory_in_use()),
        bytes_(device_memory_budget(context)) {}

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Bytes that may be taken now. Waits for the stream.
  [[nodiscard]] std::uint64_t left() const {
    check_cuda(cudaStreamSynchronize(stream_));
    const std::uint64_t held = device_memory_in_use() - held_before_;
    return std::min(bytes_ - std::min(bytes_, held), device_memory_free());
  }
  void require(std::string_view what, std::uint64_t bytes) const {
    if (const std::uint64_t free = left(); bytes > free)
      throw out_of_memory_error(what, bytes, free);
  }

 private:
  cudaStream_t stream_;
  std::uint64_t held_before_;
  std::uint64_t bytes_;
};

/// The marks of all offsets of a text on a device.
class DeviceMarks {
 public:
  DeviceMarks(std::uint64_t offsets, bool keeps, cudaStream_t stream)
      : removed_(words_of(offsets), stream), kept_(keeps ? words_of(offsets) : 0, stream) {
    for (const auto* bits : {&removed_, &kept_}) {
      if (bits->size() != 0)
        check_cuda(
            cudaMemsetAsync(const_cast<std::uint32_t*>(bits->data()), 0, bits->bytes(), stream));
    }
  }

  /// Targets without those of first windows.
  [[nodiscard]] MarkTargets targets(const DeduplicationOptions& options,
                                    std::uint64_t other_begin) {
    MarkTargets targets{};
    targets.removed = removed_.data();
    targets.kept = kept_.data();
    targets.keeps_first = options.keep == Keep::first;
    targets.has_other = options.has_other_corpus();
    targets.other_begin = other_begin;
    return targets;
  }
  void copy_from(DuplicateMarks& marks) {
    removed_.copy_from(words(marks.removed));
    if (kept_.size() != 0) kept_.copy_from(words(marks.kept));
  }
  /// \pre the marks have as many offsets
  void copy_to(DuplicateMarks& marks, const DeviceContext& context) const {
    const auto copy = [&](OffsetBits& to, const DeviceBuffer<std::uint32_t>& from) {
      if (from.size() != 0)
        copy_to_host_in_blocks(std::as_writable_bytes(to.words()), from.data(), context.stream,
                               threads_of(context));
    };
    copy(marks.removed, removed_);
    copy(marks.kept, kept_);
  }

 private:
  [[nodiscard]] static std::uint64_t words_of(std::uint64_t offsets) {
    return OffsetBits::bytes_of(offsets) / sizeof(std::uint32_t);
  }
  [[nodiscard]] static std::span<const std::uint32_t> words(OffsetBits& bits) {
    return {reinterpret_cast<const std::uint32_t*>(bits.words().data()), bits.words().size() * 2};
  }

  DeviceBuffer<std::uint32_t> removed_;
  DeviceBuffer<std::uint32_t> kept_;
};

/// Compares items in rounds, marks equal windows, and collects those that are first occurrences.
class GroupSearch {
 public:
  /// \param targets  without those of first windows
  GroupSearch(const DeviceContext& context, const DeviceBudget& budget, const WindowShape& shape,
              const MarkTargets& targets)
      : context_(context),
        stream_(context.stream),
        budget_(budget),
        shape_(shape),
        targets_(targets),
        found_(1, stream_) {
    targets_.count = found_.data();
  }

  /// Finds and marks all equal windows of items, which are in the order of the text.
  template <class Source>
  void search(const Source& source, Items items) {
    sort_items(items);
    WaitingPhase comparing(context_, "groups");
    items = compare(source, matchable(std::move(items)), shape_.offsets, most_rounds);
    items = matchable(std::move(items));
    comparing.stop();
    if (items.size() != 0) compare_single_windows(source, items);
  }

  /// Appends the first windows to those on the host, joined, with the figures that follow from them.
  void join_first_windows(DuplicateMarks& marks) {
    if (first_count_ == 0) return;
    WaitingPhase joining(context_, "join passages");
    if (first_count_ > most_items) {
      throw Error(ErrorKind::unavailable,
                  "text deduplication on a GPU: found more than 2^31 first windows");
    }
    const auto count = static_cast<std::uint32_t>(first_count_);
    FirstWindowsFound all{{count, stream_}, {count, stream_}};
    std::uint64_t place = 0;
    for (FirstWindowsFound& part : first_windows_) {
      const auto append = [&](DeviceBuffer<std::uint64_t>& to,
                              const DeviceBuffer<std::uint64_t>& from) {
        check_cuda(cudaMemcpyAsync(to.data() + place, from.data(), from.bytes(),
                                   cudaMemcpyDeviceToDevice, stream_));
      };
      append(all.begins, part.begins);
      append(all.windows, part.windows);
      place += part.begins.size();
      part = {};
    }
    sort_by(all.begins, all.windows, 0, 40, stream_);
    const BeginsPassage begins{all.begins.data(), all.windows.data(), count};
    DeviceBuffer<std::uint32_t> places(count + std::size_t{1}, stream_);
    const std::uint64_t passages = sums_before(begins, count, places.data(), stream_);
    DeviceBuffer<FirstWindows> joined(passages, stream_);
    for_each_item<std::uint32_t>(
        count,
        [begins, places = places.data(), joined = joined.data()] __device__(std::uint32_t i) {
          // places[i + 1] passages begin up to i; the end of the last one is in `windows` for now.
          FirstWindows& passage = joined[places[i + 1] - 1];
          if (places[i + 1] != places[i]) {
            passage.begin = begins.begins[i];
            passage.copies = begins.copies(i);
          }
          if (i + 1 == begins.size || begins(i + 1) != 0) passage.windows = begins.end(i);
        },
        stream_);
    const std::size_t known = marks.first_windows.size();
    marks.first_windows.resize(known + passages);
    const auto added = std::span(marks.first_windows).subspan(known);
    copy_to_host_in_blocks(std::as_writable_bytes(added), joined.data(), stream_,
                           threads_of(context_));
    for (FirstWindows& passage : added) {
      passage.windows -= passage.begin;
      const std::uint64_t windows = passage.copies * passage.windows;
      marks.duplicate_windows += windows;
      marks.copies[static_cast<std::size_t>(std::bit_width(passage.copies)) - 1] += windows;
    }
    first_windows_.clear();
    first_count_ = 0;
    joining.stop();
  }

  [[nodiscard]] Items matchable(Items items) const {
    return made_of(MatchableItems{items.view()}, items.size());
  }

  // nvcc takes lambdas of the device in public functions only.

  /// What `source` makes of each of `count` items: none, one or several.
  template <class Source>
  [[nodiscard]] Items made_of(const Source& source, std::uint32_t count) const {
    if (count == 0) return {};
    DeviceBuffer<std::uint32_t> places(count + std::size_t{1}, stream_);
    const std::uint64_t size = sums_before(source, count, places.data(), stream_);
    if (size > most_items) {
      throw Error(ErrorKind::unavailable,
                  "text deduplication on a GPU: found more than 2^31 anchors with equal hashes");
    }
    budget_.require("text deduplication, for windows of equal anchors",
                    size * sizeof(std::uint64_t) * 2);
    Items made(size, stream_);
    for_each_item<std::uint32_t>(
        size == 0 ? 0 : count,
        [source, places = places.data(), keys = made.keys.data(),
         values = made.values.data()] __device__(std::uint32_t i) {
          source.write(i, places[i], keys, values);
        },
        stream_);
    return made;
  }

 private:
  struct FirstWindowsFound {
    DeviceBuffer<std::uint64_t> begins;
    DeviceBuffer<std::uint64_t> windows;
  };

  void sort_items(Items& items) {
    WaitingPhase sorting(context_, "sort anchors", items.size() * std::uint64_t{16});
    sort_by(items.keys, items.values, hash_begin_bit, 64, stream_);
    sorting.stop();
  }

  /// Rounds. Returns what is left after the last one.
  template <class Source>
  [[nodiscard]] Items compare(const Source& source, Items items, std::uint32_t offsets,
                              std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds && items.size() != 0; ++round) {
      const std::uint32_t size = items.size();
      DeviceBuffer<std::uint32_t> leaders(size, stream_);
      call_with_scratch(stream_, [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScan(scratch, bytes, numbers_of(HeadOf{items.view()}),
                                              leaders.data(), Greater{}, static_cast<int>(size),
                                              stream_);
      });
      const Groups groups{items.view(), leaders.data()};
      DeviceBuffer<Offsets> matches(size, stream_);
      for_each_item<std::uint32_t>(
          size, CompareWithLeader<Source>{source, shape_.window, groups, matches.data()}, stream_);
      mark(source, groups, matches, offsets);
      items = made_of(RemainingItems{groups, matches.data()}, size);
    }
    return items;
  }

  /// Marks the windows of a round. Marks may be set again, so that this is repeated if more first
  /// windows are found than there is memory for.
  template <class Source>
  void mark(const Source& source, const Groups& groups, const DeviceBuffer<Offsets>& matches,
            std::uint32_t offsets) {
    MarkTargets targets = targets_;
    std::uint32_t count = groups.items.size / 2 + 1024;
    FirstWindowsFound found;
    do {
      targets.capacity = count;
      found.begins = DeviceBuffer<std::uint64_t>(count, stream_);
      found.windows = DeviceBuffer<std::uint64_t>(count, stream_);
      targets.begins = found.begins.data();
      targets.windows = found.windows.data();
      check_cuda(cudaMemsetAsync(targets.count, 0, sizeof(std::uint32_t), stream_));
      mark_groups_kernel<<<blocks_for(groups.items.size, marking_warps * 32), marking_warps * 32,
                           marking_bytes(offsets, targets.has_other), stream_>>>(
          source, groups, matches.data(), offsets, targets);
      check_cuda(cudaGetLastError());
      check_cuda(
          cudaMemcpyAsync(&count, targets.count, sizeof count, cudaMemcpyDeviceToHost, stream_));
      check_cuda(cudaStreamSynchronize(stream_));
    } while (count > targets.capacity);
    if (count == 0) return;
    const auto shortened = [&](const DeviceBuffer<std::uint64_t>& all) {
      DeviceBuffer<std::uint64_t> part(count, stream_);
      check_cuda(cudaMemcpyAsync(part.data(), all.data(), part.bytes(), cudaMemcpyDeviceToDevice,
                                 stream_));
      return part;
    };
    first_windows_.push_back({shortened(found.begins), shortened(found.windows)});
    first_count_ += count;
  }

  template <class Source>
  void compare_single_windows(const Source& source, const Items& items) {
    WaitingPhase comparing(context_, "single windows");
    SingleWindows<Source> windows{source, shape_.window, 1, items.view(), {}};
    for (std::uint32_t i = 1; i < shape_.window; ++i) windows.power *= windows.factor;
    const std::uint64_t most = items.size() * std::uint64_t{shape_.offsets};
    const std::uint64_t fitting =
        std::clamp<std::uint64_t>(budget_.left() / bytes_of_item, 1, most_items);
    windows.range.count = most / fitting + 1;
    for (; windows.range.index != windows.range.count; ++windows.range.index) {
      Items single = made_of(windows, items.size());
      sort_by(single.keys, single.values, hash_begin_bit, 64, stream_);
      static_cast<void>(compare(source, matchable(std::move(single)), 1,
                                std::numeric_limits<std::uint32_t>::max()));
    }
    comparing.stop();
  }

  const DeviceContext& context_;
  cudaStream_t stream_;
  const DeviceBudget& budget_;
  WindowShape shape_;
  MarkTargets targets_;
  DeviceBuffer<std::uint32_t> found_;
  std::vector<FirstWindowsFound> first_windows_;
  std::uint64_t first_count_ = 0;
};

}  // namespace sortie::texts::cuda
