// SPDX-License-Identifier: Apache-2.0
#include "papers/rmg/rmg_sort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "multisort/cuda/exchange/host_link.hpp"
#include "multisort/cuda/exchange/item_exchange.hpp"
#include "multisort/cuda/radix/partition_kernels.hpp"
#include "papers/het/het_sort.hpp"
#include "papers/rmg/batched_exchange.hpp"
#include "papers/rmg/bucket_plan.hpp"
#include "papers/rmg/gpu_links.hpp"
#include "papers/rmg/rmg_options.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

namespace sortie::papers {

using namespace multisort;

namespace {

constexpr int digit_bits = 8;
/// The paper's epsilon, as a part of a share: 0.5 % (section 4, table 2).
constexpr std::uint64_t padding_parts = 200;
/// Number of parts into which rmg-repair splits a device's share of up to MIN_SCO buckets: more than
/// MIN_SCO, so that all but the first sort are hidden behind copies.
constexpr std::uint64_t repair_parts = 8;
constexpr std::uint64_t most_batches = 1024;

/// Items by which a device's buckets may exceed its chunk, for arrays of so many items.
std::uint64_t padding_of(std::uint64_t items, std::size_t devices) {
  return items / devices / padding_parts;
}

/// Most items of a device's buckets. Each of the two borders misses its place by at most the padding;
/// and the mirrored chunk may have one item more.
std::uint64_t most_received(std::uint64_t items, std::size_t devices, std::uint64_t chunk) {
  return std::min(items, chunk + 2 * padding_of(items, devices) + 1);
}

class RmgSort {
 public:
  /// \param host    where the sorted items go, by the order of the destinations; without arrays they
  ///                go back to the chunks, which otherwise have space for most_received() items
  /// \param repair  whether few large buckets are split, and merged by the host
  RmgSort(const Context& context, const DeviceGroup& group, const ChunkRequest& request,
          RawItems host = {}, bool repair = false)
      : context_(context),
        group_(group),
        request_(request),
        host_(host),
        repair_(repair),
        options_(rmg_options()),
        key_bits_(8 * key_bytes(request.key_type)),
        order_(KeyOrder::of(request.key_type, request.options.order)),
        kernels_(partition_kernels(key_bytes(request.key_type), request.value_bytes)),
        exchange_(group),
        shares_(group.size()) {
    for (const DeviceChunk& chunk : request.chunks) sizes_.push_back(chunk.size);
    begins_ = begins_of(sizes_);
    padding_ = padding_of(begins_.back(), group.size());
    home_.resize(group.size());
    std::iota(home_.begin(), home_.end(), std::size_t{0});
    for (std::size_t d = 0; d < group.size(); ++d) allocate(d);
  }

  void sort() {
    GroupPhase histogram(context_, group_, "partition", 2 * bytes());
    encode(false);
    plan::PartitionProblem problem;
    problem.key_bits = key_bits_;
    problem.digit_bits = digit_bits;
    problem.source_sizes = sizes_;
    problem.destination_sizes = sizes_;
    problem.padding = padding_;
    plan::RadixPartition partition(std::move(problem));
    partition_locally(partition);
    histogram.stop();

    GroupPhase exchange(context_, group_, "exchange", 2 * bytes());
    exchange_buckets(partition);
    exchange.stop();

    if (to_host()) {
      GroupPhase local(context_, group_, "sort and copy out");
      const std::vector<std::function<void()>> merges = sort_to_host(partition);
      local.stop();
      if (merges.empty()) return;
      group_.synchronise();
      const PhaseTimer merge(context_, "repair");
      for (const std::function<void()>& merge_parts : merges) merge_parts();
      return;
    }
    GroupPhase local(context_, group_, "local sort");
    sort_buckets(partition);
    encode(true);
    local.stop();
  }

