// SPDX-License-Identifier: Apache-2.0
#include "apps/sort/resident_sort.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "apps/sort/order_check.hpp"
#include "apps/sort/record_blocks.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "core/cuda/transfer_blocks.hpp"
#include "core/files/block_pipeline.hpp"
#include "core/files/block_writer.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/items.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/sort_chunks.hpp"

namespace sortie::sorting {
namespace {

constexpr std::uint64_t most_workers = 8;
/// Of a worker on the host: its page-locked block, and as many bytes to separate keys and values.
constexpr std::uint64_t bytes_a_worker = 2 * TransferBlock::bytes;

/// Threads that read and write, within the memory budget; 0 if it is too small.
std::uint64_t workers_of(const Context& context) {
  const std::uint64_t budget = context.memory_budget;
  const std::uint64_t affordable = budget == 0 ? most_workers : budget / 2 / bytes_a_worker;
  return std::min({most_workers, affordable, static_cast<std::uint64_t>(threads_of(context))});
}

template <std::unsigned_integral Key, class Value>
class ResidentSort {
 public:
  ResidentSort(const Context& context, const RecordSource& source, std::uint64_t records,
               const FileSortRequest& request)
      : context_(without_budget(context)),
        source_(source),
        request_(request),
        size_(records),
        workers_(workers_of(context)),
        codec_(kind_of(request.format.key), request.options.order) {}

  SortResult run() {
    const DeviceScope device(context_);
    result_.records = size_;
    {
      const PhaseTimer timer(context_, "allocate");
      keys_ = {size_, nullptr};
      if constexpr (has_values<Value>) values_ = {size_, nullptr};
      transfers_.emplace(workers_);
      // Without values, the records are in the page-locked blocks.
      blocks_.emplace(has_values<Value> ? workers_ : 0, block_items);
      check_cuda(cudaStreamSynchronize(nullptr));
    }
    read();
    sort();
    write();
    const PhaseTimer timer(context_, "free");
    transfers_.reset();
    blocks_.reset();
    keys_.reset();
    values_.reset();
    return result_;
  }

 private:
  using Range = Items<Key, Value>;
  static constexpr std::uint64_t record_bytes = item_bytes<Key, Value>;
  /// The values of a block follow its keys, aligned.
  static constexpr std::uint64_t block_items =
      TransferBlock::bytes / record_bytes / sizeof(std::uint64_t) * sizeof(std::uint64_t);

  static Context without_budget(const Context& context) {
    Context result = context;
    result.memory_budget = 0;  // of host memory
    return result;
  }

  [[nodiscard]] std::uint64_t count() const { return (size_ + block_items - 1) / block_items; }
  [[nodiscard]] std::uint64_t items_of(std::uint64_t block) const {
    return std::min(block_items, size_ - block * block_items);
  }
  /// The items in the page-locked block of a worker.
  [[nodiscard]] Range items(std::uint64_t worker) {
    std::byte* const memory = (*transfers_)[worker].memory.data();
    Range items;
    items.keys = reinterpret_cast<Key*>(memory);
    if constexpr (has_values<Value>)
      items.values = reinterpret_cast<Value*>(memory + block_items * sizeof(Key));
    return items;
  }

  /// Copies a block between the page-locked memory of a worker and the GPU, and waits for it.
  void transfer(std::uint64_t worker, std::uint64_t block, cudaMemcpyKind kind) {
    // The current device is a property of the thread.
    check_cuda(cudaSetDevice(context_.device));
    cudaStream_t const stream = (*transfers_)[worker].stream.get();
    const std::uint64_t begin = block * block_items;
    const auto copy = [&]<class T>(T* host, T* device) {
      const bool in = kind == cudaMemcpyHostToDevice;
      check_cuda(cudaMemcpyAsync(in ? device : host, in ? host : device,
                                 items_of(block) * sizeof(T), kind, stream));
    };
    const Range host = items(worker);
    copy(host.keys, keys_.data() + begin);
    if constexpr (has_values<Value>) copy(host.values, values_.data() + begin);
    check_cuda(cudaStreamSynchronize(stream));
  }

  void read() {
    const PhaseTimer timer(context_, "read", size_ * record_bytes);
    std::vector<Fingerprint> fingerprints(workers_);
    const auto work = [&](int number, std::uint64_t block) {
      const auto worker = static_cast<std::uint64_t>(number);
      const std::uint64_t n = items_of(block);
      source_.read_at(block * block_items, blocks_->records(worker, items(worker), n));
      blocks_->unpack(worker, items(worker), n);
      if (request_.verify) {
        for_encoded(items(worker), n, codec_,
                    [&](Range part, std::uint64_t size) { fingerprints[worker].add(part, size); });
      }
      transfer(worker, block, cudaMemcpyHostToDevice);
      if (worker == 0) report_progress(context_, "read", block, count());
    };
    run_blocks(static_cast<int>(workers_),
               {.take = [this](int, std::uint64_t block) { return block < count(); },
                .work = work,
                .pass = {},
                .finish = {}});
    report_progress(context_, "read", count(), count());
    for (const Fingerprint& one : fingerprints) read_ += one;
  }

