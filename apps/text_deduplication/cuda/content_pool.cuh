// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "apps/text_deduplication/cuda/groups.cuh"
#include "apps/text_deduplication/cuda/items.cuh"

/// The bytes of anchors' windows of a text that is not in memory as a whole, equal ones once.
///
/// A text comes in chunks. The anchors of a chunk are looked up in a hash table, in three steps, so
/// that nothing waits: ClaimSlots finds or takes a slot, for the place in the chunk; StoreContents
/// copies the bytes of new ones to the pool, and the slot gets the record; CountContents adds the
/// anchors to their records. All but the first occurrence of equal bytes are duplicates, whose
/// windows are marked at once, whatever the other records are.
namespace sortie::texts::cuda {

/// Anchors whose windows have the same bytes. Followed by these bytes, in whole units.
struct alignas(16) ContentRecord {
  std::uint64_t key;          ///< of the first anchor that was found
  unsigned long long first;   ///< least offset of their k-grams in the text
  unsigned long long copies;  ///< number of anchors, with their repeats
  std::uint16_t least;
  std::uint16_t most;
  std::uint32_t size;  ///< bytes that follow
};

/// Whether hashes were added before, for most hashes: two bits for each of a power of two of slots.
struct HashCountsView {
  std::uint32_t* words;
  std::uint64_t mask;  ///< number of words - 1

  /// Returns how often a hash of this slot was added before: 0, 1, or 2 for more.
  __device__ int add(std::uint64_t hash) const {
    std::uint32_t& word = words[hash >> 4 & mask];
    const std::uint32_t once = 1U << hash % 16 * 2;
    if ((word & once << 1) != 0) return 2;
    if ((atomicOr(&word, once) & once) == 0) return 0;
    return (atomicOr(&word, once << 1) & once << 1) == 0 ? 1 : 2;
  }
  [[nodiscard]] __device__ bool occurs_twice(std::uint64_t hash) const {
    return (words[hash >> 4 & mask] >> hash % 16 * 2 & 2U) != 0;
  }
};

/// Parts of all hashes, by their leading bits. A pass takes consecutive ones.
inline constexpr int bin_bits = 12;
inline constexpr std::uint64_t hash_bins = std::uint64_t{1} << bin_bits;

/// What records of a bin take.
struct BinNeed {
  unsigned long long records;
  unsigned long long bytes;
};

/// The anchors of a chunk.
struct ChunkAnchors {
  const std::uint8_t* text;
  std::uint64_t offset;  ///< of the chunk in the text
  std::uint32_t window;
  ItemsView items;

  [[nodiscard]] static __device__ std::uint64_t hash(std::uint64_t key) {
    return key >> hash_begin_bit;
  }
  [[nodiscard]] static __device__ std::uint64_t bin(std::uint64_t key) {
    return key >> (64 - bin_bits);
  }
  /// The bytes of the windows of an anchor, those of its repeats not included.
  [[nodiscard]] __device__ const std::uint8_t* content(const Anchor& anchor) const {
    return text + anchor.position - anchor.most;
  }
  [[nodiscard]] __device__ std::uint32_t content_bytes(const Anchor& anchor) const {
    return anchor.most - anchor.least + window;
  }
  [[nodiscard]] static __host__ __device__ std::uint64_t record_bytes(std::uint32_t content) {
    return (sizeof(ContentRecord) + content + 15) / 16 * 16;
  }
  /// A hash of these bytes and of the place of the k-gram in them.
  [[nodiscard]] __device__ std::uint64_t content_hash(const Anchor& anchor) const {
    const std::uint32_t size = content_bytes(anchor);
    WordsAfter words(content(anchor));
    std::uint64_t hash = anchor.least;
    for (std::uint32_t i = 0; i < size; i += 8) {
      std::uint64_t word = words.next();
      if (size - i < 8) word &= (std::uint64_t{1} << (size - i) * 8) - 1;
      hash = (hash ^ word) * 0xd1342543de82ef95ULL;
      hash ^= hash >> 32;
    }
    return mixed(hash);
  }
};

/// The first reading: counts hashes, and what the anchors of hashes that occur twice take.
struct CountAnchors {
  ChunkAnchors chunk;
  HashCountsView hashes;
  HashCountsView contents;
  BinNeed* needs;