 private:
  struct Buffer {
    DeviceBuffer<std::byte> keys;
    DeviceBuffer<std::byte> values;
    [[nodiscard]] RawItems arrays() { return {keys.data(), values.data()}; }
  };
  /// A sort of a destination.
  struct HostTask {
    plan::SortTask task;
    bool split = false;  ///< the host merges it with others, and decodes their keys
  };
  /// What the second one of two concurrent sorts of a device uses.
  struct SecondLane {
    DeviceBuffer<std::byte> temporary;
    CudaStream stream;

    SecondLane() = default;
    SecondLane(SecondLane&&) = default;
    SecondLane& operator=(SecondLane&&) = default;
    ~SecondLane() {
      if (stream) static_cast<void>(cudaStreamSynchronize(stream.get()));
    }
  };
  struct Share {
    Buffer partitioned;    ///< the chunk, in the order of the buckets, unless `in_chunk`
    bool in_chunk = true;  ///< all passes so far found one bucket: the chunk has not been moved
    Buffer received;       ///< received items; before the exchange, target of refined buckets
    DeviceBuffer<std::uint64_t> batch_rows;
    DeviceBuffer<std::uint32_t> tile_rows;
    DeviceBuffer<std::uint64_t> totals;
    DeviceBuffer<std::uint64_t> key_places;
    DeviceBuffer<std::uint64_t> value_places;
    DeviceBuffer<std::byte> temporary;
    SecondLane second;  ///< last, so that its work ends before the buffers are freed
  };
  /// Items [begin, begin + size) of a device's array.
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
  };

  [[nodiscard]] bool to_host() const { return host_.keys != nullptr; }
  [[nodiscard]] std::uint64_t key_size() const { return static_cast<std::uint64_t>(key_bits_ / 8); }
  [[nodiscard]] std::uint64_t value_size() const {
    return static_cast<std::uint64_t>(request_.value_bytes);
  }
  [[nodiscard]] std::uint64_t bytes() const { return begins_.back() * (key_size() + value_size()); }
  [[nodiscard]] RawItems chunk(std::size_t d) const {
    return {static_cast<std::byte*>(request_.chunks[d].keys),
            static_cast<std::byte*>(request_.chunks[d].values)};
  }
  [[nodiscard]] RawItems at(RawItems arrays, std::uint64_t item) const {
    return {arrays.keys + item * key_size(),
            value_size() == 0 ? nullptr : arrays.values + item * value_size()};
  }

  void allocate(std::size_t d) {
    const CurrentDevice current = group_.current(d);
    const cudaStream_t stream = group_.stream(d);
    Share& share = shares_[d];
    const std::uint64_t most = most_received(begins_.back(), group_.size(), sizes_[d]);
    const std::uint64_t copies = to_host() ? 3 : 2;
    if (context_.memory_budget != 0 &&
        copies * most * (key_size() + value_size()) > context_.memory_budget)
      throw out_of_memory_error(fmt::format("the sort on CUDA device {}", group_.ordinal(d)),
                                copies * most * (key_size() + value_size()),
                                context_.memory_budget);
    for (Buffer* buffer : {&share.partitioned, &share.received})
      *buffer = {{most * key_size(), stream}, {most * value_size(), stream}};
    const std::uint64_t tiles = sizes_[d] / kernels_.tile + 1;
    share.batch_rows = {(most_batches + 1) * most_groups, stream};
    share.tile_rows = {value_size() == 0 ? 0 : tiles * most_groups, stream};
    share.totals = {most_groups, stream};
    share.key_places = {most_groups, stream};
    share.value_places = {most_groups, stream};
    RadixBuffers buffers;
    std::size_t temporary = 0;
    check_cuda(device_radix_sort(nullptr, temporary, buffers, most, key_bits_ / 8,
                                 request_.value_bytes, 0, key_bits_, stream));
    share.temporary = {temporary, stream};
    share.second.temporary = {temporary, stream};
    share.second.stream = make_stream();
  }

