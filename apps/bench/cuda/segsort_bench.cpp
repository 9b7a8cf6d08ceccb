// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/segsort_bench.hpp"

#include <cuda_runtime_api.h>

#include <iterator>
#include <utility>
#include <vector>

#include "apps/bench/cuda/segsort_workload.hpp"
#include "apps/bench/cuda/top_k_bench.hpp"
#include "apps/bench/sort/sort_bench.hpp"
#include "baselines/segsort/cub.hpp"
#include "baselines/segsort/moderngpu.hpp"
#include "baselines/segsort/newer_cub.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"

namespace sortie::bench {
namespace {

Row make_row(const std::string& case_name, const std::string& method, const SegsortWorkload& work) {
  Row row;
  row.case_name = case_name;
  row.method = method;
  row.backend = "cuda";
  row.items = work.items();
  row.unit = work.value_bytes() == 0 ? "Gkeys/s" : "Gpairs/s";
  return row;
}

void put_into(Row& row, TimedSort timed) {
  row.seconds = std::move(timed.seconds);
  row.agrees = timed.agrees;
  row.fault = std::move(timed.fault);
  row.failure = std::move(timed.failure);
}

Row copy_row(const std::string& case_name, SegsortWorkload& work, int repetitions) {
  Row row = make_row(case_name, "memcpy", work);
  row.limit = true;
  row.agrees = true;
  EventPair timer;
  const segsort::DeviceRequest& arrays = work.request();
  for (int round = 0; round <= repetitions; ++round) {
    work.renew(0);
    const double seconds = timer.time(work.stream(), [&] {
      check_cuda(cudaMemcpyAsync(arrays.keys_out, arrays.keys_in, work.key_bytes(),
                                 cudaMemcpyDeviceToDevice, work.stream()));
      if (work.value_bytes() != 0)
        check_cuda(cudaMemcpyAsync(arrays.values_out, arrays.values_in, work.value_bytes(),
                                   cudaMemcpyDeviceToDevice, work.stream()));
    });
    if (round != 0) row.seconds.push_back(seconds);
  }
  return row;
}

Row sortie_row(const std::string& case_name, SegsortWorkload& work, SegsortPolicy policy,
               int repetitions) {
  Row row = make_row(case_name, method_name(policy), work);
  put_into(row, time_sort(work, sortie_sort(policy), {repetitions, true}));
  return row;
}

Row peer_row(const std::string& case_name, const std::string& method, SegsortWorkload& work,
             const TwoPhaseSort& sort, int repetitions) {
  Row row = make_row(case_name, method, work);
  row.baseline = true;
  put_into(row, time_sort(work, sort, {repetitions, false}));
  return row;
}

/// Rows of the peers whose headers the build was given, for the types that they sort.
void add_header_only_peers(const std::string& case_name, SegsortWorkload& work, int repetitions,
                           std::vector<Row>& rows) {
  const segsort::DeviceRequest& request = work.request();
  const std::string version = baselines::newer_cub_version();
  if (!version.empty() && baselines::has_cub_peers(request)) {
    if (key_bytes(request.key_type) >= 4 && !hopeless_for_cub(work))
      rows.push_back(peer_row(case_name, "cub segmented, CCCL " + version, work,
                              baselines::newer_cub_segmented_sort, repetitions));
    if (request.num_segments == 1)
      rows.push_back(peer_row(case_name, "cub radix, CCCL " + version, work,
                              baselines::newer_cub_radix_sort, repetitions));
  }
  if (baselines::moderngpu_sorts(request))
    rows.push_back(
        peer_row(case_name, "moderngpu", work, baselines::moderngpu_segmented_sort, repetitions));
}

std::vector<Row> measure_case(const std::string& name, SegsortWorkload& work,
                              const SegsortOptions& options) {
  std::vector<Row> rows;
  rows.push_back(copy_row(name, work, options.repetitions));
  for (const SegsortPolicy policy : options.policies) {
    rows.push_back(sortie_row(name, work, policy, options.repetitions));
  }
  if (options.has_peers && baselines::has_cub_peers(work.request())) {
    if (hopeless_for_cub(work)) {
      Row& row = rows.emplace_back(make_row(name, "cub segmented", work));
      row.baseline = true;
      row.failure = hopeless_message;
    } else {
      rows.push_back(peer_row(name, "cub segmented", work, baselines::cub_segmented_sort,
                              options.repetitions));
    }
    rows.push_back(peer_row(name, "radix segment+key", work, baselines::cub_radix_by_segment,
                            options.repetitions));
    if (work.request().num_segments == 1) {
      rows.push_back(
          peer_row(name, "cub radix", work, baselines::cub_radix_sort, options.repetitions));
    }
  }
  if (options.has_peers) add_header_only_peers(name, work, options.repetitions, rows);
  relate(rows);
  return rows;
}

}  // namespace

std::vector<Row> segsort_on_cuda(const Context& context, const std::vector<std::string>& cases,
                                 const SegsortOptions& options, const RowSink& sink) {
  const DeviceCall call(context);
  SegsortWorkload work({options.items, options.key, options.value_bytes, options.seed},
                       call.stream);
  std::vector<Row> all;
  for (const std::string& name : cases) {
    work.set_segments(parse_segment_case(name));
    const auto add = [&](std::vector<Row> rows) {
      if (sink) sink(rows);
      std::move(rows.begin(), rows.end(), std::back_inserter(all));
    };
    for (const std::string& keys : options.keys) {
      work.set_keys(parse_sort_case(keys));
      const std::string full_name = keys == "uniform" ? name : name + ", " + keys;
      if (options.top_k.empty()) {
        add(measure_case(full_name, work, options));
      } else {
        measure_top_k(full_name, work, options, add);
      }
    }
  }
  return all;
}

}  // namespace sortie::bench
