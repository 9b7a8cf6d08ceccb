// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/classics_bench.hpp"
#include "papers/papers.hpp"

#include <cuda_profiler_api.h>
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
  ClassicsWork(std::uint64_t n, bool are_pairs, SortCase sort_case, std::uint64_t seed,
               cudaStream_t stream)
      : keys_(n, stream),
        values_(are_pairs ? n : 0, stream),
        pairs_(are_pairs ? n : 0, stream),
        case_(std::move(sort_case)),
        seed_(seed),
        stream_(stream) {}

  [[nodiscard]] std::uint32_t* keys() { return keys_.data(); }
  [[nodiscard]] std::uint64_t size() const { return keys_.size(); }
  [[nodiscard]] bool are_pairs() const { return pairs_.size() != 0; }
  [[nodiscard]] int value_bytes() const { return are_pairs() ? 4 : 0; }
  [[nodiscard]] std::uint32_t* values() { return values_.data(); }
  /// The pairs as words, between pack() and unpack().
  [[nodiscard]] std::uint64_t* pairs() { return pairs_.data(); }
  void pack() { pack_pairs(range(), pairs(), stream_); }
  void unpack() { unpack_pairs(pairs(), range(), stream_); }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  [[nodiscard]] const SortCase& sort_case() const { return case_; }

  /// Generates the keys of a round.
  void renew(int round = 0) {
    fill_range(range(), case_, size(), KeyType::u32, value_bytes(),
               seed_ + static_cast<std::uint64_t>(round), stream_);
    checksum_ = look().checksum;
  }

  /// The error in the sorted keys; empty if there is none.
  [[nodiscard]] std::string fault() {
    const RangeCheck found = look();
    if (found.out_of_order != 0) return fmt::format("{} keys out of order", found.out_of_order);
    return found.checksum == checksum_ ? "" : "keys were lost or changed";
  }

 private:
  [[nodiscard]] SortRange range() { return {keys_.data(), values_.data(), 0, size()}; }
  [[nodiscard]] RangeCheck look() {
    return check_range(range(), KeyType::u32, value_bytes(), stream_);
  }

  DeviceBuffer<std::uint32_t> keys_;
  DeviceBuffer<std::uint32_t> values_;
  DeviceBuffer<std::uint64_t> pairs_;
  SortCase case_;
  std::uint64_t seed_;
  cudaStream_t stream_;
  std::uint64_t checksum_ = 0;
};

Row make_row(const ClassicsWork& work, std::string method) {
  Row row;
  row.case_name =
      fmt::format("2^{} {}", std::bit_width(work.size()) - 1, work.are_pairs() ? "pairs" : "keys");
  if (work.sort_case().kind != SortCase::Kind::uniform)
    row.case_name += ", " + work.sort_case().name;
  row.method = std::move(method);
  row.backend = "cuda";
  row.items = work.size();
  row.unit = work.are_pairs() ? "Gpairs/s" : "Gkeys/s";
  return row;
}

