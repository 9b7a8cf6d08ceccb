// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/host_memory.hpp"
#include "primitives/host/items.hpp"

namespace sortie::sorting {

/// Converts between items in arrays and records in a file, a block at a time, for several workers.
/// Keys alone need no conversion and no buffers: their records are the keys themselves.
template <std::unsigned_integral Key, class Value>
class RecordBlocks {
 public:
  using Range = Items<Key, Value>;
  static constexpr std::size_t record_bytes = item_bytes<Key, Value>;

  /// \param workers      each has a buffer, and is one thread at a time
  /// \param block_items  most items of a block, at least 1
  RecordBlocks(std::uint64_t workers, std::uint64_t block_items) : block_items_(block_items) {
    if constexpr (has_values<Value>)
      buffers_ = allocate_array<char>(workers * block_items * record_bytes);
  }

  [[nodiscard]] std::uint64_t block_items() const { return block_items_; }

  /// Where to put the records of `items`, before unpack(). \pre n <= block_items()
  [[nodiscard]] std::span<char> records(std::uint64_t worker, Range items, std::uint64_t n) const {
    if constexpr (!has_values<Value>) {
      return {reinterpret_cast<char*>(items.keys), n * record_bytes};
    } else {
      return {buffer(worker), n * record_bytes};
    }
  }

  /// Makes items of the first records of the worker's block.
  void unpack(std::uint64_t worker, Range items, std::uint64_t n) const {
    if constexpr (has_values<Value>) {
      const char* at = buffer(worker);
      for (std::uint64_t i = 0; i < n; ++i, at += record_bytes) {
        std::memcpy(items.keys + i, at, sizeof(Key));
        std::memcpy(items.values + i, at + sizeof(Key), sizeof(Value));
      }
    }
  }

  /// The records of items, until the worker's next call or the items change.
  /// \pre n <= block_items()
  [[nodiscard]] std::span<const char> pack(std::uint64_t worker, Range items,
                                           std::uint64_t n) const {
    if constexpr (has_values<Value>) {
      char* at = buffer(worker);
      for (std::uint64_t i = 0; i < n; ++i, at += record_bytes) {
        std::memcpy(at, items.keys + i, sizeof(Key));
        std::memcpy(at + sizeof(Key), items.values + i, sizeof(Value));
      }
    }
    return records(worker, items, n);
  }

 private:
  [[nodiscard]] char* buffer(std::uint64_t worker) const {
    return buffers_.get() + worker * block_items_ * record_bytes;
  }

  std::uint64_t block_items_;
  HostArray<char> buffers_;
};

}  // namespace sortie::sorting