  void sort() {
    DeviceBuffer<Key> keys;
    DeviceBuffer<Value> values;
    if (request_.repeat > 1) {
      const PhaseTimer timer(context_, "copy for --repeat", 2 * size_ * record_bytes);
      keys = {size_, nullptr};
      copy(keys_, keys);
      if constexpr (has_values<Value>) {
        values = {size_, nullptr};
        copy(values_, values);
      }
      check_cuda(cudaStreamSynchronize(nullptr));
    }
    Context sorting = context_;
    sorting.progress = {};  // of the whole job
    multisort::ChunkRequest request;
    request.chunks = {{keys_.data(), values_.data(), size_, context_.device}};
    request.key_type = request_.format.key;
    request.value_bytes = request_.format.value_bytes();
    request.options = request_.options;
    std::vector<double> seconds;
    report_progress(context_, "sort", 0, size_);
    for (int round = 0; round < request_.repeat; ++round) {
      if (round > 0) {
        const PhaseTimer timer(context_, "copy for --repeat", 2 * size_ * record_bytes);
        copy(keys, keys_);
        copy(values, values_);
        check_cuda(cudaStreamSynchronize(nullptr));
      }
      PhaseTimer timer(context_, "sort", 2 * size_ * record_bytes);
      multisort::sort_chunks(sorting, request);
      seconds.push_back(timer.stop());
    }
    report_progress(context_, "sort", size_, size_);
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    result_.seconds = seconds[seconds.size() / 2];
  }

  template <class T>
  static void copy(const DeviceBuffer<T>& from, DeviceBuffer<T>& to) {
    if (from.size() == 0) return;
    check_cuda(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice));
  }

  void write() {
    if (request_.output.empty() && !request_.verify) return;
    const PhaseTimer timer(context_, request_.output.empty() ? "verify" : "write",
                           size_ * record_bytes);
    OrderCheck<Key, Value> all;
    std::vector<OrderCheck<Key, Value>> checks(workers_);
    OutputBlocks blocks;
    blocks.count = count();
    blocks.make = [&](int number, std::uint64_t block) {
      const auto worker = static_cast<std::uint64_t>(number);
      const std::uint64_t n = items_of(block);
      transfer(worker, block, cudaMemcpyDeviceToHost);
      if (request_.verify) {
        checks[worker] = OrderCheck<Key, Value>(block * block_items);
        for_encoded(items(worker), n, codec_,
                    [&](Range part, std::uint64_t size) { checks[worker].add(part, size); });
      }
      return blocks_->pack(worker, items(worker), n);
    };
    blocks.collect = [&](int worker, std::uint64_t) {
      if (request_.verify) all.append(checks[static_cast<std::uint64_t>(worker)]);
    };
    blocks.tell = [&](std::uint64_t written) {
      report_progress(context_, "write", written, count());
    };
    std::optional<WholeFile> file;
    if (request_.output.empty()) {
      make_blocks(static_cast<int>(workers_), blocks);
    } else {
      file.emplace(request_.output);
      write_blocks(*file, static_cast<int>(workers_), blocks);
    }
    if (request_.verify) all.finish(read_, size_);
    if (file) file->commit();
  }

  Context context_;
  const RecordSource& source_;
  const FileSortRequest& request_;
  std::uint64_t size_;
  std::uint64_t workers_;
  KeyCodec<Key> codec_;
  DeviceBuffer<Key> keys_;
  DeviceBuffer<Value> values_;  ///< empty for keys alone
  std::optional<TransferBlocks> transfers_;
  std::optional<RecordBlocks<Key, Value>> blocks_;
  Fingerprint read_;
  SortResult result_;
};

template <class Key>
SortResult sort_keys_on_device(const Context& context, const RecordSource& source,
                               std::uint64_t records, const FileSortRequest& request) {
  switch (request.format.value_bytes()) {
    case 0:
      return ResidentSort<Key, NoValue>(context, source, records, request).run();
    case 4:
      return ResidentSort<Key, Opaque<std::uint32_t>>(context, source, records, request).run();
    default:
      return ResidentSort<Key, Opaque<std::uint64_t>>(context, source, records, request).run();
  }
}

bool has_device_algorithm(SortAlgorithm algorithm) {
  return algorithm == SortAlgorithm::automatic || algorithm == SortAlgorithm::radix ||
         algorithm == SortAlgorithm::merge;
}

/// Whether the records fit in free device memory together with the scratch of sort_chunks().
bool fits(const FileSortRequest& request, std::uint64_t records) {
  const std::uint64_t copies = request.repeat > 1 ? 3 : 2;
  constexpr std::uint64_t constant = std::uint64_t{256} << 20;
  const std::uint64_t bytes = records * request.format.record_bytes();
  return bytes * copies + bytes / 4 + constant <= device_memory_free();
}

}  // namespace

std::optional<SortResult> sort_on_device(const Context& context, RecordSource& source,
                                         const FileSortRequest& request) {
  const std::optional<std::uint64_t> records = source.records();
  if (!records || *records == 0 || !source.in_any_order() || workers_of(context) == 0 ||
      !has_device_algorithm(request.options.algorithm) || resolve_backend(context) != Backend::cuda)
    return std::nullopt;
  const int devices = request.options.devices == 0 ? cuda_device_count() : request.options.devices;
  if (devices != 1) return std::nullopt;
  try {
    const DeviceScope device(context);
    if (!fits(request, *records)) return std::nullopt;
    return with_key_word(key_bytes(request.format.key), [&]<class Word>(Word) {
      return sort_keys_on_device<Word>(context, source, *records, request);
    });
  } catch (const Error& error) {
    // The memory was free a moment ago. Chunks in host memory take less at a time.
    if (error.kind() != ErrorKind::out_of_memory) throw;
    return std::nullopt;
  }
}

}  // namespace sortie::sorting
