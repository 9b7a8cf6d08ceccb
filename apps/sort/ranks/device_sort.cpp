// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/ranks/device_sort.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/device_exchange.hpp"
#include "cluster/device_share.hpp"
#include "cluster/exact_splits.hpp"
#include "cluster/sorted_exchange.hpp"
#include "cluster/traffic_plan.hpp"
#include "core/cuda/block_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/phase_timer.hpp"
#include "multisort/cuda/chunked_sort.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"
#include "sortie/sort_chunks.hpp"

namespace sortie::sorting {
namespace {

using cluster::detail::KeyShare;

/// Samples of a border in a round of the splits. Each takes some copies from the GPU, of 10 us.
constexpr std::uint64_t samples_of_border = 64;

/// Keys on a GPU, of which the host reads few, in blocks that it keeps. One thread at a time.
template <class Key>
class KeysOnDevice {
 public:
  KeysOnDevice(int device, const Key* keys, std::uint64_t size, KeyCodec<Key> codec,
               cudaStream_t stream)
      : device_(device), keys_(keys), size_(size), codec_(codec), stream_(stream) {}

  /// Key i, encoded.
  [[nodiscard]] Key operator[](std::uint64_t i) {
    const std::uint64_t number = i / block_keys;
    auto found = blocks_.find(number);
    if (found == blocks_.end()) {
      if (blocks_.size() == most_blocks) blocks_.clear();
      const std::uint64_t begin = number * block_keys;
      std::vector<Key> block(std::min(block_keys, size_ - begin));
      const CurrentDevice current(device_);
      check_cuda(cudaMemcpyAsync(block.data(), keys_ + begin, block.size() * sizeof(Key),
                                 cudaMemcpyDeviceToHost, stream_));
      check_cuda(cudaStreamSynchronize(stream_));
      found = blocks_.emplace(number, std::move(block)).first;
    }
    return codec_.encoded(found->second[i % block_keys]);
  }

 private:
  static constexpr std::uint64_t block_keys = 1024;
  static constexpr std::size_t most_blocks = 2048;

  int device_;
  const Key* keys_;
  std::uint64_t size_;
  KeyCodec<Key> codec_;
  cudaStream_t stream_;
  std::unordered_map<std::uint64_t, std::vector<Key>> blocks_;
};

/// Collective, phase "find device": whether all ranks sort on GPUs.
bool is_for_devices(cluster::Ranks& ranks, const Context& context, const SortOptions& options) {
  if (ranks.size() == 1) return false;
  bool here = false;
  ranks.together("find device", [&] {
    here = (options.algorithm == SortAlgorithm::automatic ||
            options.algorithm == SortAlgorithm::radix) &&
           resolve_backend(context) == Backend::cuda;
  });
  return ranks.least(here ? 1 : 0) == 1;
}

/// The array of keys, or of values, in host memory and on the GPU.
struct DeviceArray {
  const cluster::detail::ShareArray* host = nullptr;
  DeviceBuffer<std::byte> own;       ///< before the exchange
  DeviceBuffer<std::byte> received;  ///< after it
};

class DeviceSort {
 public:
  DeviceSort(cluster::Ranks& ranks, const Context& context, const KeyShare& share)
      : ranks_(ranks), context_(context), share_(share) {
    arrays_.push_back({&share.key_array, {}, {}});
    if (share.value_bytes != 0) arrays_.push_back({&share.value_array, {}, {}});
    for (const DeviceArray& array : arrays_) item_bytes_ += array.host->item_bytes;
  }

