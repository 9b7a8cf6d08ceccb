// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/text_deduplication/cuda/items.cuh"
#include "primitives/cuda/warp.cuh"

/// The anchors of all windows of a text.
namespace sortie::texts::cuda {

/// Windows of one block, and its threads.
inline constexpr std::uint32_t tile_windows = 2048;
inline constexpr std::uint32_t tile_threads = 128;

struct AnchorTiles {
  const std::uint8_t* text;  ///< aligned to 16 bytes, with text_padding
  std::uint64_t text_bytes;
  const std::uint64_t* borders;  ///< that windows must not cross: ascending, at last the text's end
  /// For each tile, and one more: the first border behind its first byte, at most the last one.
  const std::uint64_t* first_borders;
  WindowShape shape;
  HashRange range;  ///< of the hashes of the anchors
};

/// The work of one block. The block holds 2048 consecutive windows; in a step over the items of a
/// tile, thread t takes the items t, t + 128, ..., but for the hashes, of which it takes
/// consecutive ones, since they are computed from each other.
///
///   1. A hash of 20 bits for each k-gram, above its place in the tile, counted downwards: the least
///      one of a window is its anchor, the last one of several. K-grams of equal bytes have the
///      greatest hash, as on the host.
///   2. Minima of 2, 4, 8, ... consecutive hashes; those of `offsets` from two of these.
///   3. Consecutive windows with the same minimum, within a document, are those of one anchor.
///   4. In periodic text, an anchor and those that repeat it become one.
///   5. The anchors whose hashes are in the range are counted or written, in the order of the text.
class AnchorTile {
 public:
  static constexpr std::uint32_t most_grams = tile_windows + WindowShape::most_offsets - 1;
  static constexpr std::uint32_t most_gram = 24;
  static constexpr std::uint32_t windows_a_thread = tile_windows / tile_threads;
  /// Odd, so that neighbouring threads access different banks.
  static constexpr std::uint32_t most_grams_a_thread =
      (most_grams + tile_threads - 1) / tile_threads | 1U;
  static constexpr int place_bits = 12;
  static constexpr std::uint32_t place_mask = (1U << place_bits) - 1;
  static_assert(most_grams <= place_mask);

  struct Shared {
    uint4 bytes[(most_grams + most_gram + 14) / 16];
    std::uint32_t hashes[most_grams_a_thread * tile_threads];
    std::uint16_t first[tile_windows];  ///< windows of each anchor
    std::uint16_t last[tile_windows];
    std::uint16_t differing[tile_windows];  ///< see join()
    std::uint32_t valid[tile_windows / 32];
    std::uint32_t heads[tile_windows / 32];  ///< first windows; then anchors that repeat no other
    std::uint32_t before[tile_windows / 32];
    std::uint32_t warp_values[tile_threads / 32];
  };

  __device__ AnchorTile(Shared& shared, const AnchorTiles& tiles)
      : shared_(shared), tiles_(tiles), begin_(std::uint64_t{blockIdx.x} * tile_windows) {}

  /// Steps 1 to 4.
  __device__ void find() {
    load_bytes();
    hash_grams();
    find_minima();
    divide_windows();
    join();
  }

  /// Step 5: calls use(place, key, value) for each anchor in the range, whose place among them is
  /// below the returned number. All threads call it together.
  template <class Use>
  __device__ std::uint32_t visit(const Use& use) {
    std::uint32_t places = 0;
    for (std::uint32_t base = 0; base < anchors_; base += tile_threads) {
      const std::uint32_t k = base + threadIdx.x;
      std::uint64_t hash = 0;
      bool is_wanted = k < anchors_ && (shared_.heads[k / 32] >> k % 32 & 1U) != 0;
      if (is_wanted) {
        hash = hash_of_gram(place_of(k));
        is_wanted = tiles_.range.contains(hash);
      }
      const auto wanted =
          prefix_sum_in_block<tile_threads / 32>(is_wanted ? 1U : 0U, shared_.warp_values);
      if (is_wanted) {
        const std::uint32_t place = place_of(k);
        const std::uint32_t first = shared_.first[k];
        const std::uint32_t last = shared_.last[k];
        use(places + wanted.before, key_of(hash, last - first + 1, next_head(k) - k),
            value_of(begin_ + place, place - last, place - first));
      }
      places += wanted.total;
    }
    return places;
  }

