// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/files/checksum.hpp"
#include "core/host_memory.hpp"
#include "sequences/symbol_counts.hpp"
#include "sortie/context.hpp"

/// Internal to Sortie: a text whose symbols are packed while it is read, so that it is never in
/// memory at a byte a symbol.
namespace sortie::sequences {

/// The symbols of a text in blocks, each packed with as many bits as its own symbols need: 1/4 byte
/// a symbol for a block of four letters, 3/8 with separators or N, 1 byte at most.
///
/// | array            | bytes                        | lifetime                    |
/// |------------------|------------------------------|-----------------------------|
/// | packed blocks    | 1/8 to 1 a symbol            | until visit() releases them |
/// | tables of blocks | 1/5000 a symbol              | all                         |
/// | chunk            | 64 MiB, as far as it is used | until its blocks end        |
class SymbolBlocks {
 public:
  /// Symbols of a block, by default a block of a checksum.
  static constexpr std::uint64_t usual_block = checksum_block_bytes;

  /// A block, which store() fills.
  struct Block {
    std::shared_ptr<std::uint8_t> bytes;  ///< in a chunk, which the last of its blocks frees
    std::uint64_t size = 0;
    unsigned bits = 1;
    std::array<std::uint8_t, 256> symbols{};  ///< by code
    unsigned codes = 0;
  };

  /// \param block_symbols  a multiple of 8
  explicit SymbolBlocks(std::uint64_t block_symbols = usual_block)
      : block_symbols_(block_symbols) {}

  [[nodiscard]] std::uint64_t block_symbols() const { return block_symbols_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Of all symbols, separators included.
  [[nodiscard]] SymbolCounts counts() const;

  /// Forgets all symbols. \param context  memory budget: of the packed blocks; \param name  of the
  /// text for messages
  void start(const HostContext& context, std::string name);
  /// Adds the next block, which is whole. One call at a time, but beside store().
  /// \pre append() has not been called
  [[nodiscard]] Block& add();
  /// Packs the symbols of a block. Threads may call it at the same time, for blocks of their own.
  /// \throws Error (out_of_memory) "NAME: ..."
  void store(Block& block, std::span<const std::uint8_t> symbols);
  /// Adds symbols at the end. Not beside other calls.
  void append(std::span<const std::uint8_t> symbols);
  /// Packs what append() has left over. \post no symbols can be added
  void seal();

  /// Replaces each symbol by that of a table. O(blocks).
  void replace(const std::array<std::uint8_t, 256>& by);
  /// Calls visit(block, symbols) for all blocks, on several threads. \pre after seal()
  /// \param release  free each block after its visit. \post there are no symbols
  void visit(int threads,
             const std::function<void(std::uint64_t, std::span<const std::uint8_t>)>& visit,
             bool release = false);
  /// Unpacks symbols [begin, begin + to.size()), also before seal(). O(size of the blocks).
  void unpack(std::uint64_t begin, std::span<std::uint8_t> to) const;
  /// The positions of a symbol, ascending. \pre after seal()
  [[nodiscard]] std::vector<std::uint64_t> positions(int threads, std::uint8_t symbol);
  /// checksum_of() the symbols. \pre after seal(); blocks of usual_block
  [[nodiscard]] std::string checksum(int threads);

 private:
  using Symbols = std::vector<std::uint8_t>;

  [[nodiscard]] std::shared_ptr<std::uint8_t> take_bytes(std::uint64_t bytes);
  /// Calls work(block number, buffer) for all blocks, on several threads.
  void for_each_block(int threads, const std::function<void(std::uint64_t, Symbols&)>& work);

  std::uint64_t block_symbols_;
  std::string name_;
  HostMemoryBudget memory_;
  bool has_budget_ = false;
  std::deque<Block> blocks_;
  std::uint64_t size_ = 0;
  Symbols rest_;  ///< less than a block, not packed yet

  std::mutex mutex_;  ///< of what follows
  SymbolCounts counts_{};
  std::shared_ptr<HostArray<std::uint8_t>> chunk_;
  std::uint64_t chunk_left_ = 0;
  std::uint64_t chunk_bytes_ = 0;
};

}  // namespace sortie::sequences
