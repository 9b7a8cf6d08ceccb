// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/sort_bench.hpp"
#include "papers/papers.hpp"
#include "papers/rmg/rmg_options.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <memory>
#include <utility>
#include <variant>

#include "apps/bench/cuda/sort_data.hpp"
#include "apps/bench/timing.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "multisort/cuda/chunk_sort.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::bench {
namespace {

using multisort::ChunkRequest;
using multisort::DeviceGroup;

/// An array in equal chunks on a group of devices.
class ArrayOnDevices {
 public:
  ArrayOnDevices(const Context& context, const SortBenchOptions& options, int devices)
      : options_(options),
        group_(spread_over_gpus(context, devices), options.transport),
        sizes_(EqualShares{options.items, group_.size()}.sizes()),
        begins_(begins_of(sizes_)) {
    request_.key_type = options.key;
    request_.value_bytes = options.value_bytes;
    request_.options.transport = options.transport;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const CurrentDevice current = group_.current(d);
      keys_.emplace_back(sizes_[d] * static_cast<std::uint64_t>(key_bytes(options.key)),
                         group_.stream(d));
      values_.emplace_back(sizes_[d] * static_cast<std::uint64_t>(options.value_bytes),
                           group_.stream(d));
      request_.chunks.push_back({keys_[d].data(), values_[d].data(), sizes_[d], group_.ordinal(d)});
    }
    group_.synchronise();
  }

  [[nodiscard]] const DeviceGroup& group() const { return group_; }
  [[nodiscard]] ChunkRequest& request() { return request_; }

  void fill(const SortCase& sort_case) {
    for (std::size_t d = 0; d < group_.size(); ++d) {
      const CurrentDevice current = group_.current(d);
      fill_range(range(d), sort_case, options_.items, options_.key, options_.value_bytes,
                 options_.seed, group_.stream(d));
    }
    group_.synchronise();
    checksum_ = look().checksum;
  }

  /// \return the error in the sorted array; empty if there is none
  [[nodiscard]] std::string fault(bool stable) const {
    const RangeCheck found = look();
    if (found.out_of_order != 0) return fmt::format("{} keys out of order", found.out_of_order);
    if (stable && found.not_stable != 0)
      return fmt::format("{} equal keys out of order", found.not_stable);
    return found.checksum == checksum_ ? "" : "items were lost or changed";
  }

 private:
  [[nodiscard]] SortRange range(std::size_t d) const {
    return {request_.chunks[d].keys, request_.chunks[d].values, begins_[d], sizes_[d]};
  }

  [[nodiscard]] RangeCheck look() const {
    RangeCheck all;
    bool any = false;
    for (std::size_t d = 0; d < group_.size(); ++d) {
      if (sizes_[d] == 0) continue;
      const CurrentDevice current = group_.current(d);
      const RangeCheck one =
          check_range(range(d), options_.key, options_.value_bytes, group_.stream(d));
      all.checksum += one.checksum;
      all.out_of_order += one.out_of_order;
      all.not_stable += one.not_stable;
      if (any && one.first_key < all.last_key) ++all.out_of_order;
      all.last_key = one.last_key;
      any = true;
    }
    return all;
  }

  const SortBenchOptions& options_;
  DeviceGroup group_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint64_t> begins_;
  std::vector<DeviceBuffer<std::byte>> keys_;
  std::vector<DeviceBuffer<std::byte>> values_;
  ChunkRequest request_;
  std::uint64_t checksum_ = 0;
};

constexpr const char* in_device_memory = "device memory to device memory";
constexpr const char* host_to_host = "host memory to host memory";

Row make_row(const SortCase& sort_case, const SortBenchOptions& options, std::string method) {
  Row row;
  row.case_name = sort_case.name;
  row.method = std::move(method);
  row.backend = "cuda";
  row.items = options.items;
  row.timed = in_device_memory;
  row.unit = options.value_bytes == 0 ? "Gkeys/s" : "Gpairs/s";
  return row;
}

void put_phases(Row& row, const RunReport& report) {
  for (const RunReport::Phase& phase : report.phases())
    row.phases.emplace_back(phase.name, phase.seconds);
  for (const auto& [name, value] : report.figures())
    if (name == "imbalance") row.imbalance = std::get<double>(value);
}

