#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/multisort/cuda/device_group.hpp"
#include "sortie/multisort/plan/exchange.hpp"

namespace sortie::multisort {

/// Copies stretches of items between the devices of a group: by peer access where the source
/// reaches the destination, else through page-locked host memory, a block of which is filled while
/// the one before it is emptied. Transfers to different destinations, and in different directions,
/// run on streams of their own. The host does not wait.
class ItemExchange {
 public:
  explicit ItemExchange(const DeviceGroup& group) : group_(group) {}
  /// Waits for copies that use its memory.
  ~ItemExchange();
  ItemExchange(const ItemExchange&) = delete;
  ItemExchange& operator=(const ItemExchange&) = delete;

  /// Copies what each source sends, in the order of its list, after what is on the work streams of
  /// both sides. What comes on the destinations' work streams waits for it.
  /// \param item_bytes  of one array; keys and values are copied by one call each
  /// \param from, to    the array of each device that positions in the transfers count in
  void operator()(const std::vector<std::vector<plan::Transfer>>& by_source,
                  std::uint64_t item_bytes, const std::vector<const std::byte*>& from,
                  const std::vector<std::byte*>& to);

 private:
  /// Bytes copied through the host at a time; twice that is held for each source.
  static constexpr std::uint64_t block_bytes = std::uint64_t{8} << 20;

  struct Block {
    PinnedBuffer<std::byte> bytes;
    cudaEvent_t filled = nullptr;   ///< on the source
    cudaEvent_t emptied = nullptr;  ///< on the destination
    int emptied_by = -1;            ///< CUDA device that `emptied` belongs to
  };
  struct Staging {
    Block blocks[2];
    int next = 0;
  };

  void copy_through_host(const plan::Transfer& transfer, std::uint64_t item_bytes,
                         const std::byte* from, std::byte* to);
  Block& next_block(std::size_t source, int destination_ordinal);

  const DeviceGroup& group_;
  std::vector<Staging> staging_;
};

}  // namespace sortie::multisort
