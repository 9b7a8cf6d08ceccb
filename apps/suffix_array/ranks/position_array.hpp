// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "apps/suffix_array/ranks/exchanges.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::on_ranks {

/// An array with a number for each position of a text, of which each rank holds an equal share. All
/// member functions but the getters are collective.
///
/// Extra memory of store() and fetch(): 8 numbers for each eighth position of a share, since they
/// work in batches.
template <Position Pos>
class PositionArray {
 public:
  /// \param first  initial value
  PositionArray(Exchanges& exchanges, const Context& context, std::uint64_t size, Pos first)
      : exchanges_(exchanges),
        context_(context),
        shares_{size, static_cast<std::uint64_t>(exchanges.ranks().size())},
        batch_(std::max<std::uint64_t>(least_batch, size / shares_.count / 8)) {
    exchanges.ranks().together("position array", [&] {
      values_ = allocate_array<Pos>(context, "array of positions", own_size());
      std::fill_n(values_.get(), own_size(), first);
    });
  }

  [[nodiscard]] std::uint64_t own_begin() const { return shares_.begin(rank()); }
  [[nodiscard]] std::uint64_t own_size() const { return shares_.size(rank()); }
  /// Values of this rank's positions.
  [[nodiscard]] std::span<Pos> own() { return {values_.get(), own_size()}; }

  /// Sets the values of positions. \pre positions[i] < size. No other rank sets one of them.
  void store(std::span<const Pos> positions, std::span<const Pos> values) {
    for_each_batch(positions.size(), [&](std::uint64_t begin, std::uint64_t count) {
      Routes routes;
      HostArray<Entry> entries;
      exchanges_.ranks().together("store", [&] {
        routes = routes_of(positions.subspan(begin, count));
        entries = allocate_array<Entry>(context_, "positions to store", count);
        std::vector<std::uint64_t> next = routes.begins;
        for (std::uint64_t i = begin; i < begin + count; ++i)
          entries[next[owner(positions[i])]++] = {positions[i], values[i]};
      });
      const auto received =
          exchanges_.send(context_, "receive stored", entries.get(), routes.counts);
      const std::uint64_t first = own_begin();
      for (std::uint64_t i = 0; i < received.size(); ++i)
        values_[received.items[i].position - first] = received.items[i].value;
    });
  }

  /// Copies the values of positions of all ranks. \pre positions[i] < size
  /// \param values  one for each position; may be the same memory
  void fetch(std::span<const Pos> positions, Pos* values) {
    for_each_batch(positions.size(), [&](std::uint64_t begin, std::uint64_t count) {
      Routes routes;
      std::vector<std::uint64_t> next;
      HostArray<Pos> asked;
      exchanges_.ranks().together("fetch", [&] {
        routes = routes_of(positions.subspan(begin, count));
        asked = allocate_array<Pos>(context_, "positions to fetch", count);
        next = routes.begins;
        for (std::uint64_t i = begin; i < begin + count; ++i)
          asked[next[owner(positions[i])]++] = positions[i];
        next = routes.begins;
      });
      const auto questions =
          exchanges_.send(context_, "receive positions", asked.get(), routes.counts);
      const std::uint64_t first = own_begin();
      for (std::uint64_t i = 0; i < questions.size(); ++i)
        questions.items[i] = values_[questions.items[i] - first];
      // The answers return in the order of the questions, to the same memory.
      exchanges_.answer(questions, asked.get(), routes.counts);
      for (std::uint64_t i = begin; i < begin + count; ++i)
        values[i] = asked[next[owner(positions[i])]++];
    });
  }

 private:
  struct Entry {
    Pos position;
    Pos value;
  };
  /// Items for each rank.
  struct Routes {
    std::vector<std::uint64_t> counts;
    std::vector<std::uint64_t> begins;
  };

  static constexpr std::uint64_t least_batch = std::uint64_t{1} << 16;

  [[nodiscard]] std::uint64_t rank() const {
    return static_cast<std::uint64_t>(exchanges_.ranks().rank());
  }
  [[nodiscard]] std::uint64_t owner(std::uint64_t position) const {
    // The smallest share is not empty if there is a position for each rank.
    const std::uint64_t length = std::max<std::uint64_t>(shares_.items / shares_.count, 1);
    std::uint64_t rank = std::min(position / length, shares_.count - 1);
    while (shares_.begin(rank) > position) --rank;
    while (shares_.begin(rank + 1) <= position) ++rank;
    return rank;
  }
  [[nodiscard]] Routes routes_of(std::span<const Pos> positions) const {
    Routes routes{std::vector<std::uint64_t>(shares_.count), {}};
    for (const Pos position : positions) ++routes.counts[owner(position)];
    routes.begins = begins_of(routes.counts);
    return routes;
  }
  /// Calls work(begin, count) for batches, as often on every rank.
  template <class Work>
  void for_each_batch(std::uint64_t size, const Work& work) {
    const std::uint64_t batches = exchanges_.ranks().greatest((size + batch_ - 1) / batch_);
    for (std::uint64_t i = 0; i < batches; ++i) {
      const std::uint64_t begin = std::min(i * batch_, size);
      work(begin, std::min(batch_, size - begin));
    }
  }

  Exchanges& exchanges_;
  const Context& context_;
  EqualShares shares_;
  std::uint64_t batch_;
  HostArray<Pos> values_;
};

}  // namespace sortie::suffix_array::on_ranks
