#include "sortie/multisort/cuda/het_sort.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <thread>

#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/run_report.hpp"
#include "sortie/multisort/cuda/chunk_sort.hpp"
#include "sortie/multisort/cuda/host_link.hpp"
#include "sortie/multisort/cuda/partition_kernels.hpp"
#include "sortie/multisort/cuda/radix_sort.hpp"
#include "sortie/multisort/host/merge_sorted_runs.hpp"
#include "sortie/multisort/plan/shares.hpp"

namespace sortie::multisort {

namespace {

/// One chunk comes, one is sorted, one goes.
constexpr int lanes_of_gpu = 3;
/// Smaller chunks would cost more launches than work.
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

/// Items of a chunk, such that the lanes of all logical devices fit their GPUs.
std::uint64_t chunk_items(const Context& context, const std::vector<int>& ordinals,
                          const Request& request) {
  const int item_bytes = key_bytes(request.key_type) + request.value_bytes;
  std::map<int, std::uint64_t> devices_of_gpu;
  for (const int ordinal : ordinals) ++devices_of_gpu[ordinal];
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& [ordinal, devices] : devices_of_gpu) {
    const CurrentDevice current(ordinal);
    const std::uint64_t bytes = device_memory_budget(context) / devices / lanes_of_gpu;
    const std::uint64_t items = items_that_fit(bytes, item_bytes);
    if (items < std::min(fewest_items, request.num_items))
      throw out_of_memory_error("a chunk of the sort", radix_sort_bytes(fewest_items, item_bytes),
                                bytes);
    least = std::min(least, items);
  }
  return least;
}

/// Takes one chunk after the other through a GPU.
class Lane {
 public:
  Lane(int ordinal, const Request& request, const std::vector<std::uint64_t>& begins)
      : group_({ordinal}), request_(request), begins_(begins), link_(ordinal) {
    std::uint64_t most = 0;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i)
      most = std::max(most, begins[i + 1] - begins[i]);
    keys_ = DeviceBuffer<std::byte>(most * key_size(), group_.stream(0));
    values_ = DeviceBuffer<std::byte>(most * value_size(), group_.stream(0));
    group_.synchronise();
  }

  /// Sorts a chunk and leaves its keys encoded.
  void run(std::size_t chunk) {
    const std::uint64_t begin = begins_[chunk];
    const std::uint64_t size = begins_[chunk + 1] - begin;
    std::byte* const keys = static_cast<std::byte*>(request_.keys) + begin * key_size();
    std::byte* const values = value_size() == 0
                                  ? nullptr
                                  : static_cast<std::byte*>(request_.values) + begin * value_size();
    link_.to_device(keys_.data(), keys, size * key_size());
    link_.to_device(values_.data(), values, size * value_size());
    const ChunkRequest on_device{{{keys_.data(), values_.data(), size, group_.ordinal(0)}},
                                 request_.key_type,
                                 request_.value_bytes,
                                 request_.options};
    radix_sort_chunks(Context{}, group_, on_device);
    const KeyOrder order = KeyOrder::of(request_.key_type, request_.options.order);
    if (!order.plain()) {
      check_cuda(partition_kernels(key_bytes(request_.key_type), request_.value_bytes)
                     .encode(keys_.data(), size, order, false, group_.stream(0)));
      group_.synchronise();
    }
    link_.to_host(keys, keys_.data(), size * key_size());
    link_.to_host(values, values_.data(), size * value_size());
  }

 private:
  [[nodiscard]] std::uint64_t key_size() const {
    return static_cast<std::uint64_t>(key_bytes(request_.key_type));
  }
  [[nodiscard]] std::uint64_t value_size() const {
    return static_cast<std::uint64_t>(request_.value_bytes);
  }

  DeviceGroup group_;
  const Request& request_;
  const std::vector<std::uint64_t>& begins_;
  HostLink link_;
  DeviceBuffer<std::byte> keys_;
  DeviceBuffer<std::byte> values_;
};

void sort_chunks_in_lanes(const std::vector<int>& ordinals, const Request& request,
                          const std::vector<std::uint64_t>& begins) {
  const std::size_t chunks = begins.size() - 1;
  const std::size_t lanes = std::min(chunks, ordinals.size() * lanes_of_gpu);
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> faults(lanes);
  {
    std::vector<std::jthread> team;
    for (std::size_t i = 0; i < lanes; ++i) {
      team.emplace_back([&, i] {
        try {
          const int ordinal = ordinals[i % ordinals.size()];
          const CurrentDevice current(ordinal);
          Lane lane(ordinal, request, begins);
          for (std::size_t chunk = next++; chunk < chunks; chunk = next++) lane.run(chunk);
        } catch (...) {
          faults[i] = std::current_exception();
          next = chunks;  // no use in going on
        }
      });
    }
  }
  for (const std::exception_ptr& fault : faults)
    if (fault) std::rethrow_exception(fault);
}

}  // namespace

std::uint64_t radix_sort_bytes(std::uint64_t items, int item_bytes) {
  // The items and their copy; the relay, the buckets at borders, rows of counts; what segsort
  // takes, and a constant that fewer items do not need.
  const std::uint64_t copies = 2 * items * static_cast<std::uint64_t>(item_bytes);
  const std::uint64_t constant =
      std::min<std::uint64_t>(std::uint64_t{64} << 20, 32 * items) + (std::uint64_t{1} << 20);
  return copies + copies / 10 + items + constant;
}

void het_sort(const Context& context, const std::vector<int>& ordinals, const Request& request) {
  if (request.num_items == 0) return;
  const std::uint64_t most = chunk_items(context, ordinals, request);
  std::uint64_t chunks = (request.num_items + most - 1) / most;
  // Several rounds through each lane, so that copies and sorts overlap.
  const std::uint64_t wanted = std::min<std::uint64_t>(
      ordinals.size() * lanes_of_gpu * 2, request.num_items / (std::uint64_t{1} << 24));
  chunks = std::max({chunks, wanted, std::uint64_t{1}});
  const std::vector<std::uint64_t> sizes = plan::equal_shares(request.num_items, chunks);
  const std::vector<std::uint64_t> begins = plan::begins_of(sizes);
  const std::function<void()> merge = prepare_merge(context, request, sizes);
  if (context.report != nullptr) context.report->set("sorted_chunks", chunks);
  const std::uint64_t bytes =
      request.num_items *
      static_cast<std::uint64_t>(key_bytes(request.key_type) + request.value_bytes);
  PhaseTimer sort(context, "sort chunks", 2 * bytes);
  sort_chunks_in_lanes(ordinals, request, begins);
  sort.stop();
  const PhaseTimer timer(context, "merge", 4 * bytes);
  merge();
}

}  // namespace sortie::multisort