  void encode(bool decode) {
    if (order_.plain()) return;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const CurrentDevice current = group_.current(d);
      check_cuda(
          kernels_.encode(request_.chunks[d].keys, sizes_[d], order_, decode, group_.stream(d)));
    }
  }

  /// Moves keys by one digit after the other, as long as the plan has a bucket to refine.
  void partition_locally(plan::RadixPartition& partition) {
    while (!partition.refinements().empty()) {
      const std::vector<plan::Refinement> wanted = partition.refinements();
      const std::vector<std::vector<Part>> parts = parts_of(partition, wanted);
      const std::size_t digits = wanted.front().digits();
      std::vector<std::uint64_t> counts(wanted.size() * group_.size() * digits, 0);
      for (std::size_t w = 0; w < wanted.size(); ++w)
        count(wanted[w], parts[w],
              std::span(counts).subspan(w * group_.size() * digits, group_.size() * digits));
      partition.refine(counts);
      for (std::size_t w = 0; w < wanted.size(); ++w)
        move(wanted[w], parts[w],
             std::span(counts).subspan(w * group_.size() * digits, group_.size() * digits));
    }
  }

  /// Position of the refined buckets on each device.
  [[nodiscard]] std::vector<std::vector<Part>> parts_of(
      const plan::RadixPartition& partition, const std::vector<plan::Refinement>& wanted) const {
    std::vector<std::vector<Part>> parts;
    std::vector<std::uint64_t> begins(group_.size(), 0);
    std::size_t next = 0;
    for (const plan::Bucket& bucket : partition.buckets()) {
      const bool is_wanted = next < wanted.size() && wanted[next].prefix == bucket.prefix &&
                             wanted[next].prefix_bits == bucket.prefix_bits;
      if (is_wanted) parts.emplace_back();
      for (std::size_t d = 0; d < group_.size(); ++d) {
        if (is_wanted) parts.back().push_back({begins[d], bucket.counts[d]});
        begins[d] += bucket.counts[d];
      }
      if (is_wanted) ++next;
    }
    return parts;
  }

  [[nodiscard]] GroupLookup lookup(const plan::Refinement& wanted) const {
    GroupLookup lookup;
    lookup.shift = key_bits_ - wanted.prefix_bits - wanted.digit_bits;
    lookup.mask = static_cast<std::uint32_t>(wanted.digits() - 1);
    return lookup;
  }

  /// The arrays that are counted and moved.
  [[nodiscard]] RawItems source(std::size_t d) {
    return shares_[d].in_chunk ? chunk(d) : shares_[d].partitioned.arrays();
  }

