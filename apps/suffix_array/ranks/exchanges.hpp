// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cluster/traffic_plan.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/cluster.hpp"
#include "sortie/context.hpp"

namespace sortie::suffix_array::on_ranks {

/// Items received from all ranks, by rank.
template <class T>
struct Received {
  HostArray<T> items;
  std::vector<std::uint64_t> begins;  ///< of each rank's items, and the end of all

  [[nodiscard]] std::uint64_t size() const { return begins.back(); }
};

/// Exchanges of one job, and the plan of the bytes that they send, from the counts before each.
class Exchanges {
 public:
  explicit Exchanges(cluster::Ranks& ranks) : ranks_(ranks), plan_(ranks) {}

  [[nodiscard]] cluster::Ranks& ranks() const { return ranks_; }
  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(ranks_.rank()); }
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(ranks_.size()); }
  [[nodiscard]] const cluster::TrafficPlan& plan() const { return plan_; }

  /// Plans bytes that are sent by other means, which count them.
  void add(std::uint64_t bytes) { plan_.add(bytes, 1); }

  /// Sends each rank the next counts[rank] items. Collective.
  /// \param from   items that each rank sends, if this is known; else null
  /// \param phase  of the memory for the items received
  template <class T>
  [[nodiscard]] Received<T> send(const Context& context, std::string_view phase, const T* items,
                                 std::span<const std::uint64_t> counts,
                                 const std::vector<std::uint64_t>* from = nullptr) {
    Received<T> result;
    result.begins = begins_of(from != nullptr ? *from : exchange_counts(counts));
    ranks_.together(phase, [&] {
      result.items = allocate_array<T>(context, "items of other ranks", result.size());
    });
    std::vector<std::uint64_t> received(counts.size());
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
      received[rank] = result.begins[rank + 1] - result.begins[rank];
    exchange(items, counts, result.items.get(), received);
    return result;
  }

  /// Gathers the items of all ranks, by rank. Collective.
  template <class T>
  [[nodiscard]] std::vector<T> gather(std::span<const T> items) {
    plan_.add_gathering(items.size(), sizeof(T));
    return ranks_.gather_arrays(items);
  }

  /// Sends this rank's part of an array to all others, and receives theirs in place. Collective.
  /// \param begins  of each rank's part, and the end of all
  template <class T>
  void share_parts(std::span<T> all, std::span<const std::uint64_t> begins) {
    const auto part = [&](int rank) {
      const auto number = static_cast<std::size_t>(rank);
      return all.subspan(begins[number], begins[number + 1] - begins[number]);
    };
    const std::span<const T> own = part(ranks_.rank());
    std::vector<cluster::SendPiece> sent;
    std::vector<cluster::ReceivePiece> received;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      if (rank == ranks_.rank()) continue;
      if (!own.empty()) sent.push_back({rank, std::as_bytes(own)});
      if (!part(rank).empty()) received.push_back({rank, std::as_writable_bytes(part(rank))});
      plan_.add(own.size(), sizeof(T));
    }
    ranks_.exchange(sent, received);
  }

  /// Sends items back to the ranks that they came from. Collective.
  /// \param to      memory for the items of this rank's send() that has asked for these
  /// \param counts  of that send()
  template <class T>
  void answer(const Received<T>& items, T* to, std::span<const std::uint64_t> counts) {
    std::vector<std::uint64_t> sent(counts.size());
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
      sent[rank] = items.begins[rank + 1] - items.begins[rank];
    exchange(static_cast<const T*>(items.items.get()), sent, to, counts);
  }

 private:
  template <class T>
  void exchange(const T* from, std::span<const std::uint64_t> from_counts, T* to,
                std::span<const std::uint64_t> to_counts) {
    std::vector<cluster::SendPiece> sent;
    std::vector<cluster::ReceivePiece> received;
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const std::uint64_t out = from_counts[static_cast<std::size_t>(rank)];
      const std::uint64_t in = to_counts[static_cast<std::size_t>(rank)];
      if (out > 0) sent.push_back({rank, std::as_bytes(std::span(from, out))});
      if (in > 0) received.push_back({rank, std::as_writable_bytes(std::span(to, in))});
      if (rank != ranks_.rank()) plan_.add(out, sizeof(T));
      from += out;
      to += in;
    }
    ranks_.exchange(sent, received);
  }

  std::vector<std::uint64_t> exchange_counts(std::span<const std::uint64_t> counts) {
    plan_.add_counts();
    return ranks_.exchange_counts(counts);
  }

  cluster::Ranks& ranks_;
  cluster::TrafficPlan plan_;
};

}  // namespace sortie::suffix_array::on_ranks
