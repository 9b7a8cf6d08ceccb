// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/device_sort_bench.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "apps/bench/cuda/sort_data.hpp"
#include "baselines/segsort/newer_cub.hpp"
#include "baselines/sort/cub_float_sort.hpp"
#include "baselines/sort/cub_value_sort.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_sort.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using DeviceBytes = DeviceBuffer<std::byte>;

/// The arrays of one case.
class DeviceSortRun {
 public:
  DeviceSortRun(const DeviceSortCase& sort_case, int repetitions, std::uint64_t seed,
                cudaStream_t stream)
      : case_(sort_case),
        repetitions_(repetitions),
        seed_(seed),
        stream_(stream),
        keys_in_(key_size(), stream),
        keys_out_(key_size(), stream),
        values_in_(value_size(), stream),
        values_out_(value_size(), stream) {}

  std::vector<Row> rows() {
    std::vector<Row> rows;
    rows.push_back(copy_row());
    const KeyFormat unsigned_keys(case_.key_bytes, KeyKind::unsigned_integer);
    rows.push_back(
        sort_row("cub radix", unsigned_keys, [this](void* temporary, std::size_t& bytes) {
          const RadixArrays arrays{keys_in_.data(), keys_out_.data(), values_in_.data(),
                                   values_out_.data()};
          if (!has_common_values())
            return baselines::cub_value_sort(temporary, bytes, arrays, case_.items, case_.key_bytes,
                                             case_.value_bytes, stream_);
          return device_radix_sort(temporary, bytes, arrays, case_.items, case_.key_bytes,
                                   case_.value_bytes, 0, 8 * case_.key_bytes, stream_);
        }));
    rows.back().baseline = true;
    const std::string version = baselines::newer_cub_version();
    if (!version.empty() && has_common_values() &&
        (case_.key_bytes >= 4 || case_.value_bytes <= 4)) {
      rows.push_back(sort_row(
          "cub radix, CCCL " + version, unsigned_keys, [this](void* temporary, std::size_t& bytes) {
            return baselines::newer_cub_radix_sort(temporary, bytes, unsigned_request(), stream_);
          }));
      rows.back().baseline = true;
    }
    const KeyFormat keys(case_.key_bytes, case_.kind);
    if (case_.kind == KeyKind::floating_point && case_.type != "bf16" && has_common_values() &&
        case_.value_bytes <= 4) {
      rows.push_back(
          sort_row("cub radix, " + case_.type, keys, [this](void* temporary, std::size_t& bytes) {
            const RadixArrays arrays{keys_in_.data(), keys_out_.data(), values_in_.data(),
                                     values_out_.data()};
            return baselines::cub_float_sort(temporary, bytes, arrays, case_.items, case_.key_bytes,
                                             case_.value_bytes, stream_);
          }));
    }
    rows.push_back(sort_row("sortie", keys, [this](void* temporary, std::size_t& bytes) {
      segsort::ArrayRequest request;
      request.key_bytes = case_.key_bytes;
      request.kind = case_.kind;
      request.end_bit = 8 * case_.key_bytes;
      request.keys_in = keys_in_.data();
      request.keys_out = keys_out_.data();
      request.values_in = values_in_.data();
      request.values_out = values_out_.data();
      request.value_bytes = static_cast<std::size_t>(case_.value_bytes);
      request.are_positions = case_.are_positions;
      request.num_items = static_cast<std::int64_t>(case_.items);
      return segsort::sort_array_on_device(temporary, bytes, request, stream_);
    }));
    relate(rows);
    return rows;
  }

 private:
  /// The arrays, their keys as unsigned integers.
  [[nodiscard]] segsort::DeviceRequest unsigned_request() {
    segsort::DeviceRequest request;
    request.key_type = case_.key_bytes == 1   ? KeyType::u8
                       : case_.key_bytes == 2 ? KeyType::u16
                       : case_.key_bytes == 4 ? KeyType::u32
                                              : KeyType::u64;
    request.value_bytes = case_.value_bytes;
    request.keys_in = keys_in_.data();
    request.keys_out = keys_out_.data();
    request.values_in = values_in_.data();
    request.values_out = values_out_.data();
    request.num_items = static_cast<std::int64_t>(case_.items);
    return request;
  }

  using TwoPhaseArraySort = std::function<cudaError_t(void*, std::size_t&)>;