  __device__ void operator()(std::uint32_t i) const {
    const std::uint64_t key = chunk.items.keys[i];
    const Anchor anchor = chunk.items.anchor(i);
    const int before = hashes.add(ChunkAnchors::hash(key));
    if (anchor.repeats > 1) hashes.add(ChunkAnchors::hash(key));
    const bool is_new = contents.add(chunk.content_hash(anchor)) == 0;
    if (before == 0 && anchor.repeats == 1) return;
    // With the second one, the first one is needed, whose windows are about as long.
    const unsigned long long records = (is_new ? 1 : 0) + (before == 1 ? 1 : 0);
    if (records == 0) return;
    BinNeed& need = needs[ChunkAnchors::bin(key)];
    atomicAdd(&need.records, records);
    atomicAdd(&need.bytes, records * ChunkAnchors::record_bytes(chunk.content_bytes(anchor)));
  }
};

/// Records in device memory, and the table that finds them. A slot is 0, or has 16 bits of the hash
/// below one bit, and a number above: of an anchor of the chunk, if the bit is set, or the record's
/// place.
struct ContentPool {
  std::uint8_t* bytes;
  std::uint64_t capacity;
  unsigned long long* slots;
  std::uint64_t mask;        ///< number of slots - 1
  unsigned long long* used;  ///< bytes
  std::uint64_t* records;    ///< places, in units of 16 bytes
  std::uint32_t most_records;
  std::uint32_t* record_count;  ///< may exceed most_records
  std::uint32_t* is_full;       ///< set if anything exceeds its memory

  static constexpr int tag_bits = 16;
  static constexpr unsigned long long pending_bit = 1ULL << tag_bits;
  static constexpr int number_bit = tag_bits + 1;

  [[nodiscard]] __device__ ContentRecord& record(std::uint64_t place) const {
    return *reinterpret_cast<ContentRecord*>(bytes + place * 16);
  }
};

/// The slots of a chunk's anchors in the bins [first_bin, end_bin); no_slot for others.
struct ClaimSlots {
  ChunkAnchors chunk;
  HashCountsView hashes;
  ContentPool pool;
  std::uint64_t first_bin;
  std::uint64_t end_bin;
  std::uint64_t* slots;

  static constexpr std::uint64_t no_slot = ~std::uint64_t{0};

  __device__ void operator()(std::uint32_t i) const { slots[i] = slot_of(i); }

 private:
  [[nodiscard]] __device__ std::uint64_t slot_of(std::uint32_t i) const {
    const std::uint64_t key = chunk.items.keys[i];
    const std::uint64_t bin = ChunkAnchors::bin(key);
    if (bin < first_bin || bin >= end_bin || !hashes.occurs_twice(ChunkAnchors::hash(key)))
      return no_slot;
    const Anchor anchor = chunk.items.anchor(i);
    const std::uint64_t hash = chunk.content_hash(anchor);
    const unsigned long long tag = hash >> (64 - ContentPool::tag_bits);
    const unsigned long long own = static_cast<unsigned long long>(i) << ContentPool::number_bit |
                                   ContentPool::pending_bit | tag;
    for (std::uint64_t probe = 0; probe <= pool.mask; ++probe) {
      const std::uint64_t slot = (hash + probe) & pool.mask;
      unsigned long long found = pool.slots[slot];
      if (found == 0) found = atomicCAS(&pool.slots[slot], 0ULL, own);
      if (found == 0 || (has_tag(found, tag) && is_equal(found, anchor))) return slot;
    }
    *pool.is_full = 1;
    return no_slot;
  }
  [[nodiscard]] __device__ static bool has_tag(unsigned long long slot, unsigned long long tag) {
    return (slot & (ContentPool::pending_bit - 1)) == tag;
  }
  [[nodiscard]] __device__ bool is_equal(unsigned long long slot, const Anchor& anchor) const {
    const std::uint64_t number = slot >> ContentPool::number_bit;
    const std::uint32_t size = chunk.content_bytes(anchor);
    const std::uint8_t* bytes = nullptr;
    if ((slot & ContentPool::pending_bit) != 0) {
      const Anchor other = chunk.items.anchor(static_cast<std::uint32_t>(number));
      if (other.least != anchor.least || other.most != anchor.most) return false;
      bytes = chunk.content(other);
    } else {
      const ContentRecord& record = pool.record(number);
      if (record.least != anchor.least || record.most != anchor.most) return false;
      bytes = reinterpret_cast<const std::uint8_t*>(&record + 1);
    }
    return common_after(bytes, chunk.content(anchor), size) == size;
  }
};

/// Copies the bytes of anchors that took a slot.
struct StoreContents {
  ChunkAnchors chunk;
  ContentPool pool;
  const std::uint64_t* slots;