/// Runs `renew`, `sort` and `fault` once untimed and then `repetitions` times. `phases` sorts once
/// more to measure the phases.
template <class Renew, class Sort, class Fault, class Phases>
void time_into(Row& row, int repetitions, const Renew& renew, const Sort& sort, const Fault& fault,
               const Phases& phases) {
  try {
    for (int round = 0; round <= repetitions; ++round) {
      renew();
      const double seconds = timed_seconds(sort);
      if (round > 0) row.seconds.push_back(seconds);
      row.fault = fault();
      if (!row.fault.empty()) return;
    }
    renew();
    phases();
    row.agrees = true;
  } catch (const Error& error) {
    row.failure = error.what();
    row.seconds.clear();
  }
}

bool is_stable(SortAlgorithm algorithm) {
  return algorithm != papers::bitonic && algorithm != papers::tanasic;
}

/// CUB's radix sort on the context's device; the array and the second buffer are in device memory.
Row cub_row(const Context& context, const SortCase& sort_case, const SortBenchOptions& options) {
  Row row = make_row(sort_case, options, "cub radix, 1 GPU");
  row.baseline = true;
  try {
    ArrayOnDevices array(context, options, 1);
    const CurrentDevice current = array.group().current(0);
    const cudaStream_t stream = array.group().stream(0);
    const multisort::DeviceChunk chunk = array.request().chunks[0];
    const int key_size = key_bytes(options.key);
    const DeviceBuffer<std::byte> other_keys(options.items * static_cast<std::uint64_t>(key_size),
                                             stream);
    const DeviceBuffer<std::byte> other_values(
        options.items * static_cast<std::uint64_t>(options.value_bytes), stream);
    RadixBuffers buffers;
    const auto start = [&] {
      buffers.keys = chunk.keys;
      buffers.other_keys = const_cast<std::byte*>(other_keys.data());
      buffers.values = chunk.values;
      buffers.other_values = const_cast<std::byte*>(other_values.data());
    };
    start();
    std::size_t bytes = 0;
    const auto sort = [&](void* temporary) {
      check_cuda(device_radix_sort(temporary, bytes, buffers, options.items, key_size,
                                   options.value_bytes, 0, 8 * key_size, stream));
    };
    sort(nullptr);
    DeviceBuffer<std::byte> temporary(bytes, stream);
    time_into(
        row, options.repetitions,
        [&] {
          start();
          array.fill(sort_case);
        },
        [&] {
          sort(temporary.data());
          check_cuda(cudaStreamSynchronize(stream));
        },
        [&] {
          if (buffers.keys != chunk.keys) {
            check_cuda(cudaMemcpyAsync(chunk.keys, buffers.keys, other_keys.bytes(),
                                       cudaMemcpyDeviceToDevice, stream));
            if (options.value_bytes != 0)
              check_cuda(cudaMemcpyAsync(chunk.values, buffers.values, other_values.bytes(),
                                         cudaMemcpyDeviceToDevice, stream));
          }
          return array.fault(true);
        },
        [] {});
  } catch (const Error& error) {
    row.failure = error.what();
  }
  return row;
}

std::vector<SortAlgorithm> chosen_algorithms(const SortBenchOptions& options) {
  if (!options.algorithms.empty()) return options.algorithms;
  std::vector<SortAlgorithm> chosen;
  for (const SortAlgorithm algorithm : sort_algorithms(Backend::cuda)) {
    const bool of_host_memory = algorithm == papers::het || algorithm == papers::rmg_repair;
    if (of_host_memory && !options.host_to_host) continue;
    chosen.push_back(algorithm);
  }
  return chosen;
}

std::vector<int> chosen_devices(const Context& context, const SortBenchOptions& options) {
  if (!options.devices.empty()) return options.devices;
  return {static_cast<int>(spread_over_gpus(context, 0).size())};
}

std::string method_name(SortAlgorithm algorithm, int devices, const SortBenchOptions& options) {
  const bool is_rmg = algorithm == papers::rmg || algorithm == papers::rmg_repair;
  const std::string changed =
      is_rmg && !options.rmg.empty() ? fmt::format(" {}", fmt::join(options.rmg, " ")) : "";
  return fmt::format("{}{}, {} {}{}", name(algorithm), changed, devices,
                     devices == 1 ? "device" : "devices",
                     options.transport == Transport::staged ? ", staged" : "");
}

std::vector<Row> resident_rows(const Context& context, const SortCase& sort_case,
                               const SortBenchOptions& options, int devices) {
  std::vector<Row> rows;
  ArrayOnDevices array(context, options, devices);
  for (const SortAlgorithm algorithm : chosen_algorithms(options)) {
    Row& row =
        rows.emplace_back(make_row(sort_case, options, method_name(algorithm, devices, options)));
    array.request().options.algorithm = algorithm;
    const auto sort = [&](const Context& of_sort) {
      multisort::chunk_sort(algorithm)(of_sort, array.group(), array.request());
    };
    time_into(
        row, options.repetitions, [&] { array.fill(sort_case); }, [&] { sort(context); },
        [&] { return array.fault(is_stable(algorithm)); },
        [&] {
          RunReport report;
          Context reported = context;
          reported.report = &report;
          sort(reported);
          put_phases(row, report);
        });
  }
  return rows;
}