  [[nodiscard]] std::uint32_t tiles_per_batch(std::uint64_t size) const {
    const std::uint64_t tiles = (size + kernels_.tile - 1) / kernels_.tile;
    return static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, (tiles + most_batches - 1) / most_batches));
  }

  void count_part(const plan::Refinement& wanted, const Part& part, std::size_t d) {
    Share& share = shares_[d];
    CountArguments arguments;
    arguments.keys = at(source(d), part.begin).keys;
    arguments.size = part.size;
    arguments.lookup = lookup(wanted);
    arguments.tiles_per_batch = tiles_per_batch(part.size);
    const std::uint64_t batch = std::uint64_t{arguments.tiles_per_batch} * kernels_.tile;
    arguments.end_batch = static_cast<std::uint32_t>((part.size + batch - 1) / batch);
    arguments.batch_rows = share.batch_rows.data();
    arguments.tile_rows = share.tile_rows.data();
    check_cuda(kernels_.count(arguments, kernels_.tile, group_.stream(d)));
    check_cuda(sum_batches(share.batch_rows.data(), arguments.end_batch, share.totals.data(),
                           group_.stream(d)));
  }

  void count(const plan::Refinement& wanted, const std::vector<Part>& parts,
             std::span<std::uint64_t> counts) {
    for (std::size_t d = 0; d < group_.size(); ++d) {
      if (parts[d].size == 0) continue;
      const CurrentDevice current = group_.current(d);
      count_part(wanted, parts[d], d);
      shares_[d].totals.copy_to(counts.subspan(d * wanted.digits(), wanted.digits()));
    }
    group_.synchronise();
  }

  /// Moves a bucket's items by its next digit. Items of one digit stay where they are (section 5.4.1).
  void move(const plan::Refinement& wanted, const std::vector<Part>& parts,
            std::span<const std::uint64_t> counts) {
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const Part& part = parts[d];
      const auto digit_counts = counts.subspan(d * wanted.digits(), wanted.digits());
      const bool is_one_bucket = std::ranges::find(digit_counts, part.size) != digit_counts.end();
      if (part.size == 0 || (is_one_bucket && !options_.move_all)) continue;
      const CurrentDevice current = group_.current(d);
      Share& share = shares_[d];
      const bool first = share.in_chunk;  // then this bucket is all of the chunk
      // With several buckets, the rows hold the counts of the last bucket: count this one again.
      if (value_size() != 0 && !first) count_part(wanted, part, d);
      Buffer& buffer = first ? share.partitioned : share.received;
      const RawItems to = at(buffer.arrays(), part.begin);
      std::vector<std::uint64_t> keys(most_groups, 0);
      std::vector<std::uint64_t> values(most_groups, 0);
      std::uint64_t before = 0;
      for (std::size_t digit = 0; digit < wanted.digits(); ++digit) {
        keys[digit] = reinterpret_cast<std::uint64_t>(to.keys) + before * key_size();
        values[digit] = reinterpret_cast<std::uint64_t>(to.values) + before * value_size();
        before += digit_counts[digit];
      }
      share.key_places.copy_from(keys);
      share.value_places.copy_from(values);
      const RawItems from = at(source(d), part.begin);
      MoveArguments arguments;
      arguments.keys = from.keys;
      arguments.values = from.values;
      arguments.size = part.size;
      arguments.end_tile = (part.size + kernels_.tile - 1) / kernels_.tile;
      arguments.lookup = lookup(wanted);
      arguments.tiles_per_batch = tiles_per_batch(part.size);
      arguments.key_places = share.key_places.data();
      arguments.value_places = share.value_places.data();
      arguments.batch_rows = share.batch_rows.data();
      arguments.tile_rows = share.tile_rows.data();
      check_cuda(kernels_.move(arguments, group_.stream(d)));
      if (!first) copy(d, to, from, part.size, group_.stream(d));
      share.in_chunk = false;
    }
  }

  void copy(std::size_t d, RawItems from, RawItems to, std::uint64_t items, cudaStream_t stream) {
    const CurrentDevice current = group_.current(d);
    const auto copy_array = [&](const std::byte* source, std::byte* destination,
                                std::uint64_t size) {
      if (items * size == 0) return;
      check_cuda(
          cudaMemcpyAsync(destination, source, items * size, cudaMemcpyDeviceToDevice, stream));
    };
    copy_array(from.keys, to.keys, key_size());
    copy_array(from.values, to.values, value_size());
  }

  template <class From, class To>
  void exchange_items(const std::vector<std::vector<plan::Transfer>>& transfers, const From& from,
                      const To& to) {
    std::vector<RawItems> sources;
    std::vector<RawItems> destinations;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      sources.push_back(from(d));
      destinations.push_back(to(d));
    }
    if (options_.batch_copies && group_.all_reach()) {
      exchange_in_batches(group_, transfers, key_size(), value_size(), sources, destinations);
    } else {
      exchange_(transfers, key_size(), value_size(), sources, destinations);
    }
  }

  void exchange_buckets(const plan::RadixPartition& partition) {
    plan::Exchange exchange = plan::exchange_of_buckets(partition);
    if (to_host() && !options_.exchange_mirrored && plan::is_mirrored(exchange)) {
      // The copy to the host puts the halves in order: no item has to change its device.
      std::reverse(home_.begin(), home_.end());
      for (std::vector<plan::Transfer>& transfers : exchange.by_source)
        for (plan::Transfer& transfer : transfers)
          transfer.destination = home_[transfer.destination];
    }
    for (std::vector<plan::Transfer>& transfers : exchange.by_source)
      std::stable_sort(transfers.begin(), transfers.end(),
                       [](const plan::Transfer& a, const plan::Transfer& b) {
                         return a.destination < b.destination;
                       });
    exchange_items(
        exchange.by_source, [&](std::size_t d) { return source(d); },
        [&](std::size_t d) { return shares_[d].received.arrays(); });
  }

  /// The sorts of each destination.
  [[nodiscard]] std::vector<std::vector<plan::SortTask>> tasks_of(
      const plan::RadixPartition& partition) const {
    const std::uint64_t share = begins_.back() / group_.size();
    const auto small =
        static_cast<std::uint64_t>(static_cast<double>(share) * options_.fused_percent / 100);
    std::vector<std::vector<plan::SortTask>> tasks = plan::sort_tasks(partition, small);
    const std::vector<std::uint64_t> sizes = partition.destination_sizes();
    for (std::size_t d = 0; d < group_.size(); ++d)
      if (tasks[d].size() > options_.most_buckets) tasks[d] = {{0, sizes[d], key_bits_}};
    return tasks;
  }

  /// Sorts the buckets of each destination, two at a time, and copies each to the host beside the sorts
  /// of the next ones. Few buckets are all sorted first, or split.
  ///
  /// Each device has a host thread that launches its sorts: the launches take longer than the sorts
  /// of small buckets, and a device whose launches come second would wait for those of the first one.
  /// \return merges of the split buckets, for when all copies have ended
  [[nodiscard]] std::vector<std::function<void()>> sort_to_host(
      const plan::RadixPartition& partition) {
    const std::vector<std::vector<plan::SortTask>> buckets = tasks_of(partition);
    const std::vector<std::uint64_t> received = begins_of(partition.destination_sizes());
    std::vector<std::vector<HostTask>> tasks(group_.size());
    std::vector<std::function<void()>> merges;  // allocated before host memory is changed
    for (std::size_t destination = 0; destination < group_.size(); ++destination)
      tasks[destination] = host_tasks(buckets[destination], received[destination], merges);
    run_on_threads(group_.size(), [&](std::size_t destination) {
      sort_share_to_host(home_[destination], tasks[destination], received[destination]);
    });
    return merges;
  }

  /// The tasks of a destination, and the merges of those that are split.
  [[nodiscard]] std::vector<HostTask> host_tasks(const std::vector<plan::SortTask>& buckets,
                                                 std::uint64_t destination_begin,
                                                 std::vector<std::function<void()>>& merges) const {
    const bool split = repair_ && buckets.size() <= options_.most_without_overlap;
    std::uint64_t size = 0;
    for (const plan::SortTask& bucket : buckets) size += bucket.size;
    const std::uint64_t most = split ? size / repair_parts + 1 : size;
    std::vector<HostTask> tasks;
    for (const plan::SortTask& bucket : buckets) {
      const std::vector<plan::SortTask> parts = plan::split_task(bucket, most);
      for (const plan::SortTask& part : parts) tasks.push_back({part, parts.size() > 1});
      if (parts.size() == 1) continue;
      const RawItems to = at(host_, destination_begin + bucket.begin);
      std::vector<std::uint64_t> sizes;
      for (const plan::SortTask& part : parts) sizes.push_back(part.size);
      merges.push_back(prepare_merge(context_,
                                     {to.keys, request_.key_type, bucket.size, to.values,
                                      request_.value_bytes, request_.options},
                                     sizes));
    }
    return tasks;
  }

  void sort_share_to_host(std::size_t d, const std::vector<HostTask>& tasks,
                          std::uint64_t destination_begin) {
    if (tasks.empty()) return;
    const CurrentDevice current = group_.current(d);
    const Lanes lanes = begin_lanes(d);
    const bool overlap = options_.overlap && tasks.size() > options_.most_without_overlap;
    std::size_t lane = 0;
    for (const auto& [task, split] : tasks) {
      const RawItems to = at(chunk(d), task.begin);
      sort_task(d, task, at(shares_[d].received.arrays(), task.begin), to, lane == 1);
      if (!order_.plain() && !split)
        check_cuda(kernels_.encode(to.keys, task.size, order_, true, lanes[lane]));
      if (overlap) copy_out(d, task.begin, task.begin + task.size, destination_begin, lanes[lane]);
      lane = 1 - lane;
    }
    group_.wait(lanes[0], d, lanes[1]);
    if (overlap) return;
    const plan::SortTask& last = tasks.back().task;
    copy_out(d, 0, last.begin + last.size, destination_begin, lanes[0]);
  }

  using Lanes = std::array<cudaStream_t, 2>;
  /// The streams of two concurrent sorts of a device, after what it received.
  [[nodiscard]] Lanes begin_lanes(std::size_t d) const {
    const Lanes lanes{group_.stream(d), shares_[d].second.stream.get()};
    group_.wait(lanes[1], d, lanes[0]);
    return lanes;
  }

  /// Copies items [begin, end) of a device's chunk to the host after the work on `stream` so far.
  /// \param destination_begin  place of the chunk in the sorted array
  void copy_out(std::size_t d, std::uint64_t begin, std::uint64_t end,
                std::uint64_t destination_begin, cudaStream_t stream) {
    if (begin == end) return;
    group_.wait(group_.stream_out(d), d, stream);
    const RawItems from = at(chunk(d), begin);
    const RawItems to = at(host_, destination_begin + begin);
    check_cuda(cudaMemcpyAsync(to.keys, from.keys, (end - begin) * key_size(),
                               cudaMemcpyDeviceToHost, group_.stream_out(d)));
    if (value_size() != 0)
      check_cuda(cudaMemcpyAsync(to.values, from.values, (end - begin) * value_size(),
                                 cudaMemcpyDeviceToHost, group_.stream_out(d)));
  }

  /// Sorts the buckets of each device, two at a time, launched by a host thread for each device.
  void sort_buckets(const plan::RadixPartition& partition) {
    const std::vector<std::vector<plan::SortTask>> tasks = tasks_of(partition);
    const std::vector<std::uint64_t> received = begins_of(partition.destination_sizes());
    std::vector<std::vector<plan::Transfer>> transfers(group_.size());
    run_on_threads(group_.size(), [&](std::size_t d) {
      const CurrentDevice current = group_.current(d);
      const Lanes lanes = begin_lanes(d);
      bool second = false;
      for (const plan::SortTask& task : tasks[d]) {
        const std::uint64_t begin = received[d] + task.begin;
        const std::uint64_t end = begin + task.size;
        const bool inside = begin >= begins_[d] && end <= begins_[d + 1];
        const RawItems to = inside ? at(chunk(d), begin - begins_[d])
                                   : at(shares_[d].partitioned.arrays(), task.begin);
        sort_task(d, task, at(shares_[d].received.arrays(), task.begin), to, second);
        second = !second;
        if (inside) continue;
        for (std::size_t owner = 0; owner < group_.size(); ++owner) {
          const std::uint64_t first = std::max(begin, begins_[owner]);
          const std::uint64_t last = std::min(end, begins_[owner + 1]);
          if (first < last)
            transfers[d].push_back(
                {d, owner, first - received[d], first - begins_[owner], last - first});
        }
      }
      group_.wait(lanes[0], d, lanes[1]);
    });
    exchange_items(
        transfers, [&](std::size_t d) { return shares_[d].partitioned.arrays(); },
        [&](std::size_t d) { return chunk(d); });
  }

  /// \param second  whether the second lane sorts
  void sort_task(std::size_t d, const plan::SortTask& task, RawItems from, RawItems to,
                 bool second = false) {
    Share& share = shares_[d];
    DeviceBuffer<std::byte>& temporary = second ? share.second.temporary : share.temporary;
    const cudaStream_t stream = second ? share.second.stream.get() : group_.stream(d);
    RadixBuffers buffers{from.keys, to.keys, from.values, to.values};
    if (task.remaining_bits > 0) {
      std::size_t bytes = temporary.bytes();
      check_cuda(device_radix_sort(temporary.data(), bytes, buffers, task.size, key_bits_ / 8,
                                   request_.value_bytes, 0, task.remaining_bits, stream));
    }
    if (buffers.keys != to.keys) copy(d, from, to, task.size, stream);
  }

  const Context& context_;
  const DeviceGroup& group_;
  const ChunkRequest& request_;
  RawItems host_;
  bool repair_;
  RmgOptions options_;
  std::vector<std::size_t> home_;  ///< device that each destination's items are received on
  int key_bits_;
  KeyOrder order_;
  const PartitionKernels& kernels_;
  ItemExchange exchange_;
  std::vector<Share> shares_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint64_t> begins_;
  std::uint64_t padding_ = 0;
};

}  // namespace

