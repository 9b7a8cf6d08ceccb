// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/chunk_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "core/cuda/check.hpp"
#include "multisort/cuda/exchange/item_exchange.hpp"
#include "multisort/cuda/exchange/relay.hpp"
#include "multisort/cuda/radix/bucket_sort.hpp"
#include "multisort/cuda/radix/leading_digits.hpp"
#include "multisort/plan/key_tree.hpp"
#include "multisort/plan/moves.hpp"
#include "multisort/plan/sampled_groups.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::multisort {

namespace {

/// Bits of a digit: one pass can move to 2^10 buckets.
constexpr int wide_digit_bits = 10;
static_assert(1u << wide_digit_bits <= most_groups);
/// Bits of a digit of keys of 1 and 2 bytes: their borders are refined until a bucket is one key,
/// which takes one or two rounds.
constexpr int narrow_digit_bits = 8;
/// The paper's epsilon, as a part of a share: 0.5 % (section 4, table 2).
constexpr std::uint64_t padding_parts = 200;
/// A boundary bucket has at most 1/16 of a share, because it is sorted in a separate buffer.
constexpr std::uint64_t boundary_bucket_parts = 16;
/// Fewer items are not sampled: a round of counting is short.
constexpr std::uint64_t least_sampled = std::uint64_t{1} << 15;
/// A group with more than 1/16 of a device's keys is a heavy hitter: its atomics are serialised.
constexpr std::uint64_t heavy_hitter_parts = 16;
/// Largest group that segsort sorts by one pass of its partition and one tile per part: 512 parts
/// of 7535 items. A tile holds 8192, which leaves slack for uneven parts.
constexpr std::uint64_t preferred_group = std::uint64_t{512} * 7535;

/// The tables of a plan::KeyTree in the memory of the current device.
struct GroupTables {
  GroupTables() = default;
  GroupTables(const plan::KeyTree& tree, cudaStream_t stream)
      : nodes(tree.nodes, stream), entries((tree.entries.size() + 7) / 8 * 8, stream) {
    entries.copy_from(tree.entries);
    lookup.direct = false;
    lookup.nodes = nodes.data();
    lookup.entries = entries.data();
    lookup.node_count = static_cast<std::uint32_t>(nodes.size());
    lookup.entry_count = static_cast<std::uint32_t>(entries.size());
    lookup.root = tree.nodes.front();
    lookup.mantissa_bits = tree.mantissa_bits;
  }

  DeviceBuffer<plan::KeyTree::Node> nodes;
  DeviceBuffer<std::uint16_t> entries;
  GroupLookup lookup;  ///< for kernels on that device
};

class RadixSort {
 public:
  RadixSort(const Context& context, const DeviceGroup& group, const ChunkRequest& request,
            const RadixSortHooks& hooks)
      : context_(context),
        group_(group),
        request_(request),
        hooks_(hooks),
        narrow_(key_bytes(request.key_type) < 4),
        digits_(group, request, narrow_ ? narrow_digit_bits : wide_digit_bits),
        exchange_(group),
        moves_(group.size()),
        received_(group.size()),
        staged_(group.size()) {
    std::vector<std::uint64_t> sizes;
    for (const DeviceChunk& chunk : request.chunks) sizes.push_back(chunk.size);
    chunk_begins_ = begins_of(sizes);
  }

  void sort() {
    if (hooks_.copy_in) {
      GroupPhase copy_in(context_, group_, "copy in", items() * item_bytes());
      hooks_.copy_in(
          [&](std::size_t device, std::uint64_t end) { digits_.count_up_to(device, end); });
      copy_in.stop();
    }
    GroupPhase histogram(context_, group_, "histogram",
                         items() * static_cast<std::uint64_t>(key_bytes(request_.key_type)));
    const std::optional<plan::Division> division = divide();
    histogram.stop();
    if (!division) {
      for (std::size_t d = 0; d < devices(); ++d)
        if (hooks_.sorted) hooks_.sorted(d, 0, request_.chunks[d].size);
      return;
    }
    if (context_.report != nullptr) context_.report->set("imbalance", imbalance(*division));
    const plan::MovePlan plan = plan::plan_moves(
        *division, most_groups, preferred_group,
        [&](std::size_t from, std::size_t to) { return group_.reaches(from, to); });

    GroupPhase scatter(context_, group_, "scatter", 2 * items() * item_bytes());
    prepare(*division, plan);
    group_.barrier();
    move();
    scatter.stop();
    exchange_staged(plan);
    group_.barrier();

    GroupPhase local(context_, group_, "local sort");
    for (std::size_t d = 0; d < devices(); ++d) sorters_[d].sort(hooks_.parts, hooks_.sorted);
    local.stop();
    exchange_boundary_buckets();
  }

