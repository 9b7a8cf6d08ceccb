// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/classics_bench.hpp"
#include "papers/papers.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "apps/bench/cuda/sort_data.hpp"
#include "baselines/sort/cub_sort.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "multisort/cuda/chunk_sort.hpp"
#include "papers/bitonic/passes.hpp"
#include "papers/classics/classics.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

/// Maximum length with counted transactions: counting slows the classics by up to several hundred
/// times.
constexpr std::uint64_t most_counted = std::uint64_t{1} << 24;

/// Keys on the device, generated before each sort and checked after it.
class ClassicsWork {
 public:
  ClassicsWork(std::uint64_t n, SortCase sort_case, std::uint64_t seed, cudaStream_t stream)
      : keys_(n, stream), case_(std::move(sort_case)), seed_(seed), stream_(stream) {}

  [[nodiscard]] std::uint32_t* keys() { return keys_.data(); }
  [[nodiscard]] std::uint64_t size() const { return keys_.size(); }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  [[nodiscard]] const SortCase& sort_case() const { return case_; }

  /// Generates the keys of a round.
  void renew(int round = 0) {
    fill_range(range(), case_, size(), KeyType::u32, 0, seed_ + static_cast<std::uint64_t>(round),
               stream_);
    checksum_ = look().checksum;
  }

  /// The error in the sorted keys; empty if there is none.
  [[nodiscard]] std::string fault() {
    const RangeCheck found = look();
    if (found.out_of_order != 0) return fmt::format("{} keys out of order", found.out_of_order);
    return found.checksum == checksum_ ? "" : "keys were lost or changed";
  }

 private:
  [[nodiscard]] SortRange range() { return {keys_.data(), nullptr, 0, size()}; }
  [[nodiscard]] RangeCheck look() { return check_range(range(), KeyType::u32, 0, stream_); }

  DeviceBuffer<std::uint32_t> keys_;
  SortCase case_;
  std::uint64_t seed_;
  cudaStream_t stream_;
  std::uint64_t checksum_ = 0;
};

Row make_row(const ClassicsWork& work, std::string method) {
  Row row;
  row.case_name = fmt::format("2^{} keys", std::bit_width(work.size()) - 1);
  if (work.sort_case().kind != SortCase::Kind::uniform)
    row.case_name += ", " + work.sort_case().name;
  row.method = std::move(method);
  row.backend = "cuda";
  row.items = work.size();
  row.unit = "Gkeys/s";
  return row;
}

/// Sorts once untimed and `repetitions` times timed, each time with new keys. Every result is
/// checked. Times are measured by events on the stream.
Row time_sort(ClassicsWork& work, std::string method, int repetitions,
              const std::function<void()>& sort) {
  Row row = make_row(work, std::move(method));
  try {
    EventPair timer;
    for (int round = 0; round <= repetitions; ++round) {
      work.renew(round);
      const double seconds = timer.time(work.stream(), sort);
      if (round > 0) row.seconds.push_back(seconds);
      row.fault = work.fault();
      if (!row.fault.empty()) return row;
    }
    row.agrees = true;
  } catch (const Error& error) {
    row.failure = error.what();
    row.seconds.clear();
  }
  return row;
}

Row copy_row(ClassicsWork& work, int repetitions) {
  DeviceBuffer<std::uint32_t> target(work.size(), work.stream());
  Row row = make_row(work, "memcpy");
  row.limit = true;
  row.agrees = true;
  EventPair timer;
  for (int round = 0; round <= repetitions; ++round) {
    const double seconds = timer.time(work.stream(), [&] {
      check_cuda(cudaMemcpyAsync(target.data(), work.keys(), target.bytes(),
                                 cudaMemcpyDeviceToDevice, work.stream()));
    });
    if (round > 0) row.seconds.push_back(seconds);
  }
  return row;
}

std::uint64_t count_transactions(ClassicsWork& work, const papers::classics::Classic& classic) {
  const std::vector<unsigned long long> zero{0};
  DeviceBuffer<unsigned long long> counter(zero, work.stream());
  work.renew();
  classic.sort({work.keys(), work.size()}, {work.stream(), counter.data()});
  std::vector<unsigned long long> counted(1);
  counter.copy_to(counted);
  check_cuda(cudaStreamSynchronize(work.stream()));
  return counted[0];
}