 private:
  [[nodiscard]] __device__ const std::uint8_t* bytes() const {
    return reinterpret_cast<const std::uint8_t*>(shared_.bytes);
  }
  [[nodiscard]] __device__ std::uint32_t grams() const {
    return tile_windows + tiles_.shape.offsets - 1;
  }
  [[nodiscard]] __device__ static std::uint32_t place_of_hash(std::uint32_t hash) {
    return place_mask - (hash & place_mask);
  }
  /// The place of an anchor's k-gram in the tile.
  [[nodiscard]] __device__ std::uint32_t place_of(std::uint32_t k) const {
    return place_of_hash(shared_.hashes[shared_.first[k]]);
  }

  __device__ void load_bytes() {
    const std::uint32_t count = (grams() + tiles_.shape.gram + 14) / 16;
    const auto* const text = reinterpret_cast<const uint4*>(tiles_.text + begin_);
    for (std::uint32_t i = threadIdx.x; i < count; i += tile_threads)
      shared_.bytes[i] = begin_ + i * 16 < tiles_.text_bytes ? text[i] : uint4{0, 0, 0, 0};
    __syncthreads();
  }

  __device__ void hash_grams() {
    constexpr std::uint32_t factor = 0x9e3779b1U;
    constexpr std::uint32_t greatest = (1U << (32 - place_bits)) - 1;
    const std::uint32_t gram = tiles_.shape.gram;
    std::uint32_t power = 1;  // of the factor, for the first byte of a k-gram
    for (std::uint32_t i = 1; i < gram; ++i) power *= factor;
    const std::uint32_t a_thread = (grams() + tile_threads - 1) / tile_threads | 1U;
    const std::uint32_t begin = threadIdx.x * a_thread;
    const std::uint32_t end = min(begin + a_thread, grams());
    if (begin < end) {
      const std::uint8_t* const text = bytes();
      std::uint32_t hash = 0;
      std::uint32_t run = 0;  // number of last bytes that are equal
      std::uint32_t last = 0;
      const auto enter = [&](std::uint32_t byte) {
        run = byte == last ? run + 1 : 1;
        last = byte;
        hash = hash * factor + byte + 1;
      };
      for (std::uint32_t i = begin; i + 1 < begin + gram; ++i) enter(text[i]);
      for (std::uint32_t i = begin; i < end; ++i) {
        enter(text[i + gram - 1]);
        const std::uint32_t folded = (hash ^ hash >> 15) * 0x2c1b3c6dU;
        const std::uint32_t upper = (folded ^ folded >> 16) * 0x297a2d39U >> place_bits;
        shared_.hashes[i] = (run >= gram ? greatest : upper) << place_bits | (place_mask - i);
        hash -= (text[i] + 1U) * power;
      }
    }
    __syncthreads();
  }

  __device__ void find_minima() {
    std::uint32_t length = 1;
    for (; 2 * length <= tiles_.shape.offsets; length *= 2) fold(length);
    if (length < tiles_.shape.offsets) fold(tiles_.shape.offsets - length);
  }

  /// Replaces each hash by the lesser of itself and the one at a distance.
  __device__ void fold(std::uint32_t distance) {
    constexpr std::uint32_t most = (most_grams + tile_threads - 1) / tile_threads;
    const std::uint32_t count = grams();
    std::uint32_t least[most];
#pragma unroll
    for (std::uint32_t j = 0; j < most; ++j) {
      const std::uint32_t i = j * tile_threads + threadIdx.x;
      least[j] = i < count ? shared_.hashes[i] : 0;
      if (i + distance < count) least[j] = min(least[j], shared_.hashes[i + distance]);
    }
    __syncthreads();
#pragma unroll
    for (std::uint32_t j = 0; j < most; ++j) {
      const std::uint32_t i = j * tile_threads + threadIdx.x;
      if (i < count) shared_.hashes[i] = least[j];
    }
    __syncthreads();
  }

