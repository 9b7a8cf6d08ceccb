// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/chunked_sort.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/phase_timer.hpp"
#include "multisort/cuda/chunk_sort.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::multisort {

namespace {

/// One chunk is copied in, one is sorted, one is copied out; the fourth worker is for pageable
/// memory, whose copies occupy a thread.
constexpr int workers_per_device = 4;
/// Chunks are not made smaller than this just to give every worker several of them.
constexpr std::uint64_t preferred_items = std::uint64_t{1} << 24;
/// For smaller chunks, launches take longer than the work.
constexpr std::uint64_t fewest_items = 4096;

/// The most items that fit `bytes` on a GPU.
std::uint64_t items_that_fit(std::uint64_t bytes, int item_bytes) {
  std::uint64_t low = 0;
  std::uint64_t high = bytes / static_cast<std::uint64_t>(item_bytes);
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (radix_sort_bytes(middle, item_bytes) <= bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/// Items per chunk such that the workers of all logical devices fit the memory of their GPUs.
std::uint64_t chunk_items(const Context& context, const std::vector<int>& ordinals,
                          const Request& request) {
  const int item_bytes = key_bytes(request.key_type) + request.value_bytes;
  const std::uint64_t bytes = budget_of_device(context, ordinals) / workers_per_device;
  const std::uint64_t items = items_that_fit(bytes, item_bytes);
  if (items < std::min(fewest_items, request.num_items))
    throw out_of_memory_error("a chunk of the sort", radix_sort_bytes(fewest_items, item_bytes),
                              bytes);
  return items;
}

/// Sorts each part of the result from its ranges of all sorted chunks, in the order of the chunks.
void sort_parts(const Context& context, const Request& request, const ChunkedArray& array,
                const RawItems& runs) {
  const PhaseTimer timer(context, "sort parts", 2 * request.bytes());
  const auto& sizes = array.sizes();
  const auto& begins = array.begins();
  const auto read = [&](std::size_t run, std::uint64_t position) {
    std::uint64_t key = 0;  // little-endian: the upper bytes stay zero
    std::memcpy(&key, runs.keys + (begins[run] + position) * request.key_size(),
                request.key_size());
    return key;
  };
  const auto splits = plan::split_for_destinations(sizes, sizes, read, std::less<std::uint64_t>{});
  array.run_workers([&](GpuWorker& worker, std::size_t part) {
    std::vector<ItemRange> ranges;
    for (std::size_t run = 0; run < sizes.size(); ++run)
      ranges.push_back(
          {begins[run] + splits[part][run], splits[part + 1][run] - splits[part][run]});
    worker.run(runs, ranges, true, array.items(), begins[part], false);
  });
}

}  // namespace

GpuWorker::GpuWorker(int ordinal, const Request& request, std::uint64_t most)
    : group_({ordinal}),
      request_(request),
      order_(KeyOrder::of(request.key_type, request.options.order)),
      kernels_(partition_kernels(key_bytes(request.key_type), request.value_bytes)),
      link_(ordinal),
      keys_(most * request_.key_size(), group_.stream(0)),
      values_(most * request_.value_size(), group_.stream(0)) {
  group_.synchronise();
}

void GpuWorker::run(const RawItems& from, const std::vector<ItemRange>& ranges, bool come_encoded,
                    const RawItems& to, std::uint64_t begin, bool go_encoded) {
  std::uint64_t size = 0;
  for (const ItemRange& range : ranges) {
    copy(from, range.begin, size, range.size, true);
    size += range.size;
  }
  ChunkRequest on_device{{{keys_.data(), values_.data(), size, group_.ordinal(0)}},
                         request_.key_type,
                         request_.value_bytes,
                         request_.options};
  if (come_encoded) {
    constexpr KeyType unsigned_types[] = {KeyType::u8, KeyType::u16, KeyType::u32, KeyType::u64};
    on_device.key_type = unsigned_types[std::countr_zero(request_.key_size())];
    on_device.options.order = Order::ascending;
  }
  radix_sort_chunks(Context{}, group_, on_device);
  if (!order_.plain() && come_encoded != go_encoded) {
    check_cuda(kernels_.encode(keys_.data(), size, order_, come_encoded, group_.stream(0)));
    group_.synchronise();
  }
  copy(to, begin, 0, size, false);
}

void GpuWorker::copy(const RawItems& host, std::uint64_t host_begin, std::uint64_t begin,
                     std::uint64_t size, bool to_device) {
  const auto copy_array = [&](std::byte* device, std::byte* array, std::uint64_t item_bytes) {
    link_.copy(device + begin * item_bytes, array + host_begin * item_bytes, size * item_bytes,
               to_device);
  };
  copy_array(keys_.data(), host.keys, request_.key_size());
  copy_array(values_.data(), host.values, request_.value_size());
}

ChunkedArray::ChunkedArray(const Context& context, const std::vector<int>& ordinals,
                           const Request& request)
    : context_(context),
      ordinals_(ordinals),
      request_(request),
      array_{static_cast<std::byte*>(request.keys), static_cast<std::byte*>(request.values)} {
  const std::uint64_t most = chunk_items(context, ordinals, request);
  // Several chunks per worker, so that copies and sorts overlap.
  const std::uint64_t wanted = std::min<std::uint64_t>(ordinals.size() * workers_per_device * 2,
                                                       request.num_items / preferred_items);
  const std::uint64_t chunks =
      std::max({(request.num_items + most - 1) / most, wanted, std::uint64_t{1}});
  sizes_ = EqualShares{request.num_items, chunks}.sizes();
  begins_ = begins_of(sizes_);
  if (context.report != nullptr) context.report->set("sorted_chunks", chunks);
}

void ChunkedArray::sort_chunks(const RawItems& runs) const {
  const PhaseTimer timer(context_, "sort chunks", 2 * request_.bytes());
  run_workers([&](GpuWorker& worker, std::size_t chunk) {
    worker.run(array_, {{begins_[chunk], sizes_[chunk]}}, false, runs, begins_[chunk], true);
  });
}

void ChunkedArray::run_workers(const std::function<void(GpuWorker&, std::size_t)>& body) const {
  const std::size_t chunks = sizes_.size();
  const std::size_t workers = std::min(chunks, ordinals_.size() * workers_per_device);
  const std::uint64_t most = *std::max_element(sizes_.begin(), sizes_.end());
  std::atomic<std::size_t> next{0};
  run_on_threads(workers, [&](std::size_t i) {
    try {
      const int ordinal = ordinals_[i % ordinals_.size()];
      const CurrentDevice current(ordinal);
      GpuWorker worker(ordinal, request_, most);
      for (std::size_t chunk = next++; chunk < chunks; chunk = next++) body(worker, chunk);
    } catch (...) {
      next = chunks;  // stop the other workers
      throw;
    }
  });
}

std::uint64_t budget_of_device(const Context& context, const std::vector<int>& ordinals) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const int ordinal : ordinals) {
    const CurrentDevice current(ordinal);
    const auto devices = std::count(ordinals.begin(), ordinals.end(), ordinal);
    least = std::min(least, device_memory_budget(context) / static_cast<std::uint64_t>(devices));
  }
  return least;
}