/// Sorts once untimed and `repetitions` times timed, each time with new keys. Every result is
/// checked. Times are measured by events on the stream. The untimed sort is what a profiler records
/// that waits for the start (`ncu --profile-from-start off`).
/// \param packed  whether it sorts pairs as words, which are written before and read after it
/// \param finish  ends what `sort` has begun, untimed
Row time_sort(ClassicsWork& work, std::string method, int repetitions, bool packed,
              const std::function<void()>& sort, const std::function<void()>& finish = {}) {
  Row row = make_row(work, std::move(method));
  try {
    EventPair timer;
    for (int round = 0; round <= repetitions; ++round) {
      work.renew(round);
      if (packed) work.pack();
      if (round == 0) check_cuda(cudaProfilerStart());
      const double seconds = timer.time(work.stream(), sort);
      if (round == 0) check_cuda(cudaProfilerStop());
      if (finish) finish();
      if (packed) work.unpack();
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
  const std::uint64_t bytes = work.size() * (work.are_pairs() ? 8 : 4);
  const DeviceBuffer<std::byte> source(bytes, work.stream());
  DeviceBuffer<std::byte> target(bytes, work.stream());
  Row row = make_row(work, "memcpy");
  row.limit = true;
  row.agrees = true;
  EventPair timer;
  for (int round = 0; round <= repetitions; ++round) {
    const double seconds = timer.time(work.stream(), [&] {
      check_cuda(cudaMemcpyAsync(target.data(), source.data(), bytes, cudaMemcpyDeviceToDevice,
                                 work.stream()));
    });
    if (round > 0) row.seconds.push_back(seconds);
  }
  return row;
}

/// Sorts the keys, or the pairs as words.
void sort_by(const papers::classics::Classic& classic, ClassicsWork& work,
             const papers::classics::Run& run) {
  if (work.are_pairs()) {
    classic.sort_pairs({work.pairs(), work.size()}, run);
  } else {
    classic.sort({work.keys(), work.size()}, run);
  }
}

std::uint64_t count_transactions(ClassicsWork& work, const papers::classics::Classic& classic) {
  const std::vector<unsigned long long> zero{0};
  DeviceBuffer<unsigned long long> counter(zero, work.stream());
  work.renew();
  if (work.are_pairs()) work.pack();
  sort_by(classic, work, {work.stream(), counter.data()});
  std::vector<unsigned long long> counted(1);
  counter.copy_to(counted);
  check_cuda(cudaStreamSynchronize(work.stream()));
  return counted[0];
}

Row classic_row(ClassicsWork& work, const papers::classics::Classic& classic, int repetitions) {
  Row row = time_sort(work, classic.name, repetitions, work.are_pairs(), [&] {
    sort_by(classic, work, {work.stream(), nullptr});
  });
  row.baseline = true;
  if (row.agrees && work.size() <= most_counted && work.sort_case().kind == SortCase::Kind::uniform)
    row.transactions = count_transactions(work, classic);
  return row;
}

/// \param sort  sort(temporary, bytes, items, n, stream) of keys, or of pairs as words
template <class Sort>
Row cub_row(ClassicsWork& work, const char* method, const Sort& sort, int repetitions) {
  const auto sort_items = [&](void* temporary, std::size_t& bytes) {
    check_cuda(work.are_pairs() ? sort(temporary, bytes, work.pairs(), work.size(), work.stream())
                                : sort(temporary, bytes, work.keys(), work.size(), work.stream()));
  };
  std::size_t bytes = 0;
  sort_items(nullptr, bytes);
  DeviceBuffer<std::byte> temporary(bytes, work.stream());
  Row row = time_sort(work, method, repetitions, work.are_pairs(),
                      [&] { sort_items(temporary.data(), bytes); });
  row.baseline = true;
  return row;
}

/// CUB's radix sort by the lowest bits of the keys alone, for Fig. 8 of Ilic (RMG Sort, 2022). A stable
/// sort by the other bits follows, so that keys are in order only if the first sort was right.
Row cub_bits_row(ClassicsWork& work, int bits, int repetitions) {
  std::size_t bytes = 0;
  check_cuda(baselines::cub_radix_in_place<std::uint32_t>(nullptr, bytes, nullptr, work.size(),
                                                          work.stream()));
  DeviceBuffer<std::byte> temporary(bytes, work.stream());
  const auto sort = [&](int begin_bit, int end_bit) {
    check_cuda(baselines::cub_radix_in_place(temporary.data(), bytes, work.keys(), work.size(),
                                             work.stream(), begin_bit, end_bit));
  };
  Row row = time_sort(
      work, fmt::format("cub radix, {} bits", bits), repetitions, false, [&] { sort(0, bits); },
      [&] { sort(bits, 32); });
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
  request.chunks.push_back({work.keys(), work.values(), work.size(), group.ordinal(0)});
  request.value_bytes = work.value_bytes();
  request.options.algorithm = algorithm;
  Row row = time_sort(work, own_method(algorithm), repetitions, false,
                      [&] { multisort::chunk_sort(algorithm)(context, group, request); });
  if (row.agrees && algorithm == papers::bitonic && !work.are_pairs()) {
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
    ClassicsWork work(n, options.are_pairs, sort_case, options.seed, group.stream(0));
    std::vector<Row> rows;
    if (wanted("memcpy")) rows.push_back(copy_row(work, options.repetitions));
    for (const papers::classics::Classic& classic : papers::classics::all())
      if (n <= classic.most_items && wanted(classic.name))
        rows.push_back(classic_row(work, classic, options.repetitions));
    if (wanted("cub merge"))
      rows.push_back(cub_row(
          work, "cub merge",
          [](void* temporary, std::size_t& bytes, auto* items, std::uint64_t count,
             cudaStream_t stream) {
            return baselines::cub_merge_in_place(temporary, bytes, items, count, stream);
          },
          options.repetitions));
    if (wanted("cub radix"))
      rows.push_back(cub_row(
          work, "cub radix",
          [](void* temporary, std::size_t& bytes, auto* items, std::uint64_t count,
             cudaStream_t stream) {
            return baselines::cub_radix_in_place(temporary, bytes, items, count, stream);
          },
          options.repetitions));
    // Only if they are named.
    for (const int bits : {4, 8, 12, 16, 20, 24, 28})
      if (!options.methods.empty() && !options.are_pairs &&
          wanted(fmt::format("cub radix, {} bits", bits)))
        rows.push_back(cub_bits_row(work, bits, options.repetitions));
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