  /// Whether the window ends before the next border.
  [[nodiscard]] __device__ bool is_in_document(std::uint64_t begin) const {
    if (begin >= tiles_.text_bytes) return false;
    std::uint64_t first = tiles_.first_borders[blockIdx.x];
    std::uint64_t last = tiles_.first_borders[blockIdx.x + 1];
    while (first < last) {
      const std::uint64_t middle = first + (last - first) / 2;
      if (tiles_.borders[middle] > begin) {
        last = middle;
      } else {
        first = middle + 1;
      }
    }
    return begin + tiles_.shape.window <= tiles_.borders[first];
  }

  __device__ void divide_windows() {
#pragma unroll 1
    for (std::uint32_t j = 0; j < windows_a_thread; ++j) {
      const std::uint32_t i = j * tile_threads + threadIdx.x;
      const unsigned valid = __ballot_sync(full_warp, is_in_document(begin_ + i));
      if (lane() == 0) shared_.valid[i / 32] = valid;
    }
    __syncthreads();
    const auto is_valid = [&](std::uint32_t i) {
      return (shared_.valid[i / 32] >> i % 32 & 1U) != 0;
    };
    const auto continues = [&](std::uint32_t i) {  // window i that of window i - 1
      return is_valid(i - 1) && is_valid(i) && shared_.hashes[i - 1] == shared_.hashes[i];
    };
    for (std::uint32_t j = 0; j < windows_a_thread; ++j) {
      const std::uint32_t i = j * tile_threads + threadIdx.x;
      const unsigned heads = __ballot_sync(full_warp, is_valid(i) && !(i > 0 && continues(i)));
      if (lane() == 0) shared_.heads[i / 32] = heads;
    }
    __syncthreads();
    constexpr std::uint32_t words = tile_windows / 32;
    const std::uint32_t of_word =
        threadIdx.x < words ? lanes_of(shared_.heads[threadIdx.x]) : std::uint32_t{0};
    const auto sum = prefix_sum_in_block<tile_threads / 32>(of_word, shared_.warp_values);
    if (threadIdx.x < words) shared_.before[threadIdx.x] = sum.before;
    anchors_ = sum.total;
    __syncthreads();
    for (std::uint32_t j = 0; j < windows_a_thread; ++j) {
      const std::uint32_t i = j * tile_threads + threadIdx.x;
      if (!is_valid(i)) continue;
      const std::uint32_t up_to = shared_.heads[i / 32] & ((2U << i % 32) - 1);
      const std::uint32_t k = shared_.before[i / 32] + lanes_of(up_to) - 1;
      if ((up_to >> i % 32 & 1U) != 0) shared_.first[k] = static_cast<std::uint16_t>(i);
      if (i + 1 == tile_windows || !continues(i + 1))
        shared_.last[k] = static_cast<std::uint16_t>(i);
    }
    __syncthreads();
  }

  /// Whether anchor k may repeat the one before: both have the same offsets, one period apart. Then
  /// the period is the number of their windows.
  [[nodiscard]] __device__ bool may_repeat(std::uint32_t k) const {
    if (k == 0 || k >= anchors_) return false;
    const std::uint32_t hash = shared_.hashes[shared_.first[k]];
    const std::uint32_t previous = shared_.hashes[shared_.first[k - 1]];
    const std::uint32_t period = place_of_hash(hash) - place_of_hash(previous);
    return hash >> place_bits == previous >> place_bits &&
           shared_.first[k] == shared_.first[k - 1] + period &&
           shared_.last[k] == shared_.last[k - 1] + period &&
           shared_.last[k - 1] + 1U == shared_.first[k];
  }

  /// Marks the anchors that repeat no other in `heads`. Anchor k repeats the one before if all bytes
  /// of its windows are as those one period before. Of a sequence of anchors, the first one compares
  /// all of these bytes, and each other one those of its last period, which are not yet compared.
  /// The greatest place of bytes that differ up to k, plus 1, is in `differing`.
  __device__ void join() {
    bool any = false;
    for (std::uint32_t k = threadIdx.x; k < anchors_; k += tile_threads) any |= may_repeat(k);
    const bool joins = __syncthreads_or(any ? 1 : 0) != 0;
    if (joins) compare_periods();
    for (std::uint32_t base = 0; base < anchors_; base += tile_threads) {
      const std::uint32_t k = base + threadIdx.x;
      const bool is_head =
          k < anchors_ && !(joins && may_repeat(k) && shared_.differing[k] <= shared_.first[k]);
      const unsigned heads = __ballot_sync(full_warp, is_head);
      if (lane() == 0) shared_.heads[k / 32] = heads;
    }
    __syncthreads();
  }

