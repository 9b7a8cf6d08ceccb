// SPDX-License-Identifier: Apache-2.0

// Duplicates of a text on a GPU. As on the host (duplicate_marks.hpp, docs/deduplication.md), anchors
// stand for windows, but groups of equal anchors are compared in rounds, all of them at once.
//
// Steps, for each part of all hashes:
//   1. Anchors of all windows (find_anchors.cuh), counted and then written in the order of the text.
//   2. A stable sort by their hashes. Anchors that are alone are dropped.
//   3. Rounds: every item is compared with the first one of its group (groups.cuh). Windows that are
//      equal are marked, the rest goes on to the next round. A group of items with the same windows
//      is done after one round.
//   4. What is left after most_rounds, of groups with many different windows around a k-gram, is
//      divided into single windows, by a hash of all of their bytes. Rounds over these end when all
//      windows are done. There, a second round is needed only where hashes collide.
// Then first occurrences of windows are sorted by their offset, and joined for the report.
//
// Memory for n bytes of text with d documents and m anchors (n / 39 for L = 100):
//
//   | name                      | elements     | type    | lifetime                             |
//   |---------------------------|--------------|---------|--------------------------------------|
//   | text                      | n            | 1 byte  | whole call                           |
//   | removed, kept             | n each       | 1 bit   | whole call; kept if wanted           |
//   | borders                   | d + n / 2048 | 8 bytes | whole call                           |
//   | keys, values              | m each       | 8 bytes | pass, twice during the sort          |
//   | matchable keys, values    | <= m each    | 8 bytes | rounds, twice between two            |
//   | leaders, matches, places  | <= m each    | 4 bytes | round                                |
//   | first windows             | <= m / 2 + 1 | 16 bytes| whole call, twice at its end         |
#include <algorithm>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "apps/text_deduplication/cuda/find_anchors.cuh"
#include "apps/text_deduplication/cuda/groups.cuh"
#include "apps/text_deduplication/duplicate_marks.hpp"
#include "apps/text_deduplication/removed_ranges.hpp"
#include "core/cuda/block_copy.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/host_runtime.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/error.hpp"

namespace sortie::texts::cuda {
namespace {

/// Rounds over items before what is left is divided into single windows.
constexpr std::uint32_t most_rounds = 8;

/// Bytes that an item takes at most: in a sort, keys and values, twice; in a round, the same with
/// three numbers; and what is found.
constexpr std::uint64_t bytes_of_item = 48;

/// Items that scans of older versions of CUB can count.
constexpr std::uint64_t most_items = std::numeric_limits<std::int32_t>::max() - 1;

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

template <class Of>
auto numbers_of(const Of& of) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint32_t{0}), of);
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

