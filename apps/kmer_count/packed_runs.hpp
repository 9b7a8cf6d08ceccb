// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/sort/spill_file.hpp"
#include "core/host_memory.hpp"

/// Letters of sequences as runs of 2-bit codes. A run has no letter but A, C, G and T, and at least
/// k of them. It is a word with the number of letters, and words of 32 codes each, the first letter
/// at the lowest bits.
namespace sortie::kmers {

inline constexpr std::uint64_t letters_per_word = 32;

/// Appends the runs of symbols in upper case. \param symbols  overwritten
void pack_runs(std::span<std::uint8_t> symbols, int k, std::vector<std::uint64_t>& words);

/// Blocks of runs, in memory up to a limit, then in a temporary file. Their order is unspecified.
///
/// Those in memory lie one after the other in slabs of up to 16 MiB, which have large pages: an
/// allocation for each block takes a page fault for each 4 KiB, and the system as long to free it.
class RunBlocks {
 public:
  /// \param folder  of the temporary file
  /// \param most_resident  bytes that may be in memory
  /// \param k              of the k-mers that are counted
  RunBlocks(std::string folder, std::uint64_t most_resident, int k)
      : folder_(std::move(folder)), most_resident_(most_resident), k_(k) {}

  /// Several threads may call it at the same time. \throws Error (output)
  void add(std::span<const std::uint64_t> words);
  /// Drops all blocks but the first ones.
  void keep(std::size_t blocks);

  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] std::uint64_t words_of(std::size_t block) const { return blocks_[block].size; }
  /// The words of a block. \param buffer  for those of the file \throws Error (input)
  [[nodiscard]] std::span<const std::uint64_t> load(std::size_t block,
                                                    std::vector<std::uint64_t>& buffer) const;
  /// K-mers of all blocks.
  [[nodiscard]] std::uint64_t kmers() const { return kmers_; }
  [[nodiscard]] std::uint64_t resident_bytes() const { return resident_; }
  [[nodiscard]] std::uint64_t spilled_bytes() const { return spilled_; }
  /// Bytes of the largest block of the file.
  [[nodiscard]] std::uint64_t buffer_bytes() const { return largest_spilled_; }

 private:
  struct Slab {
    HostArray<std::uint64_t> words;
    std::size_t size = 0;
    std::size_t used = 0;
  };
  struct Block {
    std::uint64_t* words = nullptr;  ///< in a slab; null: in the file
    std::uint64_t size = 0;
    std::uint64_t begin = 0;  ///< byte of the file
    std::uint64_t kmers = 0;
  };

  std::string folder_;
  std::uint64_t most_resident_;
  int k_;
  [[nodiscard]] std::uint64_t* take_memory(std::size_t words);

  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::vector<Slab> slabs_;
  std::uint64_t kmers_ = 0;
  std::uint64_t resident_ = 0;
  std::uint64_t spilled_ = 0;
  std::uint64_t largest_spilled_ = 0;
  std::optional<sorting::SpillFile> file_;
};

}  // namespace sortie::kmers