  bool run() {
    if (!is_for_devices(ranks_, context_, share_.options)) return false;
    cluster::DeviceTransport transport;
    if (share_.options.transport == Transport::staged) {
      transport.why_none = "as asked for";
    } else {
      const PhaseTimer timer(context_, "connect");
      transport = cluster::connect_devices(ranks_, context_);
    }
    const std::vector<std::uint64_t> sizes =
        EqualShares{ranks_.sum(share_.items), static_cast<std::uint64_t>(ranks_.size())}.sizes();
    after_ = sizes[static_cast<std::size_t>(ranks_.rank())];
    if (transport.exchange != nullptr && !fits(*transport.exchange))
      transport = {nullptr, "the items of a rank do not fit in its part of the GPU"};
    report(transport);
    if (transport.exchange == nullptr) return false;
    sort(*transport.exchange, sizes);
    return true;
  }

 private:
  [[nodiscard]] bool fits(const cluster::DeviceExchange& exchange) {
    device_bytes_ = cluster::share_device(ranks_, context_).bytes;
    device_bytes_ -= std::min(device_bytes_, exchange.device_bytes());
    // More than both shares, which are there during the exchange.
    const std::uint64_t needed =
        multisort::radix_sort_bytes(std::max(share_.items, after_), static_cast<int>(item_bytes_));
    return ranks_.least(needed <= device_bytes_ ? 1 : 0) == 1;
  }

  void report(const cluster::DeviceTransport& transport) {
    const bool is_direct = transport.exchange != nullptr;
    if (context_.report != nullptr)
      context_.report->set("exchange_path", is_direct
                                                ? "by " + transport.exchange->name()
                                                : "through host memory: " + transport.why_none);
    ranks_.together("check transport", [&] {
      if (is_direct || share_.options.transport != Transport::peer) return;
      throw Error(ErrorKind::unavailable,
                  fmt::format("sort: found an exchange through host memory ({}), expected one "
                              "between devices for transport peer",
                              transport.why_none));
    });
  }

  void sort(cluster::DeviceExchange& exchange, std::span<const std::uint64_t> sizes) {
    cluster::TrafficPlan traffic(ranks_);
    const std::uint64_t before = share_.items;
    on_device("copy in", before * item_bytes_, [&] {
      stream_ = make_stream();
      for (DeviceArray& array : arrays_) {
        const std::uint64_t bytes = before * array.host->item_bytes;
        array.own = DeviceBuffer<std::byte>(bytes, stream_.get());
        copy_to_device_in_blocks(array.own.data(),
                                 {static_cast<const std::byte*>(array.host->data), bytes},
                                 stream_.get(), cluster::copy_threads(ranks_, context_));
      }
      check_cuda(cudaStreamSynchronize(stream_.get()));
    });
    on_device("local sort", 2 * before * item_bytes_,
              [&] { sort_items(&DeviceArray::own, before); });
    cluster::PartExchange plan;
    {
      const PhaseTimer timer(context_, "splits");
      plan = cluster::plan_exchange(ranks_, traffic, splits(sizes));
    }
    {
      const PhaseTimer timer(context_, "exchange", 2 * after_ * item_bytes_);
      move(exchange, plan, traffic);
    }
    on_device("sort received", 2 * after_ * item_bytes_, [&] {
      for (DeviceArray& array : arrays_) array.own.reset();
      check_cuda(cudaStreamSynchronize(stream_.get()));
      sort_items(&DeviceArray::received, after_);
    });
    std::vector<void*> to;
    ranks_.together("allocate", [&] {
      for (const DeviceArray& array : arrays_) to.push_back(array.host->resize(after_));
    });
    on_device("copy out", after_ * item_bytes_, [&] {
      for (std::size_t i = 0; i < arrays_.size(); ++i)
        copy_to_host_in_blocks(
            {static_cast<std::byte*>(to[i]), after_ * arrays_[i].host->item_bytes},
            arrays_[i].received.data(), stream_.get(), cluster::copy_threads(ranks_, context_));
      check_cuda(cudaStreamSynchronize(stream_.get()));
    });
    traffic.finish(context_);
    const double imbalance = cluster::imbalance_of(ranks_, after_);
    if (context_.report != nullptr) context_.report->set("imbalance", imbalance);
  }

