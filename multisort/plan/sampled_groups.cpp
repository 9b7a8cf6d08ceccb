// SPDX-License-Identifier: Apache-2.0
#include "multisort/plan/sampled_groups.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <iterator>
#include <numeric>
#include <queue>
#include <utility>

#include "primitives/host/parallel.hpp"

namespace sortie::multisort::plan {

namespace {

/// Least number of cells of a root that maps most keys to groups; it has less than twice as many.
/// There are more cells than groups, so groups of whole cells have about equal sizes.
constexpr std::uint64_t root_cells = 1024;
/// The same for a root that does not: the lower tables need the entries.
constexpr std::uint64_t short_root_cells = 128;
/// The same for tables below the root.
constexpr std::uint64_t cells_of_group = 2;
constexpr std::uint64_t smallest_table = 4;
constexpr std::uint64_t largest_table = 1024;
/// Groups to each side of a border that are small: half of the padding, or a quarter of a percent
/// of a share. By 2^16 sampled keys a device, the place of a border in the array is known to 0.3 %
/// of a share for two devices and 0.8 % for sixteen (the standard deviation of a rank is half the
/// root of the sample, in parts of the sample).
constexpr std::uint64_t groups_beside_border = 8;

int bits_of(std::uint64_t number) {
  return static_cast<int>(std::bit_width(number));
}

/// A cell of a table.
struct Cell {
  KeyRange keys;
  std::size_t first = 0;  ///< of the sample
  std::size_t end = 0;
  std::size_t table = 0;  ///< that divides the cell; 0: none, for that is the root
  std::size_t group = 0;
  bool is_empty = false;  ///< of a logarithmic scale: no number is in this step
};

struct Table {
  KeyTree::Node node;
  std::vector<Cell> cells;
};

/// An entry of the queue of cells to divide. Cells next to borders come first, because a missed
/// border costs more than a long group; then those with the most keys.
struct Crowded {
  bool is_at_border;
  std::uint64_t weight;
  std::size_t table;
  std::size_t cell;

  friend auto operator<=>(const Crowded&, const Crowded&) = default;
};

class GroupBuilder {
 public:
  GroupBuilder(std::span<const SampledKey> sample, const SampledProblem& problem)
      : sample_(sample), problem_(problem), borders_(begins_of(problem.destination_sizes)) {
    before_.reserve(sample.size() + 1);
    for (const SampledKey& sampled : sample) before_.push_back(before_.back() + sampled.weight);
    // The begin and the end of the array are no borders.
    borders_.pop_back();
    borders_.erase(borders_.begin());
    group_size_ = std::max<std::uint64_t>(1, before_.back() / problem.most_groups);
    // The sample does not resolve ranges without a sampled key.
    const std::uint64_t known = 2 * before_.back() / std::max<std::size_t>(1, sample.size());
    border_group_ = std::clamp<std::uint64_t>(std::max(problem.padding / 2, known), 1, group_size_);
    const std::uint64_t room =
        problem.most_groups / (4 * std::max<std::size_t>(1, borders_.size()));
    window_ = border_group_ * std::clamp<std::uint64_t>(room, 1, groups_beside_border);
  }

  SampledGroups build() {
    SampledGroups groups;
    groups.tree.mantissa_bits = choose_root();
    entries_ = tables_[0].cells.size();
    list_crowded(0);
    while (!crowded_.empty()) {
      const Crowded next = crowded_.top();
      crowded_.pop();
      divide(next.table, next.cell);
    }
    std::vector<Cell*> cells;
    collect(0, cells);
    // Groups of whole cells are never quite full, so that there may be too many at first.
    std::uint64_t percent = 100;
    do {
      groups.ranges = fuse(cells, percent);
      percent += percent / 20;
    } while (groups.ranges.size() > problem_.most_groups);
    for (Table& table : tables_) {
      table.node.first = static_cast<std::uint32_t>(groups.tree.entries.size());
      groups.tree.nodes.push_back(table.node);
      for (const Cell& cell : table.cells)
        groups.tree.entries.push_back(static_cast<std::uint16_t>(
            cell.table == 0 ? cell.group : KeyTree::node_flag | cell.table));
    }
    return groups;
  }

 private:
  [[nodiscard]] std::uint64_t weight(const Cell& cell) const {
    return before_[cell.end] - before_[cell.first];
  }