  __device__ void operator()(std::uint32_t i) const {
    if (slots[i] == ClaimSlots::no_slot) return;
    unsigned long long& slot = pool.slots[slots[i]];
    const unsigned long long found = slot;
    if ((found & ContentPool::pending_bit) == 0 || found >> ContentPool::number_bit != i) return;
    const Anchor anchor = chunk.items.anchor(i);
    const std::uint32_t size = chunk.content_bytes(anchor);
    const unsigned long long bytes = ChunkAnchors::record_bytes(size);
    const unsigned long long begin = atomicAdd(pool.used, bytes);
    const std::uint32_t number = atomicAdd(pool.record_count, 1U);
    if (begin + bytes > pool.capacity || number >= pool.most_records) {
      *pool.is_full = 1;
      return;
    }
    ContentRecord& record = pool.record(begin / 16);
    record = {chunk.items.keys[i],
              ~0ULL,
              0,
              static_cast<std::uint16_t>(anchor.least),
              static_cast<std::uint16_t>(anchor.most),
              size};
    auto* const to = reinterpret_cast<std::uint64_t*>(&record + 1);
    WordsAfter words(chunk.content(anchor));
    for (std::uint32_t j = 0; j * 8 < size; ++j) to[j] = words.next();
    pool.records[number] = begin / 16;
    slot = begin / 16 << ContentPool::number_bit | (found & (ContentPool::pending_bit - 1));
  }
};

/// Adds anchors to their records, and marks those that are not the first one.
struct CountContents {
  ChunkAnchors chunk;
  ContentPool pool;
  const std::uint64_t* slots;
  std::uint32_t* removed;

  __device__ void operator()(std::uint32_t i) const {
    if (slots[i] == ClaimSlots::no_slot) return;
    const unsigned long long slot = pool.slots[slots[i]];
    if ((slot & ContentPool::pending_bit) != 0) return;  // there was no memory
    Anchor anchor = chunk.items.anchor(i);
    anchor.position += chunk.offset;
    set_bits(removed, anchor, anchor.least, anchor.most, 1);
    ContentRecord& record = pool.record(slot >> ContentPool::number_bit);
    atomicAdd(&record.copies, static_cast<unsigned long long>(anchor.repeats));
    const unsigned long long position = anchor.position;
    const unsigned long long before = atomicMin(&record.first, position);
    if (before == ~0ULL) return;
    const std::uint64_t later = before < position ? position : before;
    set_bits(removed, later - anchor.most, later - anchor.least);
  }
};

/// Items of records: their positions are places in the pool. The repeats of a key are 2 if there are
/// several copies, which makes the item one that may match.
struct RecordSource {
  const std::uint8_t* pool;

  [[nodiscard]] __device__ const ContentRecord& record(const Anchor& item) const {
    return *reinterpret_cast<const ContentRecord*>(pool + item.position * 16);
  }
  [[nodiscard]] __device__ const std::uint8_t* bytes(const Anchor& item) const {
    const ContentRecord& of_item = record(item);
    return reinterpret_cast<const std::uint8_t*>(&of_item + 1) + of_item.most;
  }
  /// The item at its first offset in the text. The others are marked already.
  [[nodiscard]] __device__ Anchor in_text(const Anchor& item) const {
    return {record(item).first, item.least, item.most, item.period, 1};
  }
  [[nodiscard]] __device__ std::uint64_t copies(const Anchor& item) const {
    return record(item).copies;
  }
};

/// The offset of a record's first anchor.
struct FirstOfRecord {
  const std::uint8_t* pool;
  const std::uint64_t* records;
  std::uint64_t* first;

  __device__ void operator()(std::uint32_t i) const {
    first[i] = reinterpret_cast<const ContentRecord*>(pool + records[i] * 16)->first;
  }
};

/// The item of a record.
struct ItemOfRecord {
  const std::uint8_t* pool;
  const std::uint64_t* records;
  std::uint64_t* keys;
  std::uint64_t* values;

  __device__ void operator()(std::uint32_t i) const {
    const auto& record = *reinterpret_cast<const ContentRecord*>(pool + records[i] * 16);
    keys[i] = key_of(record.key, 1, record.copies > 1 ? 2 : 1);
    values[i] = value_of(records[i], record.least, record.most);
  }
};

}  // namespace sortie::texts::cuda