  template <class Work>
  void on_device(std::string_view phase, std::uint64_t bytes, const Work& work) {
    const PhaseTimer timer(context_, phase, bytes);
    ranks_.on_devices(phase, [&] {
      const CurrentDevice current(context_.device);
      work();
    });
  }

  /// \pre the work on the stream has finished
  void sort_items(DeviceBuffer<std::byte> DeviceArray::*buffer, std::uint64_t items) {
    if (items == 0) return;
    multisort::ChunkRequest request{{}, share_.type, share_.value_bytes, share_.options};
    request.options.transport = Transport::automatic;
    request.chunks.push_back({(arrays_.front().*buffer).data(),
                              share_.value_bytes == 0 ? nullptr : (arrays_.back().*buffer).data(),
                              items, context_.device});
    Context context = context_;
    context.progress = {};
    // Work space, beside the items.
    if (context.memory_budget != 0) context.memory_budget = device_bytes_ - items * item_bytes_;
    multisort::sort_chunks(context, request);
  }

  /// Where the parts of this rank's items for each rank begin.
  [[nodiscard]] std::vector<std::uint64_t> splits(std::span<const std::uint64_t> sizes) {
    return with_key_word(key_bytes(share_.type), [&]<class Key>(Key) {
      const auto keys = std::make_shared<KeysOnDevice<Key>>(
          context_.device, reinterpret_cast<const Key*>(arrays_.front().own.data()), share_.items,
          KeyCodec<Key>(kind_of(share_.type), share_.options.order), stream_.get());
      const cluster::SortedItems sorted = cluster::sorted_items(
          share_.items, [keys](std::uint64_t i) { return (*keys)[i]; }, std::less<Key>{});
      return cluster::exact_splits(ranks_, {&sorted, 1}, sizes, "splits", samples_of_border)
          .front();
    });
  }

  void move(cluster::DeviceExchange& exchange, const cluster::PartExchange& plan,
            cluster::TrafficPlan& traffic) {
    ranks_.on_devices("allocate received", [&] {
      const CurrentDevice current(context_.device);
      for (DeviceArray& array : arrays_)
        array.received =
            DeviceBuffer<std::byte>(plan.items_received() * array.host->item_bytes, stream_.get());
    });
    std::vector<cluster::DevicePiece> sent;
    std::vector<cluster::DevicePiece> received;
    for (DeviceArray& array : arrays_) {
      const std::uint64_t bytes = array.host->item_bytes;
      traffic.add(plan.items_to_others(ranks_.rank()), bytes);
      for (int other = 0; other < ranks_.size(); ++other) {
        const auto r = static_cast<std::size_t>(other);
        const std::uint64_t items = plan.sent[r + 1] - plan.sent[r];
        if (items != 0)
          sent.push_back({other, array.own.data() + plan.sent[r] * bytes, items * bytes});
        if (plan.run(r) != 0)
          received.push_back(
              {other, array.received.data() + plan.received[r] * bytes, plan.run(r) * bytes});
      }
    }
    exchange.exchange(ranks_, sent, received, stream_.get());
  }

  cluster::Ranks& ranks_;
  const Context& context_;
  const KeyShare& share_;
  std::uint64_t item_bytes_ = 0;
  std::uint64_t after_ = 0;         ///< items of this rank after the sort
  std::uint64_t device_bytes_ = 0;  ///< this rank's part of its GPU
  CudaStream stream_;
  std::vector<DeviceArray> arrays_;  ///< the keys, and the values if there are any
};

}  // namespace

void connect_before_sort(cluster::Ranks& ranks, const Context& context,
                         const SortOptions& options) {
  if (is_for_devices(ranks, context, options) && options.transport != Transport::staged)
    static_cast<void>(cluster::connect_devices(ranks, context));
}

bool sort_on_devices(cluster::Ranks& ranks, const Context& context, const KeyShare& share) {
  return DeviceSort(ranks, context, share).run();
}

}  // namespace sortie::sorting
