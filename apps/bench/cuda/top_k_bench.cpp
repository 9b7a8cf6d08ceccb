// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/cuda/top_k_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/bench/cuda/top_k_data.hpp"
#include "baselines/segsort/cub.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_top_k.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

Row row_of(const SegsortWorkload& work, const char* method) {
  Row row;
  row.method = method;
  row.backend = "cuda";
  row.items = work.items();
  row.unit = work.value_bytes() == 0 ? "Gkeys/s" : "Gpairs/s";
  return row;
}

Row read_row(SegsortWorkload& work, int repetitions) {
  Row row = row_of(work, "read keys");
  row.limit = true;
  row.agrees = true;
  DeviceBuffer<unsigned long long> sum(1, work.stream());
  EventPair timer;
  for (int round = 0; round <= repetitions; ++round) {
    work.renew(0);
    const double seconds = timer.time(work.stream(), [&] {
      read_once(work.request().keys_in, work.key_bytes(), sum.data(), work.stream());
    });
    if (round != 0) row.seconds.push_back(seconds);
  }
  return row;
}

Row sort_row(SegsortWorkload& work, const char* method, const TwoPhaseSort& sort, int repetitions) {
  Row row = row_of(work, method);
  row.baseline = true;
  TimedSort timed = time_sort(work, sort, {repetitions, false});
  row.seconds = std::move(timed.seconds);
  row.agrees = timed.agrees;
  row.fault = std::move(timed.fault);
  row.failure = std::move(timed.failure);
  return row;
}

/// The selection of the k least keys. Results of segment i begin at i * k, or, if the arrays were
/// too small for that, at the begin of the segment.
segsort::DeviceTopKRequest selection_of(const segsort::DeviceRequest& sort, std::int64_t k) {
  segsort::DeviceTopKRequest top;
  top.key_type = sort.key_type;
  top.value_bytes = sort.value_bytes;
  top.offset_bytes = sort.offset_bytes;
  top.keys_in = sort.keys_in;
  top.values_in = sort.values_in;
  top.num_items = sort.num_items;
  top.num_segments = sort.num_segments;
  top.begin_offsets = sort.begin_offsets;
  top.end_offsets = sort.end_offsets;
  const bool compact = k > sort.num_items / sort.num_segments;
  top.output_offsets = compact ? sort.begin_offsets : nullptr;
  top.num_outputs = compact ? sort.num_items : k * sort.num_segments;
  top.k = k;
  top.order = Order::ascending;
  return top;
}

Row top_row(SegsortWorkload& work, std::int64_t k, int repetitions) {
  Row row = row_of(work, "sortie top-k");
  try {
    segsort::DeviceTopKRequest top = selection_of(work.request(), k);
    DeviceBuffer<std::byte> keys(work.key_bytes(), work.stream());
    DeviceBuffer<std::byte> values(work.value_bytes(), work.stream());
    top.keys_out = keys.data();
    top.values_out = values.data();
    const TwoPhaseSort sort = sortie_sort(SegsortPolicy::tuned);
    std::size_t bytes = 0;
    std::size_t sort_bytes = 0;
    check_cuda(segsort::top_k_on_device(nullptr, bytes, top, work.stream()));
    check_cuda(sort(nullptr, sort_bytes, work.request(), work.stream()));
    DeviceBuffer<std::byte> temporary(std::max(bytes, sort_bytes), work.stream());
    EventPair timer;
    for (int round = 0; round <= repetitions; ++round) {
      work.renew(static_cast<std::uint64_t>(round));
      check_cuda(cudaMemsetAsync(keys.data(), 0xee, keys.bytes(), work.stream()));
      const double seconds = timer.time(work.stream(), [&] {
        check_cuda(segsort::top_k_on_device(temporary.data(), bytes, top, work.stream()));
      });
      check_cuda(sort(temporary.data(), sort_bytes, work.request(), work.stream()));
      const unsigned long long wrong = count_wrong_results(work.request(), top, work.stream());
      row.agrees = wrong == 0;
      if (!row.agrees) {
        row.fault = fmt::format("{} results differ from those of the sort", wrong);
        break;
      }
      if (round != 0) row.seconds.push_back(seconds);
    }
  } catch (const Error& error) {
    row.failure = error.what();
  }
  return row;
}

}  // namespace

void measure_top_k(const std::string& name, SegsortWorkload& work, const SegsortOptions& options,
                   const std::function<void(std::vector<Row>)>& sink) {
  std::vector<Row> common;
  common.push_back(read_row(work, options.repetitions));
  common.push_back(
      sort_row(work, "sortie sort", sortie_sort(SegsortPolicy::tuned), options.repetitions));
  if (options.has_peers && baselines::has_cub_peers(work.request())) {
    const bool one = work.request().num_segments == 1;
    if (one || !hopeless_for_cub(work))
      common.push_back(
          one ? sort_row(work, "cub radix", baselines::cub_radix_sort, options.repetitions)
              : sort_row(work, "cub segmented", baselines::cub_segmented_sort,
                         options.repetitions));
  }
  for (const std::int64_t k : options.top_k) {
    std::vector<Row> rows = common;
    rows.insert(rows.begin() + 1, top_row(work, k, options.repetitions));
    for (Row& row : rows) row.case_name = fmt::format("{}, k {}", name, k);
    relate(rows);
    sink(std::move(rows));
  }
}

}  // namespace sortie::bench