  [[nodiscard]] bool has_common_values() const {
    return case_.value_bytes == 0 || case_.value_bytes == 4 || case_.value_bytes == 8;
  }
  [[nodiscard]] std::uint64_t key_size() const {
    return case_.items * static_cast<std::uint64_t>(case_.key_bytes);
  }
  [[nodiscard]] std::uint64_t value_size() const {
    return case_.items * static_cast<std::uint64_t>(case_.value_bytes);
  }
  [[nodiscard]] Row make_row(const std::string& method) const {
    Row row;
    row.case_name = fmt::format("{}, {}, {}", case_.type, case_.payload, case_.keys.name);
    row.method = method;
    row.backend = "cuda";
    row.items = case_.items;
    row.unit = case_.value_bytes == 0 ? "Gkeys/s" : "Gpairs/s";
    return row;
  }

  Row copy_row() {
    Row row = make_row("memcpy");
    row.limit = true;
    row.agrees = true;
    for (int round = 0; round <= repetitions_; ++round) {
      const double seconds = timer_.time(stream_, [&] {
        check_cuda(cudaMemcpyAsync(keys_out_.data(), keys_in_.data(), key_size(),
                                   cudaMemcpyDeviceToDevice, stream_));
        if (value_size() != 0)
          check_cuda(cudaMemcpyAsync(values_out_.data(), values_in_.data(), value_size(),
                                     cudaMemcpyDeviceToDevice, stream_));
      });
      if (round != 0) row.seconds.push_back(seconds);
    }
    return row;
  }

  Row sort_row(const std::string& method, const KeyFormat& format, const TwoPhaseArraySort& sort) {
    Row row = make_row(method);
    try {
      std::size_t bytes = 0;
      check_cuda(sort(nullptr, bytes));
      DeviceBytes temporary(bytes, stream_);
      for (int round = 0; round <= repetitions_; ++round) {
        renew(format, round);
        const double seconds =
            timer_.time(stream_, [&] { check_cuda(sort(temporary.data(), bytes)); });
        if (round != 0) row.seconds.push_back(seconds);
        row.fault = fault(format);
        if (!row.fault.empty()) return row;
      }
      row.agrees = true;
    } catch (const Error& error) {
      row.failure = error.what();
    }
    return row;
  }

  void renew(const KeyFormat& format, int round) {
    const SortRange input{keys_in_.data(), values_in_.data(), 0, case_.items};
    fill_range(input, case_.keys, case_.items, format, case_.value_bytes,
               seed_ + static_cast<std::uint64_t>(round), stream_);
    checksum_ = check_range(input, format, case_.value_bytes, stream_).checksum;
    check_cuda(cudaMemsetAsync(keys_out_.data(), 0xee, key_size(), stream_));
    if (value_size() != 0)
      check_cuda(cudaMemsetAsync(values_out_.data(), 0xee, value_size(), stream_));
    check_cuda(cudaStreamSynchronize(stream_));
  }

  [[nodiscard]] std::string fault(const KeyFormat& format) {
    const SortRange output{keys_out_.data(), values_out_.data(), 0, case_.items};
    if (case_.are_positions)
      take_positions(output, keys_in_.data(), format, case_.value_bytes, stream_);
    const RangeCheck found = check_range(output, format, case_.value_bytes, stream_);
    if (found.out_of_order != 0) return fmt::format("{} keys out of order", found.out_of_order);
    if (found.not_stable != 0) return fmt::format("{} equal keys out of order", found.not_stable);
    return found.checksum == checksum_ ? "" : "items were lost or changed";
  }

  DeviceSortCase case_;
  int repetitions_;
  std::uint64_t seed_;
  cudaStream_t stream_;
  EventPair timer_;
  DeviceBytes keys_in_;
  DeviceBytes keys_out_;
  DeviceBytes values_in_;
  DeviceBytes values_out_;
  std::uint64_t checksum_ = 0;
};

}  // namespace

std::vector<Row> device_sort_on_cuda(const Context& context,
                                     const std::vector<DeviceSortCase>& cases, int repetitions,
                                     std::uint64_t seed, const RowSink& sink) {
  const DeviceCall call(context);
  std::vector<Row> all;
  for (const DeviceSortCase& sort_case : cases) {
    std::vector<Row> rows = DeviceSortRun(sort_case, repetitions, seed, call.stream).rows();
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sortie::bench