/// Measures sorts of an array in page-locked host memory. The array is generated and checked on the
/// devices. The first row is that of the copies alone.
std::vector<Row> host_rows(const Context& context, const SortCase& sort_case,
                           const SortBenchOptions& options, int devices) {
  std::vector<Row> rows;
  ArrayOnDevices array(context, options, devices);
  const DeviceGroup& group = array.group();
  const auto key_size = static_cast<std::uint64_t>(key_bytes(options.key));
  const auto value_size = static_cast<std::uint64_t>(options.value_bytes);
  PinnedBuffer<std::byte> keys(options.items * key_size);
  PinnedBuffer<std::byte> values(options.items * value_size);
  const auto copy = [&](cudaMemcpyKind direction) {
    std::uint64_t begin = 0;
    for (std::size_t d = 0; d < group.size(); ++d) {
      const CurrentDevice current = group.current(d);
      const multisort::DeviceChunk& chunk = array.request().chunks[d];
      const auto copy_one = [&](void* on_device, std::byte* on_host, std::uint64_t bytes) {
        if (bytes == 0) return;
        const bool in = direction == cudaMemcpyHostToDevice;
        check_cuda(cudaMemcpyAsync(in ? on_device : on_host, in ? on_host : on_device, bytes,
                                   direction, group.stream(d)));
      };
      copy_one(chunk.keys, keys.data() + begin * key_size, chunk.size * key_size);
      copy_one(chunk.values, values.data() + begin * value_size, chunk.size * value_size);
      begin += chunk.size;
    }
    group.synchronise();
  };
  const auto renew = [&] {
    array.fill(sort_case);
    copy(cudaMemcpyDeviceToHost);
  };
  Row& copies = rows.emplace_back(
      make_row(sort_case, options,
               fmt::format("copies alone, {} {}", devices, devices == 1 ? "device" : "devices")));
  copies.limit = true;
  copies.timed = host_to_host;
  time_into(
      copies, options.repetitions, renew,
      [&] {
        copy(cudaMemcpyHostToDevice);
        copy(cudaMemcpyDeviceToHost);
      },
      [] { return std::string(); }, [] {});
  for (const SortAlgorithm algorithm : chosen_algorithms(options)) {
    Row& row = rows.emplace_back(
        make_row(sort_case, options, method_name(algorithm, devices, options) + ", host to host"));
    row.timed = host_to_host;
    multisort::Request request{keys.data(),   options.key,         options.items,
                               values.data(), options.value_bytes, {}};
    request.options.algorithm = algorithm;
    request.options.devices = devices;
    request.options.transport = options.transport;
    Context on_cuda = context;
    on_cuda.backend = Backend::cuda;
    time_into(
        row, options.repetitions, renew, [&] { multisort::sort(on_cuda, request); },
        [&] {
          copy(cudaMemcpyHostToDevice);
          return array.fault(is_stable(algorithm));
        },
        [&] {
          RunReport report;
          Context reported = on_cuda;
          reported.report = &report;
          multisort::sort(reported, request);
          put_phases(row, report);
        });
  }
  return rows;
}

}  // namespace

std::vector<Row> sort_on_cuda(const Context& context, const std::vector<SortCase>& cases,
                              const SortBenchOptions& options, const RowSink& sink) {
  Context quiet = context;
  quiet.report = nullptr;  // the phases of several methods would be mixed
  papers::set_rmg_options(papers::parse_rmg_options(options.rmg));
  const DeviceScope scope(quiet);
  std::vector<Row> all;
  for (const SortCase& sort_case : cases) {
    std::vector<Row> rows;
    if (options.with_cub) rows.push_back(cub_row(quiet, sort_case, options));
    for (const int devices : chosen_devices(quiet, options)) {
      std::vector<Row> more = options.host_to_host
                                  ? host_rows(quiet, sort_case, options, devices)
                                  : resident_rows(quiet, sort_case, options, devices);
      // End-to-end times are compared with CUB's time plus the copies: the first row of
      // host_rows().
      if (options.host_to_host && options.with_cub)
        more.push_back(with_copies(rows.front(), more.front()));
      std::move(more.begin(), more.end(), std::back_inserter(rows));
    }
    relate(rows);
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sortie::bench