  [[nodiscard]] bool is_at_border(std::uint64_t begin, std::uint64_t end) const {
    return std::any_of(borders_.begin(), borders_.end(), [&](std::uint64_t border) {
      return begin < border + window_ && end + window_ > border;
    });
  }
  [[nodiscard]] bool is_at_border(const Cell& cell) const {
    return is_at_border(before_[cell.first], before_[cell.end]);
  }
  /// Keys that a group may have which lies there in the sorted array.
  [[nodiscard]] std::uint64_t limit(std::uint64_t begin, std::uint64_t end) const {
    return is_at_border(begin, end) ? border_group_ : group_size_;
  }
  /// More keys than a group should have, by more than chance; or more than one may have at a
  /// border.
  [[nodiscard]] bool is_crowded(const Cell& cell) const {
    return cell.keys.least < cell.keys.greatest &&
           weight(cell) > (is_at_border(cell) ? border_group_ : group_size_ + group_size_ / 2);
  }
  [[nodiscard]] std::uint64_t crowded_keys(const Table& table) const {
    std::uint64_t keys = 0;
    for (const Cell& cell : table.cells)
      if (is_crowded(cell)) keys += weight(cell);
    return keys;
  }

  /// Makes the root that leads most keys to groups at once. \return its mantissa bits
  int choose_root() {
    Table linear = root(root_cells, 0);
    const std::uint64_t crowded = crowded_keys(linear);
    // Key bits times steps for each doubling: as many cells as the linear one may have.
    const int steps =
        bits_of(root_cells) - bits_of(static_cast<std::uint64_t>(problem_.key_bits - 1));
    if (crowded > before_.back() / 4) {
      Table logarithmic = root(root_cells, steps);
      if (crowded_keys(logarithmic) < crowded / 2) {
        tables_.push_back(std::move(logarithmic));
        return steps;
      }
    }
    tables_.push_back(crowded > before_.back() / 2 ? root(short_root_cells, 0) : std::move(linear));
    return 0;
  }

  /// \param mantissa_bits  0: cells of one size
  [[nodiscard]] Table root(std::uint64_t cells, int mantissa_bits) const {
    const Cell all{{0, ~std::uint64_t{0} >> (64 - problem_.key_bits)}, 0, sample_.size()};
    return table_of(all, cells, mantissa_bits);
  }

  /// A table for the keys of a cell: at least `cells` where it has so many keys, and less than twice
  /// as many, cover its sample; one more at each end covers what the sample did not meet.
  [[nodiscard]] Table table_of(const Cell& cell, std::uint64_t cells, int mantissa_bits) const {
    const std::uint64_t least = sample_[cell.first].key;
    const std::uint64_t greatest = sample_[cell.end - 1].key;
    Table table;
    KeyTree::Node& node = table.node;
    const auto step = [&](std::uint64_t x) {
      return mantissa_bits != 0 ? logarithmic_step(x, mantissa_bits) : x >> node.shift;
    };
    const auto least_of = [&](std::uint64_t number) {
      return mantissa_bits != 0 ? least_of_step(number, mantissa_bits) : number << node.shift;
    };
    if (mantissa_bits == 0) node.shift = std::max(0, bits_of((greatest - least) / cells) - 1);
    const std::uint64_t one = std::uint64_t{1} << node.shift;
    node.base = least - cell.keys.least >= one ? least - one : cell.keys.least;
    node.last = static_cast<std::uint32_t>(
        std::min(step(cell.keys.greatest - node.base), step(greatest - node.base) + 1));
    table.cells.reserve(node.last + std::size_t{1});
    std::size_t at = cell.first;
    for (std::uint64_t number = 0; number <= node.last; ++number) {
      Cell part;
      part.keys.least = number == 0 ? cell.keys.least : node.base + least_of(number);
      part.is_empty =
          number != 0 && number != node.last && least_of(number) == least_of(number + 1);
      part.keys.greatest =
          number == node.last ? cell.keys.greatest : node.base + least_of(number + 1) - 1;
      part.first = at;
      while (!part.is_empty && at < cell.end && sample_[at].key <= part.keys.greatest) ++at;
      part.end = at;
      table.cells.push_back(part);
    }
    return table;
  }

  void list_crowded(std::size_t t) {
    const std::vector<Cell>& cells = tables_[t].cells;
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (is_crowded(cells[c])) crowded_.push({is_at_border(cells[c]), weight(cells[c]), t, c});
  }

  /// Gives a crowded cell a table of its own, if there is room for it.
  void divide(std::size_t t, std::size_t c) {
    const Cell cell = tables_[t].cells[c];
    if (tables_.size() == most_sampled_nodes) return;
    const bool is_long = weight(cell) > 4 * group_size_;
    const std::uint64_t parts = cells_of_group * weight(cell) /
                                (is_at_border(cell) && !is_long ? border_group_ : group_size_);
    Table table = table_of(cell, std::clamp(parts, smallest_table, largest_table), 0);
    if (entries_ + table.cells.size() > most_sampled_entries) return;
    entries_ += table.cells.size();
    tables_[t].cells[c].table = tables_.size();
    tables_.push_back(std::move(table));
    list_crowded(tables_.size() - 1);
  }