std::uint64_t radix_sort_bytes(std::uint64_t items, int item_bytes) {
  // The items and their copy; 1/10 for the relay, boundary buckets and rows of counts; a byte per
  // item for segsort, and a constant that is smaller for few items.
  const std::uint64_t copies = 2 * items * static_cast<std::uint64_t>(item_bytes);
  const std::uint64_t constant =
      std::min<std::uint64_t>(std::uint64_t{64} << 20, 32 * items) + (std::uint64_t{1} << 20);
  return copies + copies / 10 + items + constant;
}

void sort_twice_in_chunks(const Context& context, const std::vector<int>& ordinals,
                          const Request& request) {
  const ChunkedArray array(context, ordinals, request);
  if (array.sizes().size() == 1) {
    const PhaseTimer timer(context, "sort chunks", 2 * request.bytes());
    array.run_workers([&](GpuWorker& worker, std::size_t) {
      worker.run(array.items(), {{0, request.num_items}}, false, array.items(), 0, false);
    });
    return;
  }
  Context on_host = context;
  on_host.memory_budget = 0;  // the budget is of GPU memory
  const ItemStorage<std::byte, NoValue> keys(on_host, request.num_items * request.key_size(),
                                             "the sorted chunks");
  const ItemStorage<std::byte, NoValue> values(on_host, request.num_items * request.value_size(),
                                               "the sorted chunks");
  const RawItems runs{keys.items().keys, values.items().keys};
  array.sort_chunks(runs);
  sort_parts(context, request, array, runs);
}

}  // namespace sortie::multisort
