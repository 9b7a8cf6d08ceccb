// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sortie/cluster.hpp"

namespace sortie::cluster {

/// Offsets of the parts of an array that belong to each rank: ranks + 1 numbers, the first 0, as of
/// begins_of().
using PartOffsets = std::vector<std::uint64_t>;

/// One exchange of several arrays, of which each rank sends a part to each. The arrays are received
/// in the order in which they are sent.
class ArrayExchange {
 public:
  enum class Own {
    copied,   ///< the part for this rank itself, too
    left_out  ///< the caller copies it
  };

  explicit ArrayExchange(Ranks& ranks, Own own = Own::copied) : ranks_(ranks), own_(own) {}

  /// \param offsets  of the parts for each rank
  template <class T>
  void send(std::span<const T> items, const PartOffsets& offsets) {
    for_each_part(offsets, [&](int rank, std::uint64_t begin, std::uint64_t count) {
      sent_.push_back({rank, std::as_bytes(items.subspan(begin, count))});
    });
  }
  /// \param offsets  of the parts of each rank
  template <class T>
  void receive(std::span<T> items, const PartOffsets& offsets) {
    for_each_part(offsets, [&](int rank, std::uint64_t begin, std::uint64_t count) {
      received_.push_back({rank, std::as_writable_bytes(items.subspan(begin, count))});
    });
  }
  /// Collective.
  void run() { ranks_.exchange(sent_, received_); }

 private:
  template <class Take>
  void for_each_part(const PartOffsets& offsets, const Take& take) {
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      if (own_ == Own::left_out && rank == ranks_.rank()) continue;
      const auto at = static_cast<std::size_t>(rank);
      take(rank, offsets[at], offsets[at + 1] - offsets[at]);
    }
  }

  Ranks& ranks_;
  Own own_;
  std::vector<SendPiece> sent_;
  std::vector<ReceivePiece> received_;
};

/// Collective: the text of rank 0. \param text  on rank 0; not used on other ranks
[[nodiscard]] inline std::string broadcast_text(Ranks& ranks, std::string text) {
  std::uint64_t length = text.size();
  ranks.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  text.resize(length);
  ranks.broadcast(std::as_writable_bytes(std::span(text)), 0);
  return text;
}

}  // namespace sortie::cluster