  void collect(std::size_t t, std::vector<Cell*>& cells) {
    for (Cell& cell : tables_[t].cells) {
      if (cell.table != 0) {
        collect(cell.table, cells);
      } else if (!cell.is_empty) {
        cells.push_back(&cell);
      }
    }
  }

  /// Groups of neighbouring cells that hold together at most `percent` of what they should.
  [[nodiscard]] std::vector<KeyRange> fuse(const std::vector<Cell*>& cells,
                                           std::uint64_t percent) const {
    std::vector<KeyRange> groups;
    std::uint64_t begin = 0;  // of the last group
    for (Cell* cell : cells) {
      const std::uint64_t end = before_[cell->end];
      if (groups.empty() || end - begin > limit(begin, end) * percent / 100) {
        groups.push_back(cell->keys);
        begin = before_[cell->first];
      }
      groups.back().greatest = cell->keys.greatest;
      cell->group = groups.size() - 1;
    }
    return groups;
  }

  std::span<const SampledKey> sample_;
  const SampledProblem& problem_;
  std::vector<std::uint64_t> borders_;    ///< places in the sorted array
  std::vector<std::uint64_t> before_{0};  ///< keys that the sampled ones before each stand for
  std::uint64_t group_size_ = 0;
  std::uint64_t border_group_ = 0;  ///< size of a group beside a border
  std::uint64_t window_ = 0;        ///< how far from a border groups are of that size
  std::vector<Table> tables_;
  std::size_t entries_ = 0;
  std::priority_queue<Crowded> crowded_;
};

}  // namespace

std::optional<int> evenly_spread_bits(std::span<const SampledKey> sample,
                                      const SampledProblem& problem, int digit_bits,
                                      std::uint64_t small) {
  if (sample.empty()) return std::nullopt;
  const int bits = bits_of(sample.front().key ^ sample.back().key);
  if (bits == 0) return std::nullopt;
  const int digit = std::min(bits, digit_bits);
  std::vector<std::uint64_t> begins((std::size_t{1} << digit) + 1, 0);
  for (const SampledKey& sampled : sample)
    begins[(sampled.key >> (bits - digit) & (begins.size() - 2)) + 1] += sampled.weight;
  const std::uint64_t largest = *std::max_element(begins.begin(), begins.end());
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  if (largest > std::max(small, 2 * (begins.back() >> digit))) return std::nullopt;
  const std::vector<std::uint64_t> ideal = begins_of(problem.destination_sizes);
  for (const std::uint64_t border : ideal) {
    const auto next = std::lower_bound(begins.begin(), begins.end(), border);
    const std::uint64_t forth = next == begins.end() ? 0 : *next - border;
    const std::uint64_t back = next == begins.begin() ? forth : border - *(next - 1);
    // Twice the padding: the precision of the sample. The counts that follow are exact.
    if (std::min(back, forth) > 2 * problem.padding) return std::nullopt;
  }
  return bits;
}

SampledGroups groups_of_sample(std::span<const SampledKey> sample, const SampledProblem& problem) {
  return GroupBuilder(sample, problem).build();
}

std::vector<SampledKey> weigh_sample(std::span<const std::uint64_t> keys, std::uint64_t size) {
  std::vector<SampledKey> sample;
  sample.reserve(keys.size());
  if (keys.empty()) return sample;
  // Equal shares of `size`, without a division for each.
  const std::uint64_t least = size / keys.size();
  const std::uint64_t rest = size % keys.size();
  std::uint64_t owed = 0;
  for (const std::uint64_t key : keys) {
    owed += rest;
    const bool is_due = owed >= keys.size();
    if (is_due) owed -= keys.size();
    sample.push_back({key, least + (is_due ? 1 : 0)});
  }
  return sample;
}

std::vector<SampledKey> merge_samples(std::vector<std::vector<SampledKey>> samples) {
  if (samples.empty()) return {};
  for (std::size_t step = 1; step < samples.size(); step *= 2) {
    for (std::size_t i = 0; i + step < samples.size(); i += 2 * step) {
      std::vector<SampledKey> merged;
      merged.reserve(samples[i].size() + samples[i + step].size());
      std::merge(samples[i].begin(), samples[i].end(), samples[i + step].begin(),
                 samples[i + step].end(), std::back_inserter(merged),
                 [](const SampledKey& a, const SampledKey& b) { return a.key < b.key; });
      samples[i] = std::move(merged);
    }
  }
  return std::move(samples.front());
}

}  // namespace sortie::multisort::plan