 private:
  [[nodiscard]] std::size_t devices() const { return group_.size(); }
  [[nodiscard]] std::uint64_t items() const { return chunk_begins_.back(); }
  [[nodiscard]] std::uint64_t item_bytes() const {
    return static_cast<std::uint64_t>(key_bytes(request_.key_type) + request_.value_bytes);
  }

  /// The largest relative difference between a chunk and what its device has to sort.
  [[nodiscard]] double imbalance(const plan::Division& division) const {
    double most = 0;
    for (std::size_t d = 0; d < devices(); ++d) {
      const auto chunk = static_cast<double>(request_.chunks[d].size);
      const auto mine = static_cast<double>(division.destination_sizes[d]);
      if (chunk != 0) most = std::max(most, std::abs(mine - chunk) / chunk);
    }
    return most;
  }

  /// \return nothing if all keys are equal
  std::optional<plan::Division> divide() {
    const std::uint64_t share = items() / devices();
    // Narrow keys have exact borders.
    const plan::BorderTolerance tolerance{narrow_ ? 0 : share / padding_parts,
                                          share / boundary_bucket_parts + 1};
    // Chunks that were copied in by parts have been counted by their first digit already.
    if (!narrow_ && !hooks_.copy_in && items() >= least_sampled) {
      std::optional<plan::Division> division = divide_by_sample(tolerance);
      if (division) return division;
    }
    partition_ = digits_.plan(tolerance);
    if (!partition_) return std::nullopt;
    return plan::division_of(*partition_);
  }

  /// One round of counting by the groups of a sample. \return nothing if digits balance as well,
  /// since they are cheaper; or if the sample misplaced a border, which digits then find exactly
  std::optional<plan::Division> divide_by_sample(const plan::BorderTolerance& tolerance) {
    const std::vector<plan::SampledKey> sample = digits_.sample();
    plan::SampledProblem problem;
    problem.key_bits = digits_.key_bits();
    for (const DeviceChunk& chunk : request_.chunks)
      problem.destination_sizes.push_back(chunk.size);
    problem.padding = tolerance.padding;
    problem.most_groups = most_groups;
    const std::optional<int> bits =
        plan::evenly_spread_bits(sample, problem, wide_digit_bits, preferred_group / 2);
    if (bits) digits_.set_first_digit(*bits);
    if (bits || sample.front().key == sample.back().key) return std::nullopt;
    const plan::SampledGroups groups = plan::groups_of_sample(sample, problem);
    for (std::size_t d = 0; d < devices(); ++d) {
      if (request_.chunks[d].size == 0) continue;
      const CurrentDevice current = group_.current(d);
      moves_[d].tables = GroupTables(groups.tree, group_.stream(d));
      digits_.count_groups(d, moves_[d].tables.lookup);
    }
    return plan::divide(groups.ranges, digits_.totals(most_groups), most_groups,
                        problem.destination_sizes, tolerance);
  }

  struct Move {
    GroupTables tables;  ///< empty if one digit is the group
    std::uint32_t heavy_hitter = no_group;
    DeviceBuffer<std::uint64_t> key_places;
    DeviceBuffer<std::uint64_t> value_places;
    std::optional<Relay> relay;  ///< if some items go to another device
  };
  struct ItemBuffers {
    DeviceBuffer<std::byte> keys;
    DeviceBuffer<std::byte> values;

    ItemBuffers() = default;
    ItemBuffers(std::uint64_t items, const ChunkRequest& request, cudaStream_t stream)
        : keys(items * static_cast<std::uint64_t>(key_bytes(request.key_type)), stream),
          values(items * static_cast<std::uint64_t>(request.value_bytes), stream) {}
    [[nodiscard]] RawItems items() { return {keys.data(), values.data()}; }
  };

