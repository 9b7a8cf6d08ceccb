// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/cuda/segsort_workload.hpp"
#include "papers/ics17/sort_ics17.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/bench/timing.hpp"
#include "baselines/segsort/cub.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

constexpr double slow_seconds = 0.05;
constexpr std::size_t repetitions_when_slow = 2;
constexpr double hopeless_seconds = 2;
// One block of CUB's segmented sort on an H200 sorts 0.17 * 10^9 pairs of u32 per second, and half
// as many 64-bit pairs.
constexpr double cub_block_items_a_second = 0.17e9;

std::size_t bytes_each(KeyType type) {
  return static_cast<std::size_t>(key_bits(type)) / 8;
}

std::string describe(const ResultFaults& faults) {
  if (faults.none()) return "";
  std::string text = fmt::format(
      "{} keys out of order, {} values from elsewhere, {} keys that are not their values' own, {} "
      "values repeated, {} keys of the input overwritten",
      faults.unsorted, faults.foreign, faults.mismatched, faults.repeated, faults.overwritten);
  if (faults.other_keys()) text += ", other keys than before";
  if (faults.first != ~0ULL) text += fmt::format("; first at place {}", faults.first);
  return text;
}

// True if further repetitions are not worthwhile.
bool is_enough(const std::vector<double>& seconds, int repetitions) {
  if (seconds.size() >= static_cast<std::size_t>(repetitions)) return true;
  return seconds.size() >= repetitions_when_slow &&
         *std::min_element(seconds.begin(), seconds.end()) > slow_seconds;
}

}  // namespace

const char* const hopeless_message = "not measured: one run takes more than 2 s";

SegsortWorkload::SegsortWorkload(const WorkloadOptions& options, cudaStream_t stream)
    : options_(options), stream_(stream) {
  require_countable(options.value_bytes, options.items);
  const std::size_t keys = options.items * bytes_each(options.key);
  const std::size_t values = options.items * static_cast<std::size_t>(options.value_bytes);
  keys_in_ = DeviceBuffer<std::byte>(keys, stream);
  keys_out_ = DeviceBuffer<std::byte>(keys, stream);
  values_in_ = DeviceBuffer<std::byte>(values, stream);
  values_out_ = DeviceBuffer<std::byte>(values, stream);
  ids_ = DeviceBuffer<std::uint32_t>(options.items, stream);
  request_.key_type = options.key;
  request_.value_bytes = options.value_bytes;
  request_.keys_in = keys_in_.data();
  request_.keys_out = keys_out_.data();
  request_.values_in = values_in_.data();
  request_.values_out = values_out_.data();
  request_.num_items = static_cast<std::int64_t>(options.items);
}

void SegsortWorkload::set_segments(const SegmentShape& shape) {
  segments_ = {};  // frees the memory for the next segments
  segments_ = make_device_segments(shape, options_.items, options_.seed, stream_);
  longest_ = shape.longest_of(options_.items);
  distribution_.ids = ids_.data();
  distribution_.offsets = segments_.offsets.data();
  distribution_.offset_bytes = segments_.offset_bytes;
  request_.offset_bytes = segments_.offset_bytes;
  request_.num_segments = segments_.count;
  request_.begin_offsets = segments_.offsets.data();
  request_.end_offsets = segments_.offsets.data() + segments_.offset_bytes;
  std::size_t bytes = 0;
  check_cuda(baselines::number_segments(nullptr, bytes, segments_.offsets.data(),
                                        segments_.offset_bytes, segments_.count, ids_.data(),
                                        options_.items, stream_));
  DeviceBuffer<std::byte> temporary(bytes, stream_);
  check_cuda(baselines::number_segments(temporary.data(), bytes, segments_.offsets.data(),
                                        segments_.offset_bytes, segments_.count, ids_.data(),
                                        options_.items, stream_));
}

void SegsortWorkload::renew(std::uint64_t round) {
  seed_ = options_.seed + round;
  fill_random_keys(options_.key, keys_in_.data(), options_.items, seed_, stream_, distribution_);
  fill_index_values(options_.value_bytes, values_in_.data(), options_.items, stream_);
  check_cuda(cudaMemsetAsync(keys_out_.data(), 0xee, keys_out_.bytes(), stream_));
  if (values_out_.size() != 0)
    check_cuda(cudaMemsetAsync(values_out_.data(), 0xee, values_out_.bytes(), stream_));
}

std::string SegsortWorkload::fault() {
  return describe(
      check_result({options_.key, options_.value_bytes, options_.items, seed_, keys_in_.data(),
                    keys_out_.data(), values_out_.data(), ids_.data(), distribution_},
                   stream_));
}

TwoPhaseSort sortie_sort(SegsortPolicy policy) {
  const segsort::Policy chosen =
      policy == SegsortPolicy::ics17 ? papers::ics17 : segsort::Policy::tuned;
  return [chosen](void* temporary, std::size_t& bytes, const segsort::DeviceRequest& request,
                  cudaStream_t stream) {
    segsort::DeviceRequest with_policy = request;
    with_policy.policy = chosen;
    return segsort::sort_on_device(temporary, bytes, with_policy, stream);
  };
}

TimedSort time_sort(SegsortWorkload& work, const TwoPhaseSort& sort, const TimingOptions& options) {
  TimedSort result;
  try {
    std::size_t bytes = 0;
    check_cuda(sort(nullptr, bytes, work.request(), work.stream()));
    DeviceBuffer<std::byte> temporary(bytes, work.stream());
    EventPair timer;
    for (std::uint64_t round = 0; round == 0 || !is_enough(result.seconds, options.repetitions);
         ++round) {
      work.renew(round);
      const double seconds = timer.time(work.stream(), [&] {
        check_cuda(sort(temporary.data(), bytes, work.request(), work.stream()));
      });
      if (round == 0 || options.check_all) {
        result.fault = work.fault();
        result.agrees = result.fault.empty();
        if (!result.agrees) break;
      }
      if (round != 0) {
        result.seconds.push_back(seconds);
      } else if (seconds > hopeless_seconds) {
        result.failure = hopeless_message;
        break;
      }
    }
  } catch (const Error& error) {
    result.failure = error.what();
  }
  return result;
}

bool hopeless_for_cub(const SegsortWorkload& work) {
  const double words = static_cast<double>(bytes_each(work.request().key_type)) / 4;
  return static_cast<double>(work.longest()) * words > hopeless_seconds * cub_block_items_a_second;
}

void time_kernel(KernelTime& time, SegsortWorkload& work, std::uint64_t length,
                 const TwoPhaseSort& sort, int repetitions) {
  TimedSort timed = time_sort(work, sort, {repetitions, false});
  time.length = length;
  time.seconds = timed.agrees ? median(std::move(timed.seconds)) : 0;
  time.agrees = timed.agrees;
  time.fault = std::move(timed.fault);
  time.failure = std::move(timed.failure);
}

}  // namespace sortie::bench
