// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "multisort/cuda/device_group.hpp"
#include "multisort/plan/moves.hpp"
#include "primitives/payload.hpp"

namespace sortie::multisort {

/// Copies ranges of items between the devices of a group: by peer access if the source reaches the
/// destination, else through two page-locked host blocks, of which one is filled while the other is
/// emptied. Each device sends on its outgoing stream and receives staged items on its incoming one.
/// Many peer copies are launched by a thread for each source. The host does not wait for copies.
class ItemExchange {
 public:
  explicit ItemExchange(const DeviceGroup& group) : group_(group) {}
  /// Waits for copies that use its blocks.
  ~ItemExchange();
  ItemExchange(ItemExchange&&) = delete;

  /// Does the transfers of each source in the order of its list, after the work on the work streams
  /// of both devices. Later work on the work streams waits for them.
  /// \param value_bytes  0: no values
  /// \param from, to     the items of each device; transfers hold positions in them
  void operator()(const std::vector<std::vector<plan::Transfer>>& by_source, std::size_t key_bytes,
                  std::size_t value_bytes, const std::vector<RawItems>& from,
                  const std::vector<RawItems>& to);

 private:
  static constexpr std::uint64_t block_bytes = std::uint64_t{8} << 20;

  struct Block {
    PinnedBuffer<std::byte> bytes;
    CudaEvent filled;     ///< on the source
    CudaEvent emptied;    ///< on the destination
    int emptied_by = -1;  ///< CUDA device that `emptied` belongs to
  };
  struct Staging {
    Block blocks[2];
    int next = 0;
  };

  void exchange(const std::vector<std::vector<plan::Transfer>>& by_source, std::size_t item_bytes,
                const std::vector<RawItems>& from, const std::vector<RawItems>& to,
                std::byte* RawItems::*array);
  void copy_through_host(const plan::Transfer& transfer, std::uint64_t item_bytes,
                         const std::byte* from, std::byte* to);
  Block& next_block(std::size_t source, int destination_ordinal);

  const DeviceGroup& group_;
  std::vector<Staging> staging_;
};

}  // namespace sortie::multisort