void rmg_sort_chunks(const Context& context, const DeviceGroup& group,
                     const ChunkRequest& request) {
  if (request.num_items() == 0) return;
  RmgSort sort(context, group, request);
  run_to_the_end(group, [&] { sort.sort(); });
}

namespace {

void sort_host(const Context& context, const std::vector<int>& ordinals, const Request& request,
               bool repair) {
  if (request.num_items == 0) return;
  const DeviceGroup group(best_linked(ordinals), request.options.transport);
  const std::vector<std::uint64_t> sizes = EqualShares{request.num_items, group.size()}.sizes();
  const std::vector<std::uint64_t> begins = begins_of(sizes);
  const RawItems host{static_cast<std::byte*>(request.keys),
                      static_cast<std::byte*>(request.values)};
  ChunkRequest chunks{{}, request.key_type, request.value_bytes, request.options};
  std::vector<DeviceBuffer<std::byte>> buffers;
  std::vector<HostCopy> copies;
  for (std::size_t d = 0; d < group.size(); ++d) {
    const CurrentDevice current = group.current(d);
    const std::uint64_t most = most_received(request.num_items, group.size(), sizes[d]);
    const auto add = [&](std::byte* of_host, std::uint64_t item_bytes) {
      buffers.emplace_back(most * item_bytes, group.stream(d));
      copies.push_back(
          {d, buffers.back().data(), of_host + begins[d] * item_bytes, sizes[d] * item_bytes});
      return buffers.back().data();
    };
    std::byte* const keys = add(host.keys, request.key_size());
    std::byte* const values =
        request.value_bytes == 0 ? nullptr : add(host.values, request.value_size());
    chunks.chunks.push_back({keys, values, sizes[d], group.ordinal(d)});
  }
  RmgSort sort(context, group, chunks, host, repair);
  run_to_the_end(group, [&] {
    group.synchronise();  // the copies use other streams than the allocations
    PhaseTimer copy_in(context, "copy in", request.bytes());
    copy_by_threads(group, copies, true, threads_of(context));
    copy_in.stop();
    sort.sort();
  });
}

}  // namespace

void rmg_sort_host(const Context& context, const std::vector<int>& ordinals,
                   const Request& request) {
  sort_host(context, ordinals, request, false);
}

void rmg_repair_sort_host(const Context& context, const std::vector<int>& ordinals,
                          const Request& request) {
  sort_host(context, ordinals, request, true);
}

}  // namespace sortie::papers
