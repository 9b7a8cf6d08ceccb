// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/text_deduplication/cuda/find_anchors.cuh"
#include "apps/text_deduplication/cuda/group_search.cuh"

namespace sortie::texts::cuda {

/// The number of anchors of a tile.
struct CountOfTile {
  const std::uint32_t* counts;
  std::uint32_t tiles;
  __host__ __device__ std::uint32_t operator()(std::uint32_t i) const {
    return i < tiles ? counts[i] : 0;
  }
};

/// A text on a device, and its anchors.
/// Memory for n bytes with d borders: n + 8 d + n / 170.
class DeviceText {
 public:
  /// \param borders  that windows must not cross: ascending, the last one is the end of the text
  DeviceText(const DeviceContext& context, std::span<const std::uint8_t> text,
             std::span<const std::uint64_t> borders, const WindowShape& shape)
      : size_(text.size()),
        stream_(context.stream),
        shape_(shape),
        bytes_(size_ + 2 * text_padding, stream_),
        counts_(tiles() + std::size_t{1}, stream_) {
    check_cuda(cudaMemsetAsync(bytes_.data(), 0, text_padding, stream_));
    check_cuda(cudaMemsetAsync(bytes_.data() + text_padding + size_, 0, text_padding, stream_));
    const int threads = threads_of(context);
    copy_to_device_in_blocks(bytes_.data() + text_padding, std::as_bytes(text), stream_, threads);
    std::vector<std::uint64_t> first_borders(tiles() + std::size_t{1});
    std::size_t border = 0;
    for (std::uint64_t tile = 0; tile < first_borders.size(); ++tile) {
      while (border + 1 < borders.size() && borders[border] <= tile * tile_windows) ++border;
      first_borders[tile] = border;
    }
    borders_ = copied_to_device(borders, stream_, threads);
    first_borders_ =
        copied_to_device(std::span<const std::uint64_t>(first_borders), stream_, threads);
  }

  [[nodiscard]] static std::uint64_t bytes_of(std::uint64_t size, std::uint64_t borders) {
    return size + 2 * text_padding + 8 * borders + 12 * (size / tile_windows + 2);
  }
  [[nodiscard]] const std::uint8_t* bytes() const { return bytes_.data() + text_padding; }

  /// The number of anchors whose hashes are in a range.
  std::uint64_t count_anchors(const HashRange& range) {
    count_anchors_kernel<<<tiles(), tile_threads, 0, stream_>>>(anchor_tiles(range),
                                                                counts_.data());
    check_cuda(cudaGetLastError());
    return sums_before(CountOfTile{counts_.data(), tiles()}, tiles(), counts_.data(), stream_);
  }

  /// These anchors, in the order of the text. \pre count_anchors() was called for the same range
  [[nodiscard]] Items anchors(const HashRange& range, std::uint64_t count) const {
    Items items(count, stream_);
    if (count == 0) return items;
    write_anchors_kernel<<<tiles(), tile_threads, 0, stream_>>>(
        anchor_tiles(range), counts_.data(), items.keys.data(), items.values.data());
    check_cuda(cudaGetLastError());
    return items;
  }

 private:
  [[nodiscard]] unsigned int tiles() const { return blocks_for(size_, tile_windows); }
  [[nodiscard]] AnchorTiles anchor_tiles(const HashRange& range) const {
    return {bytes(), size_, borders_.data(), first_borders_.data(), shape_, range};
  }

  std::uint64_t size_;
  cudaStream_t stream_;
  WindowShape shape_;
  DeviceBuffer<std::uint8_t> bytes_;
  DeviceBuffer<std::uint32_t> counts_;  ///< of anchors before each tile
  DeviceBuffer<std::uint64_t> borders_;
  DeviceBuffer<std::uint64_t> first_borders_;
};

}  // namespace sortie::texts::cuda
