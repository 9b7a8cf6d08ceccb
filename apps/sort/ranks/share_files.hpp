// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/sort/order_check.hpp"
#include "apps/sort/record_blocks.hpp"
#include "core/files/block_pipeline.hpp"
#include "primitives/host/items.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/sort_file.hpp"

namespace sortie::sorting {

/// Reads ranges of a source into items, and writes items as records, on several threads.
template <class Key, class Value>
class ShareFiles {
 public:
  using Range = Items<Key, Value>;
  using Blocks = RecordBlocks<Key, Value>;
  static constexpr std::uint64_t record_bytes = Blocks::record_bytes;

  /// \param blocks  with a buffer for each of `workers` threads
  ShareFiles(RecordSource& source, const Blocks& blocks, std::uint64_t workers, KeyCodec<Key> codec,
             bool verify)
      : source_(source), blocks_(blocks), workers_(workers), codec_(codec), verify_(verify) {}

  /// Reads records from number `first` on. \pre `first` is not less than the end of the last range
  /// \throws Error (input)
  void read(std::uint64_t first, Range into, std::uint64_t n) {
    if (!source_.in_any_order()) skip_to(first, into, n);
    if (!has_values<Value> && source_.in_any_order()) {
      // The source reads large ranges on several threads.
      source_.read_at(first, bytes_of(into, n));
      add(fingerprint_, into, n);
      return;
    }
    std::vector<Fingerprint> fingerprints(workers_);
    BlockSteps steps;
    steps.take = [&](int worker, std::uint64_t block) {
      const std::uint64_t begin = begin_of(block);
      if (begin >= n) return false;
      if (!source_.in_any_order()) {
        take(blocks_.records(number(worker), into.from(begin), size_of(block, n)));
        next_ += size_of(block, n);
      }
      return true;
    };
    steps.work = [&](int worker, std::uint64_t block) {
      const Range part = into.from(begin_of(block));
      const std::uint64_t size = size_of(block, n);
      if (source_.in_any_order())
        source_.read_at(first + begin_of(block), blocks_.records(number(worker), part, size));
      blocks_.unpack(number(worker), part, size);
      add(fingerprints[number(worker)], part, size);
    };
    run_blocks(static_cast<int>(workers_), steps);
    for (const Fingerprint& fingerprint : fingerprints) fingerprint_ += fingerprint;
  }

  /// Gives the records of items, in blocks, to write(first item, bytes) on all threads.
  void write(Range items, std::uint64_t n,
             const std::function<void(std::uint64_t, std::span<const char>)>& write) const {
    BlockSteps steps;
    steps.take = [&](int, std::uint64_t block) { return begin_of(block) < n; };
    steps.work = [&](int worker, std::uint64_t block) {
      const std::uint64_t begin = begin_of(block);
      write(begin, blocks_.pack(number(worker), items.from(begin), size_of(block, n)));
    };
    run_blocks(static_cast<int>(workers_), steps);
  }

  /// Of all records that were read, if they are verified.
  [[nodiscard]] const Fingerprint& fingerprint() const { return fingerprint_; }

 private:
  static std::uint64_t number(int worker) { return static_cast<std::uint64_t>(worker); }
  [[nodiscard]] std::uint64_t begin_of(std::uint64_t block) const {
    return block * blocks_.block_items();
  }
  [[nodiscard]] std::uint64_t size_of(std::uint64_t block, std::uint64_t n) const {
    return std::min(blocks_.block_items(), n - begin_of(block));
  }
  static std::span<char> bytes_of(Range items, std::uint64_t n) {
    return {reinterpret_cast<char*>(items.keys), n * record_bytes};
  }

  /// Reads the next records of a sequential source.
  void take(std::span<char> into) {
    if (source_.read(into) * record_bytes == into.size()) return;
    throw Error(ErrorKind::input, "sort: found fewer records than the source has");
  }

  /// Reads the records before `first`, which other ranks have, through the memory of n items.
  void skip_to(std::uint64_t first, Range memory, std::uint64_t n) {
    while (next_ < first && n > 0) {
      const std::uint64_t size = std::min({first - next_, blocks_.block_items(), n});
      take(blocks_.records(0, memory, size));
      next_ += size;
    }
  }

  void add(Fingerprint& fingerprint, Range items, std::uint64_t n) const {
    if (!verify_) return;
    for_encoded(items, n, codec_,
                [&](Range part, std::uint64_t size) { fingerprint.add(part, size); });
  }

  RecordSource& source_;
  const Blocks& blocks_;
  std::uint64_t workers_;
  KeyCodec<Key> codec_;
  bool verify_;
  std::uint64_t next_ = 0;  ///< record that read() of the source returns next
  Fingerprint fingerprint_;
};

}  // namespace sortie::sorting
