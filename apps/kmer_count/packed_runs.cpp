// SPDX-License-Identifier: Apache-2.0
#include "apps/kmer_count/packed_runs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sortie::kmers {
namespace {

constexpr std::uint8_t no_code = 4;
constexpr std::uint64_t no_codes = 0x0404040404040404;

/// 16 bytes, which every processor has registers for.
using Bytes __attribute__((vector_size(16))) = std::uint8_t;

Bytes codes_of(Bytes c) {
  const auto is_base = reinterpret_cast<Bytes>((c == 'A') | (c == 'C') | (c == 'G') | (c == 'T'));
  const Bytes code = ((c >> 1) ^ ((c >> 2) & 1)) & 3;
  return (code & is_base) | (no_code & ~is_base);
}

/// Replaces symbols by codes, A 0, C 1, G 2, T 3, others no_code. By explicit vectors: GCC makes a
/// loop over bytes one of bit tests.
void encode(std::span<std::uint8_t> symbols) {
  std::uint8_t* at = symbols.data();
  std::size_t left = symbols.size();
  Bytes codes{};
  for (; left >= sizeof(codes); left -= sizeof(codes), at += sizeof(codes)) {
    std::memcpy(&codes, at, sizeof(codes));
    codes = codes_of(codes);
    std::memcpy(at, &codes, sizeof(codes));
  }
  if (left == 0) return;
  std::memcpy(&codes, at, left);
  codes = codes_of(codes);
  std::memcpy(at, &codes, left);
}

/// Eight codes of a byte each in 16 bits.
std::uint64_t packed(std::uint64_t codes) {
  codes = (codes | codes >> 6) & 0x000f000f000f000f;
  codes = (codes | codes >> 12) & 0x000000ff000000ff;
  return (codes | codes >> 24) & 0xffff;
}

std::uint64_t eight_at(const std::uint8_t* codes) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, codes, sizeof(word));
  } else {
    for (int i = 7; i >= 0; --i) word = word << 8 | codes[i];
  }
  return word;
}

/// Appends the words of the letters from `at` on, up to the first that is none or to `end`.
/// \return these letters
std::uint64_t append_words(const std::uint8_t* at, const std::uint8_t* end,
                           std::vector<std::uint64_t>& words) {
  constexpr std::size_t step = sizeof(std::uint64_t);
  std::uint64_t length = 0;
  // Whole words: four steps, and one test for all.
  while (static_cast<std::size_t>(end - at) >= letters_per_word) {
    const std::uint64_t codes[] = {eight_at(at), eight_at(at + step), eight_at(at + 2 * step),
                                   eight_at(at + 3 * step)};
    if (((codes[0] | codes[1] | codes[2] | codes[3]) & no_codes) != 0) break;
    words.push_back(packed(codes[0]) | packed(codes[1]) << 16 | packed(codes[2]) << 32 |
                    packed(codes[3]) << 48);
    length += letters_per_word;
    at += letters_per_word;
  }
  // Less than a word.
  std::uint64_t word = 0;
  std::size_t filled = 0;
  while (at != end) {
    std::uint64_t codes = no_codes;
    std::size_t count = std::min<std::size_t>(step, static_cast<std::size_t>(end - at));
    if (count == step) {
      codes = eight_at(at);
    } else {
      std::uint8_t last[step];
      std::fill_n(last, step, no_code);
      std::copy_n(at, count, last);
      codes = eight_at(last);
    }
    const std::uint64_t others = codes & no_codes;
    if (others != 0) {
      count = static_cast<std::size_t>(std::countr_zero(others)) / 8;
      codes &= (std::uint64_t{1} << (8 * count)) - 1;
    }
    // Before the last step, eight letters were added each time.
    if (count != 0) word |= packed(codes) << (2 * filled);
    filled += count;
    at += count;
    if (others != 0) break;
  }
  if (filled != 0) words.push_back(word);
  return length + filled;
}

/// \pre each run has a k-mer
std::uint64_t kmers_of(std::span<const std::uint64_t> words, int k) {
  std::uint64_t kmers = 0;
  for (std::size_t at = 0; at < words.size();) {
    const std::uint64_t letters = words[at];
    kmers += letters - static_cast<std::uint64_t>(k) + 1;
    at += 1 + (letters + letters_per_word - 1) / letters_per_word;
  }
  return kmers;
}

}  // namespace

void pack_runs(std::span<std::uint8_t> symbols, int k, std::vector<std::uint64_t>& words) {
  encode(symbols);
  const std::uint8_t* at = symbols.data();
  const std::uint8_t* const end = at + symbols.size();
  while (at != end) {
    while (at != end && *at == no_code) ++at;
    const std::size_t head = words.size();
    words.push_back(0);
    const std::uint64_t length = append_words(at, end, words);
    at += length;
    if (length < static_cast<std::uint64_t>(k)) {
      words.resize(head);
    } else {
      words[head] = length;
    }
  }
}

/// Memory for a block. \pre the mutex is held
std::uint64_t* RunBlocks::take_memory(std::size_t words) {
  constexpr std::uint64_t most_slab_bytes = std::uint64_t{16} << 20;
  constexpr std::uint64_t least_slab_bytes = std::uint64_t{64} << 10;
  if (slabs_.empty() || slabs_.back().size - slabs_.back().used < words) {
    const std::uint64_t bytes = std::clamp(most_resident_ / 16, least_slab_bytes, most_slab_bytes);
    const std::size_t size = std::max<std::size_t>(words, bytes / sizeof(std::uint64_t));
    slabs_.push_back({allocate_array<std::uint64_t>(size), size, 0});
  }
  Slab& slab = slabs_.back();
  std::uint64_t* const memory = slab.words.get() + slab.used;
  slab.used += words;
  return memory;
}

void RunBlocks::add(std::span<const std::uint64_t> words) {
  if (words.empty()) return;
  Block block;
  block.size = words.size();
  // Here they are in the cache of the thread that has packed them.
  block.kmers = kmers_of(words, k_);
  const std::uint64_t bytes = words.size_bytes();
  std::unique_lock lock(mutex_);
  kmers_ += block.kmers;
  if (resident_ + bytes <= most_resident_) {
    resident_ += bytes;
    block.words = take_memory(words.size());
    lock.unlock();
    std::ranges::copy(words, block.words);
    lock.lock();
  } else {
    if (!file_) file_.emplace(folder_);
    block.begin = spilled_;
    spilled_ += bytes;
    largest_spilled_ = std::max(largest_spilled_, bytes);
    lock.unlock();
    file_->write(block.begin, {reinterpret_cast<const char*>(words.data()), bytes});
    lock.lock();
  }
  blocks_.push_back(std::move(block));
}

void RunBlocks::keep(std::size_t blocks) {
  while (blocks_.size() > blocks) {
    if (blocks_.back().words != nullptr) resident_ -= blocks_.back().size * sizeof(std::uint64_t);
    kmers_ -= blocks_.back().kmers;
    blocks_.pop_back();
  }
  // Blocks that are kept may lie in any slab.
  if (blocks == 0) slabs_.clear();
}

std::span<const std::uint64_t> RunBlocks::load(std::size_t block,
                                               std::vector<std::uint64_t>& buffer) const {
  const Block& found = blocks_[block];
  if (found.words != nullptr) return {found.words, found.size};
  buffer.resize(found.size);
  file_->read(found.begin,
              {reinterpret_cast<char*>(buffer.data()), found.size * sizeof(buffer[0])});
  return buffer;
}

}  // namespace sortie::kmers
