// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/genome_index/page_stream.hpp"
#include "apps/genome_index/write_way.hpp"
#include "core/background_task.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"

namespace sortie::genomes {

/// Writes batches of bytes to index files on a thread of its own, while the caller fills the next
/// batch:
///
///     caller   fill batch 0 | fill batch 1  | wait | fill batch 2  | ...
///     thread                | write batch 0        | write batch 1 | ...
///
/// The kernel admits one writer to a file at a time, and several that wait for each other are slower
/// than one. A batch has bytes for each of some streams, which are consecutive in their files.
/// Memory: two batches.
class BatchWriter {
 public:
  /// Smaller files stay in the page cache, from which the aligner reads them.
  static constexpr std::uint64_t usual_least_direct = std::uint64_t{64} << 20;

  /// \param least_direct  bytes of the smallest file that may be written past the page cache
  /// \param context       whose report has the phase "files", in which the caller waits
  explicit BatchWriter(std::uint64_t least_direct = usual_least_direct,
                       const HostContext& context = {})
      : least_direct_(least_direct), context_(context) {}
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  /// Adds a stream. \param offset  of its first byte. All its bytes, and all others of the file that
  ///                               are known before, are reserved
  void add(IndexFile& file, std::uint64_t offset) {
    streams_.emplace_back(file, offset);
    if (file.size() < least_direct_) return;
    file.open_direct();
    may_be_direct_ = true;
  }

  /// Begins a batch. \param bytes  of each stream
  /// \return where they belong, not initialised \throws std::bad_alloc
  [[nodiscard]] std::vector<char*> start(std::vector<std::uint64_t> bytes) {
    std::uint64_t all = PageStream::page;
    for (const std::uint64_t of_stream : bytes) all += PageStream::memory(of_stream);
    Batch& batch = batches_[number_ % 2];
    if (batch.size < all) {
      batch.memory.reset();
      batch.memory = allocate_array<char>(all);
      batch.size = all;
    }
    void* first = batch.memory.get();
    std::size_t left = batch.size;
    auto* memory = static_cast<char*>(std::align(PageStream::page, 1, first, left));
    batch.begins.clear();
    std::vector<char*> targets;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      batch.begins.push_back(memory);
      targets.push_back(streams_[i].start(memory));
      memory += PageStream::memory(bytes[i]);
    }
    batch.bytes = std::move(bytes);
    return targets;
  }

  /// Waits for the batch before, and starts to write this one. \pre start(), and the bytes are there
  /// \throws Error (output) of the batch before
  void write() {
    wait();
    Batch& batch = batches_[number_++ % 2];
    std::vector<PageStream::Pages> parts;
    for (std::size_t i = 0; i < streams_.size(); ++i)
      for (const PageStream::Pages& pages : streams_[i].end(batch.begins[i], batch.bytes[i]))
        parts.push_back(pages);
    writing_.emplace([this, parts = std::move(parts)] {
      const auto begin = std::chrono::steady_clock::now();
      const bool direct = may_be_direct_ && way_.is_direct();
      std::uint64_t written = 0;
      for (const PageStream::Pages& pages : parts) {
        pages.write(direct);
        written += pages.bytes.size();
      }
      way_.add(direct, written, seconds_since(begin));
    });
  }

  /// Writes all that is left. Called once. \throws Error (output)
  void finish() {
    wait();
    for (PageStream& stream : streams_) stream.finish();
  }

 private:
  void wait() {
    if (!writing_) return;
    const PhaseTimer timer(context_, "files");
    BackgroundTask task = std::move(*writing_);
    writing_.reset();
    task.wait();
  }

  struct Batch {
    HostArray<char> memory;
    std::uint64_t size = 0;
    std::vector<char*> begins;         ///< of the streams, each at a page
    std::vector<std::uint64_t> bytes;  ///< of the streams
  };

  std::uint64_t least_direct_;
  HostContext context_;
  std::vector<PageStream> streams_;
  std::array<Batch, 2> batches_;
  std::uint64_t number_ = 0;
  bool may_be_direct_ = false;
  WriteWay way_;                           ///< of the thread
  std::optional<BackgroundTask> writing_;  ///< last: its end waits for the thread
};

}  // namespace sortie::genomes