  void prepare(const plan::Division& division, const plan::MovePlan& plan) {
    for (std::size_t d = 0; d < devices(); ++d) {
      const CurrentDevice current = group_.current(d);
      const cudaStream_t stream = group_.stream(d);
      const std::uint64_t mine = plan.destination_begins[d + 1] - plan.destination_begins[d];
      sorters_.emplace_back(group_, request_, d, plan, chunk_begins_);
      if (has_relayed(plan, d))
        moves_[d].relay.emplace(group_, d, digits_.share(d), request_.chunks[d].size,
                                digits_.kernels(), key_bytes(request_.key_type),
                                request_.value_bytes);
      const std::uint64_t wanted = (mine + plan.staged[d]) * item_bytes() +
                                   sorters_[d].bytes_wanted() +
                                   (moves_[d].relay ? moves_[d].relay->bytes_wanted() : 0);
      if (context_.memory_budget != 0 && wanted > context_.memory_budget)
        throw out_of_memory_error(fmt::format("the sort on CUDA device {}", group_.ordinal(d)),
                                  wanted, context_.memory_budget);
      received_[d] = ItemBuffers(mine, request_, stream);
      staged_[d] = ItemBuffers(plan.staged[d], request_, stream);
      sorters_[d].allocate(received_[d].items());
    }
    std::optional<plan::KeyTree> tree;
    if (partition_ && !is_direct()) tree = plan::key_tree_of(*partition_, groups_of_buckets(plan));
    for (std::size_t d = 0; d < devices(); ++d) {
      if (request_.chunks[d].size == 0) continue;
      const CurrentDevice current = group_.current(d);
      if (tree) {
        moves_[d].tables = GroupTables(*tree, group_.stream(d));
        // Keys alone that stay on their device reserve places by atomics and need no counts.
        if (request_.value_bytes != 0 || moves_[d].relay)
          digits_.count_groups(d, moves_[d].tables.lookup);
      }
      if (!is_direct()) moves_[d].heavy_hitter = heavy_hitter(plan, d);
      upload_places(division, plan, d);
    }
  }

  [[nodiscard]] bool is_direct() const { return partition_ && partition_->refined().size() == 1; }

  [[nodiscard]] static bool has_relayed(const plan::MovePlan& plan, std::size_t d) {
    return std::any_of(plan.places[d].begin(), plan.places[d].end(),
                       [&](const plan::MovePlace& place) {
                         return !place.is_staged && place.size != 0 && place.destination != d;
                       });
  }

  [[nodiscard]] static std::vector<std::uint16_t> groups_of_buckets(const plan::MovePlan& plan) {
    std::vector<std::uint16_t> groups;
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
      groups.resize(plan.groups[g].end_bucket, static_cast<std::uint16_t>(g));
    return groups;
  }

  [[nodiscard]] std::uint32_t heavy_hitter(const plan::MovePlan& plan, std::size_t d) const {
    const std::vector<plan::MovePlace>& places = plan.places[d];
    const auto heaviest = std::max_element(
        places.begin(), places.end(),
        [](const plan::MovePlace& a, const plan::MovePlace& b) { return a.size < b.size; });
    if (heaviest->size <= request_.chunks[d].size / heavy_hitter_parts) return no_group;
    return static_cast<std::uint32_t>(heaviest - places.begin());
  }

  void upload_places(const plan::Division& division, const plan::MovePlan& plan, std::size_t d) {
    const GroupLookup& digit = digits_.first_lookup();
    std::vector<std::uint64_t> keys(most_groups, 0);
    std::vector<std::uint64_t> values(most_groups, 0);
    std::vector<std::uint64_t> relayed_keys(most_groups, 0);
    std::vector<std::uint64_t> relayed_values(most_groups, 0);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      const plan::MovePlace& place = plan.places[d][g];
      if (place.size == 0) continue;
      ItemBuffers& buffers = place.is_staged ? staged_[d] : received_[place.destination];
      const std::uint64_t least = division.ranges[plan.groups[g].first_bucket].keys.least;
      const std::size_t number = is_direct() ? least >> digit.shift & digit.mask : g;
      keys[number] = reinterpret_cast<std::uint64_t>(buffers.keys.data()) +
                     place.begin * static_cast<std::uint64_t>(key_bytes(request_.key_type));
      values[number] = reinterpret_cast<std::uint64_t>(buffers.values.data()) +
                       place.begin * static_cast<std::uint64_t>(request_.value_bytes);
      if (!place.is_staged && place.destination != d) {
        relayed_keys[number] = keys[number];
        relayed_values[number] = values[number];
      }
    }
    Move& move = moves_[d];
    move.key_places = DeviceBuffer<std::uint64_t>(keys, group_.stream(d));
    if (request_.value_bytes != 0)
      move.value_places = DeviceBuffer<std::uint64_t>(values, group_.stream(d));
    if (move.relay) move.relay->allocate(relayed_keys, relayed_values);
  }