void sort_by(DeviceBuffer<std::uint64_t>& keys, DeviceBuffer<std::uint64_t>& values, int begin_bit,
             int end_bit, cudaStream_t stream) {
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

class Search {
 public:
  Search(const DeviceContext& context, std::span<const std::uint8_t> text,
         std::span<const std::uint64_t> borders, const DeduplicationOptions& options,
         std::uint64_t other_begin)
      : context_(context),
        stream_(context.stream),
        size_(text.size()),
        shape_(WindowShape::of(options.min_length)),
        held_before_(device_memory_in_use()),
        budget_(device_memory_budget(context)) {
    const std::uint64_t tiles = (size_ + tile_windows - 1) / tile_windows;
    std::vector<std::uint64_t> first_borders(tiles + 1);
    std::size_t border = 0;
    for (std::uint64_t tile = 0; tile <= tiles; ++tile) {
      while (border + 1 < borders.size() && borders[border] <= tile * tile_windows) ++border;
      first_borders[tile] = border;
    }
    const std::uint64_t words = OffsetBits::bytes_of(size_) / sizeof(std::uint32_t);
    require("the text", size_ + (options.protect_first ? 8 : 4) * words +
                            8 * (borders.size() + first_borders.size()) + 4 * tiles);
    WaitingPhase copying(context_, "copy in", size_);
    text_ = DeviceBuffer<std::uint8_t>(size_ + 2 * text_padding, stream_);
    check_cuda(cudaMemsetAsync(text_.data(), 0, text_padding, stream_));
    check_cuda(cudaMemsetAsync(text_.data() + text_padding + size_, 0, text_padding, stream_));
    copy_to_device_in_blocks(text_.data() + text_padding, std::as_bytes(text), stream_,
                             threads_of(context_));
    borders_ = copied_to_device(borders, stream_, threads_of(context_));
    first_borders_ = copied_to_device(std::span<const std::uint64_t>(first_borders), stream_,
                                      threads_of(context_));
    counts_ = DeviceBuffer<std::uint32_t>(tiles + 1, stream_);
    found_ = DeviceBuffer<std::uint32_t>(1, stream_);
    const auto marks = [&] {
      DeviceBuffer<std::uint32_t> bits(words, stream_);
      check_cuda(cudaMemsetAsync(bits.data(), 0, bits.bytes(), stream_));
      return bits;
    };
    removed_ = marks();
    if (options.protect_first) kept_ = marks();
    copying.stop();
    targets_.removed = removed_.data();
    targets_.kept = kept_.data();
    targets_.keeps_first = options.keep == Keep::first;
    targets_.has_other = options.has_other_corpus();
    targets_.other_begin = other_begin;
    targets_.count = found_.data();
  }

  /// The parts into which hashes are divided so that the anchors of each fit.
  std::uint64_t passes() {
    anchors_ = count_anchors({});
    const std::uint64_t fitting = std::clamp<std::uint64_t>(left() / bytes_of_item, 1, most_items);
    return anchors_ / fitting + 1;
  }

  void run(const HashRange& range) {
    WaitingPhase finding(context_, "anchors", size_);
    if (range.count > 1) anchors_ = count_anchors(range);
    require("text deduplication, for equal anchors", anchors_ * bytes_of_item);
    Items items(anchors_, stream_);
    if (anchors_ != 0) {
      write_anchors_kernel<<<tiles(), tile_threads, 0, stream_>>>(
          anchor_tiles(range), counts_.data(), items.keys.data(), items.values.data());
      check_cuda(cudaGetLastError());
    }
    all_anchors_ += anchors_;
    finding.stop();
    sort_items(items);
    WaitingPhase comparing(context_, "groups");
    items = compare(matchable(std::move(items)), shape_.offsets, most_rounds);
    items = matchable(std::move(items));
    comparing.stop();
    if (items.size() != 0) compare_single_windows(items);
  }

  [[nodiscard]] std::uint64_t anchors() const { return all_anchors_; }

  /// What was found, and the marks.
  void take(DuplicateMarks& marks) {
    WaitingPhase joining(context_, "join passages");
    join_first_windows(marks);
    joining.stop();
    WaitingPhase copying(context_, "copy out", removed_.bytes() + kept_.bytes());
    const auto copy = [&](OffsetBits& bits, const DeviceBuffer<std::uint32_t>& from) {
      bits = OffsetBits(size_);
      copy_to_host_in_blocks(std::as_writable_bytes(bits.words()), from.data(), stream_,
                             threads_of(context_));
    };
    copy(marks.removed, removed_);
    if (kept_.size() != 0) copy(marks.kept, kept_);
    copying.stop();
  }

 private:
  struct FirstWindowsFound {
    DeviceBuffer<std::uint64_t> begins;
    DeviceBuffer<std::uint64_t> windows;
  };

  [[nodiscard]] unsigned int tiles() const { return blocks_for(size_, tile_windows); }
  [[nodiscard]] const std::uint8_t* text() const { return text_.data() + text_padding; }
  [[nodiscard]] AnchorTiles anchor_tiles(const HashRange& range) const {
    return {text(), size_, borders_.data(), first_borders_.data(), shape_, range};
  }

  /// Bytes that may be taken now. Waits for the stream.
  [[nodiscard]] std::uint64_t left() const {
    check_cuda(cudaStreamSynchronize(stream_));
    const std::uint64_t held = device_memory_in_use() - held_before_;
    return std::min(budget_ - std::min(budget_, held), device_memory_free());
  }
  void require(std::string_view what, std::uint64_t bytes) const {
    if (const std::uint64_t free = left(); bytes > free)
      throw out_of_memory_error(what, bytes, free);
  }

 public:
  /// The number of anchors in a range; `counts_` has those before each tile.
  std::uint64_t count_anchors(const HashRange& range) {
    count_anchors_kernel<<<tiles(), tile_threads, 0, stream_>>>(anchor_tiles(range),
                                                                counts_.data());
    check_cuda(cudaGetLastError());
    const auto count = [counts = counts_.data(), tiles = tiles()] __device__(std::uint32_t i) {
      return i < tiles ? counts[i] : 0;
    };
    return sums_before(count, tiles(), counts_.data(), stream_);
  }

 private:
  void sort_items(Items& items) {
    WaitingPhase sorting(context_, "sort anchors", items.size() * std::uint64_t{16});
    sort_by(items.keys, items.values, hash_begin_bit, 64, stream_);
    sorting.stop();
  }

  [[nodiscard]] Items matchable(Items items) const {
    return made_of(MatchableItems{items.view()}, items.size());
  }

 public:
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
    require("text deduplication, for windows of equal anchors", size * sizeof(std::uint64_t) * 2);
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
  /// Rounds. Returns what is left after the last one.
  [[nodiscard]] Items compare(Items items, std::uint32_t offsets, std::uint32_t rounds) {
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
          size, CompareWithLeader{text(), shape_.window, groups, matches.data()}, stream_);
      mark(groups, matches, offsets);
      items = made_of(RemainingItems{groups, matches.data()}, size);
    }
    return items;
  }

  /// Marks the windows of a round. Marks may be set again, so that this is repeated if more first
  /// windows are found than there is memory for.
  void mark(const Groups& groups, const DeviceBuffer<Offsets>& matches, std::uint32_t offsets) {
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
          groups, matches.data(), offsets, targets);
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

  void compare_single_windows(const Items& items) {
    WaitingPhase comparing(context_, "single windows");
    SingleWindows windows{text(), shape_.window, 1, items.view(), {}};
    for (std::uint32_t i = 1; i < shape_.window; ++i) windows.power *= SingleWindows::factor;
    const std::uint64_t most = items.size() * std::uint64_t{shape_.offsets};
    const std::uint64_t fitting = std::clamp<std::uint64_t>(left() / bytes_of_item, 1, most_items);
    windows.range.count = most / fitting + 1;
    for (; windows.range.index != windows.range.count; ++windows.range.index) {
      Items single = made_of(windows, items.size());
      sort_by(single.keys, single.values, hash_begin_bit, 64, stream_);
      static_cast<void>(
          compare(matchable(std::move(single)), 1, std::numeric_limits<std::uint32_t>::max()));
    }
    comparing.stop();
  }

 public:
  void join_first_windows(DuplicateMarks& marks) {
    if (first_count_ == 0) return;
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
    marks.first_windows.resize(passages);
    copy_to_host_in_blocks(std::as_writable_bytes(std::span(marks.first_windows)), joined.data(),
                           stream_, threads_of(context_));
    for (FirstWindows& passage : marks.first_windows) {
      passage.windows -= passage.begin;
      const std::uint64_t windows = passage.copies * passage.windows;
      marks.duplicate_windows += windows;
      marks.copies[static_cast<std::size_t>(std::bit_width(passage.copies)) - 1] += windows;
    }
  }

 private:
  const DeviceContext& context_;
  cudaStream_t stream_;
  std::uint64_t size_;
  WindowShape shape_;
  std::uint64_t held_before_;
  std::uint64_t budget_;
  DeviceBuffer<std::uint8_t> text_;
  DeviceBuffer<std::uint64_t> borders_;
  DeviceBuffer<std::uint64_t> first_borders_;
  DeviceBuffer<std::uint32_t> counts_;  ///< of anchors, by tile; then sums
  DeviceBuffer<std::uint32_t> removed_;
  DeviceBuffer<std::uint32_t> kept_;
  DeviceBuffer<std::uint32_t> found_;
  MarkTargets targets_{};
  std::vector<FirstWindowsFound> first_windows_;
  std::uint64_t first_count_ = 0;
  std::uint64_t anchors_ = 0;
  std::uint64_t all_anchors_ = 0;
};

}  // namespace