Row classic_row(ClassicsWork& work, const papers::classics::Classic& classic, int repetitions) {
  Row row = time_sort(work, classic.name, repetitions, [&] {
    classic.sort({work.keys(), work.size()}, {work.stream(), nullptr});
  });
  row.baseline = true;
  if (row.agrees && work.size() <= most_counted && work.sort_case().kind == SortCase::Kind::uniform)
    row.transactions = count_transactions(work, classic);
  return row;
}

using InPlaceSort = cudaError_t (*)(void*, std::size_t&, std::uint32_t*, std::uint64_t,
                                    cudaStream_t);

Row cub_row(ClassicsWork& work, const char* method, InPlaceSort sort, int repetitions) {
  std::size_t bytes = 0;
  check_cuda(sort(nullptr, bytes, work.keys(), work.size(), work.stream()));
  DeviceBuffer<std::byte> temporary(bytes, work.stream());
  Row row = time_sort(work, method, repetitions, [&] {
    check_cuda(sort(temporary.data(), bytes, work.keys(), work.size(), work.stream()));
  });
  row.baseline = true;
  return row;
}

std::string own_method(SortAlgorithm algorithm) {
  return fmt::format("sortie {}", name(algorithm));
}

/// One of Sortie's chunk sorts on one device.
Row sortie_row(ClassicsWork& work, const Context& context, const multisort::DeviceGroup& group,
               SortAlgorithm algorithm, int repetitions) {
  multisort::ChunkRequest request;
  request.chunks.push_back({work.keys(), nullptr, work.size(), group.ordinal(0)});
  request.options.algorithm = algorithm;
  Row row = time_sort(work, own_method(algorithm), repetitions,
                      [&] { multisort::chunk_sort(algorithm)(context, group, request); });
  if (row.agrees && algorithm == papers::bitonic) {
    const papers::bitonic_network::BitonicTile tile;
    row.transactions = papers::bitonic_network::memory_transactions(
        papers::bitonic_network::plan_bitonic_passes(work.size(), tile), work.size(), tile);
  }
  return row;
}

}  // namespace

std::vector<Row> time_classics_on_cuda(const Context& context,
                                       const std::vector<std::uint64_t>& lengths,
                                       const ClassicsOptions& options, const RowSink& sink) {
  Context quiet = context;
  quiet.report = nullptr;
  const DeviceScope scope(quiet);
  const multisort::DeviceGroup group({quiet.device});
  const auto wanted = [&](std::string_view method) {
    return options.methods.empty() ||
           std::ranges::find(options.methods, method) != options.methods.end();
  };
  std::vector<Row> all;
  const auto measure_case = [&](std::uint64_t n, const SortCase& sort_case) {
    ClassicsWork work(n, sort_case, options.seed, group.stream(0));
    std::vector<Row> rows;
    if (wanted("memcpy")) rows.push_back(copy_row(work, options.repetitions));
    for (const papers::classics::Classic& classic : papers::classics::all())
      if (n <= classic.most_items && wanted(classic.name))
        rows.push_back(classic_row(work, classic, options.repetitions));
    using CubSort = std::pair<const char*, InPlaceSort>;
    for (const auto& [method, sort] : {CubSort("cub merge", baselines::cub_merge_in_place),
                                       CubSort("cub radix", baselines::cub_radix_in_place)})
      if (wanted(method)) rows.push_back(cub_row(work, method, sort, options.repetitions));
    for (const SortAlgorithm algorithm :
         {papers::bitonic, SortAlgorithm::merge, SortAlgorithm::radix})
      if (wanted(own_method(algorithm)))
        rows.push_back(sortie_row(work, quiet, group, algorithm, options.repetitions));
    relate(rows);
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  };
  for (const std::uint64_t n : lengths)
    for (const std::string& name : options.cases) measure_case(n, parse_sort_case(name));
  return all;
}

}  // namespace sortie::bench