  [[nodiscard]] MoveArguments move_arguments(std::size_t d) {
    const DeviceChunk& chunk = request_.chunks[d];
    GroupCounts& share = digits_.share(d);
    MoveArguments arguments;
    arguments.keys = chunk.keys;
    arguments.values = chunk.values;
    arguments.size = chunk.size;
    arguments.order = digits_.order();
    arguments.lookup = is_direct() ? digits_.first_lookup() : moves_[d].tables.lookup;
    arguments.heavy_hitter = moves_[d].heavy_hitter;
    arguments.tiles_per_batch = share.tiles_per_batch;
    arguments.key_places = moves_[d].key_places.data();
    arguments.value_places = moves_[d].value_places.data();
    arguments.batch_rows = share.batch_rows.data();
    arguments.tile_rows = share.tile_rows.data();
    arguments.end_tile = (chunk.size + digits_.kernels().tile - 1) / digits_.kernels().tile;
    return arguments;
  }

  void move() {
    std::vector<MoveArguments> arguments;
    for (std::size_t d = 0; d < devices(); ++d) {
      const bool is_empty = request_.chunks[d].size == 0;
      arguments.push_back(is_empty ? MoveArguments{} : move_arguments(d));
      if (is_empty || moves_[d].relay) continue;
      const CurrentDevice current = group_.current(d);
      check_cuda(digits_.kernels().move(arguments[d], group_.stream(d)));
    }
    bool has_more = true;
    while (has_more) {
      has_more = false;
      for (std::size_t d = 0; d < devices(); ++d) {
        if (!moves_[d].relay) continue;
        const CurrentDevice current = group_.current(d);
        has_more |= moves_[d].relay->run_slice(arguments[d]);
      }
    }
    for (std::size_t d = 0; d < devices(); ++d) {
      const CurrentDevice current = group_.current(d);
      if (moves_[d].relay) moves_[d].relay->wait_on_all();
    }
  }

  void exchange(const std::vector<std::vector<plan::Transfer>>& transfers,
                const std::vector<RawItems>& from, const std::vector<RawItems>& to) {
    exchange_(transfers, static_cast<std::size_t>(key_bytes(request_.key_type)),
              static_cast<std::size_t>(request_.value_bytes), from, to);
  }

  void exchange_staged(const plan::MovePlan& plan) {
    const std::uint64_t staged =
        std::accumulate(plan.staged.begin(), plan.staged.end(), std::uint64_t{0});
    if (staged == 0) return;
    GroupPhase phase(context_, group_, "exchange", 2 * staged * item_bytes());
    std::vector<RawItems> from;
    std::vector<RawItems> to;
    for (std::size_t d = 0; d < devices(); ++d) {
      from.push_back(staged_[d].items());
      to.push_back(received_[d].items());
    }
    exchange(plan.transfers, from, to);
    phase.stop();
  }

  void exchange_boundary_buckets() {
    std::vector<std::vector<plan::Transfer>> transfers;
    std::vector<RawItems> from;
    std::vector<RawItems> to;
    std::uint64_t items = 0;
    for (std::size_t d = 0; d < devices(); ++d) {
      transfers.push_back(sorters_[d].transfers());
      for (const plan::Transfer& transfer : transfers[d]) items += transfer.size;
      from.push_back(sorters_[d].spare());
      to.push_back({static_cast<std::byte*>(request_.chunks[d].keys),
                    static_cast<std::byte*>(request_.chunks[d].values)});
    }
    if (items == 0) return;
    GroupPhase phase(context_, group_, "borders", 2 * items * item_bytes());
    exchange(transfers, from, to);
    if (hooks_.sorted) {
      for (const std::vector<plan::Transfer>& list : transfers)
        for (const plan::Transfer& transfer : list)
          hooks_.sorted(transfer.destination, transfer.destination_begin,
                        transfer.destination_begin + transfer.size);
    }
    phase.stop();
  }

  const Context& context_;
  const DeviceGroup& group_;
  const ChunkRequest& request_;
  const RadixSortHooks& hooks_;
  bool narrow_;
  LeadingDigits digits_;
  std::optional<plan::RadixPartition> partition_;  ///< empty if the groups are those of a sample
  ItemExchange exchange_;
  std::vector<std::uint64_t> chunk_begins_;
  std::vector<Move> moves_;
  std::vector<ItemBuffers> received_;
  std::vector<ItemBuffers> staged_;
  std::vector<BucketSort> sorters_;
};

}  // namespace

void radix_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request, const RadixSortHooks& hooks) {
  if (group.size() > most_gpu_devices)
    throw Error(ErrorKind::usage, fmt::format("sort: found {} chunks, expected {} at most",
                                              group.size(), most_gpu_devices));
  if (request.num_items() == 0) return;
  RadixSort sort(context, group, request, hooks);
  run_to_the_end(group, [&] { sort.sort(); });
}

}  // namespace sortie::multisort