  __device__ void compare_periods() {
    for (std::uint32_t k = threadIdx.x; k < anchors_; k += tile_threads) {
      std::uint32_t differing = 0;
      if (may_repeat(k)) {
        const std::uint32_t first = shared_.first[k];
        const std::uint32_t period = shared_.last[k] - first + 1;
        const std::uint32_t end = first + tiles_.shape.window + period - 1;
        const std::uint32_t begin = may_repeat(k - 1) ? end - period : first;
        const std::uint8_t* const text = tiles_.text + begin_;
        std::uint32_t i = end;
        while (i > begin && text[i - 1] == text[i - 1 - period]) --i;
        if (i > begin) differing = min(i, tile_windows + 1);
      }
      shared_.differing[k] = static_cast<std::uint16_t>(differing);
    }
    __syncthreads();
    std::uint32_t carried = 0;
    for (std::uint32_t base = 0; base < anchors_; base += tile_threads) {
      const std::uint32_t k = base + threadIdx.x;
      std::uint32_t greatest = k < anchors_ ? shared_.differing[k] : 0;
      for (unsigned distance = 1; distance < 32; distance *= 2) {
        const std::uint32_t other = __shfl_up_sync(full_warp, greatest, distance);
        if (lane() >= distance) greatest = max(greatest, other);
      }
      if (lane() == 31) shared_.warp_values[threadIdx.x / 32] = greatest;
      __syncthreads();
      for (std::uint32_t warp = 0; warp < tile_threads / 32; ++warp) {
        if (warp == threadIdx.x / 32) greatest = max(greatest, carried);
        carried = max(carried, shared_.warp_values[warp]);
      }
      if (k < anchors_) shared_.differing[k] = static_cast<std::uint16_t>(greatest);
      __syncthreads();
    }
  }

  /// The first anchor behind k that repeats no other, or the number of anchors.
  [[nodiscard]] __device__ std::uint32_t next_head(std::uint32_t k) const {
    std::uint32_t word = (k + 1) / 32;
    if (k + 1 >= anchors_) return anchors_;
    std::uint32_t heads = shared_.heads[word] & ~0U << (k + 1) % 32;
    while (heads == 0) {
      if (++word * 32 >= anchors_) return anchors_;
      heads = shared_.heads[word];
    }
    return word * 32 + static_cast<std::uint32_t>(first_lane(heads));
  }

  [[nodiscard]] __device__ std::uint64_t hash_of_gram(std::uint32_t place) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (std::uint32_t i = place; i < place + tiles_.shape.gram; ++i)
      hash = (hash ^ bytes()[i]) * 0x100000001b3ULL;
    return mixed(hash);
  }

  Shared& shared_;
  const AnchorTiles& tiles_;
  std::uint64_t begin_;
  std::uint32_t anchors_ = 0;
};

/// counts[tile] = number of anchors of a tile.
inline __global__ void __launch_bounds__(tile_threads)
    count_anchors_kernel(AnchorTiles tiles, std::uint32_t* counts) {
  __shared__ AnchorTile::Shared shared;
  AnchorTile tile(shared, tiles);
  tile.find();
  const std::uint32_t count = tile.visit([](auto, auto, auto) {});
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

/// Writes the anchors of a tile from begins[tile] on.
inline __global__ void __launch_bounds__(tile_threads)
    write_anchors_kernel(AnchorTiles tiles, const std::uint32_t* begins, std::uint64_t* keys,
                         std::uint64_t* values) {
  __shared__ AnchorTile::Shared shared;
  AnchorTile tile(shared, tiles);
  tile.find();
  const std::uint32_t begin = begins[blockIdx.x];
  static_cast<void>(tile.visit([&](std::uint32_t place, std::uint64_t key, std::uint64_t value) {
    keys[begin + place] = key;
    values[begin + place] = value;
  }));
}

}  // namespace sortie::texts::cuda