MarkingPlan plan_marking(const Context& context, std::uint64_t text_bytes, std::uint64_t documents,
                         const DeduplicationOptions& options) {
  const DeviceCall call(context);
  const WindowShape shape = WindowShape::of(options.min_length);
  const std::uint64_t held = text_bytes + 2 * text_padding +
                             OffsetBits::bytes_of(text_bytes) * (options.protect_first ? 2 : 1) +
                             8 * documents + 12 * (text_bytes / tile_windows + 2);
  const std::uint64_t anchors =
      bytes_of_item * (9 * text_bytes / (4 * (shape.offsets + 1)) + documents + 1);
  const std::uint64_t budget = device_memory_budget(call);
  constexpr std::uint64_t most_passes = 1024;
  if (held + anchors / most_passes + 1 > budget)
    throw out_of_memory_error("text deduplication", held + anchors / most_passes + 1, budget);
  const std::uint64_t passes = (anchors - 1) / (budget - held) + 1;
  return {passes, held + (anchors - 1) / passes + 1};
}

DuplicateMarks mark_duplicates(const Context& context, std::span<const std::uint8_t> text,
                               std::span<const std::uint64_t> begins,
                               const DeduplicationOptions& options) {
  const DeviceCall call(context);
  DuplicateMarks marks;
  marks.removed = OffsetBits(text.size());
  if (options.protect_first) marks.kept = OffsetBits(text.size());
  if (text.empty()) return marks;
  const std::vector<std::uint64_t> borders = window_borders(begins, options);
  Search search(call, text, borders, options, other_begin_of(begins, options));
  const std::uint64_t passes = search.passes();
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    search.run({pass, passes});
    report_progress(context, "anchors", (pass + 1) * text.size(), passes * text.size());
    report_progress(context, "groups", pass + 1, passes);
  }
  search.take(marks);
  if (context.report != nullptr) {
    context.report->set("passes", passes);
    context.report->set("anchors", search.anchors());
  }
  return marks;
}

}  // namespace sortie::texts::cuda
