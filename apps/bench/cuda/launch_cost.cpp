// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/launch_cost.hpp"

#include <cuda_runtime_api.h>

#include <functional>

#include "apps/bench/cuda/launch_kernels.hpp"
#include "apps/bench/cuda/segsort_workload.hpp"
#include "apps/bench/timing.hpp"
#include "baselines/segsort/cub.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

constexpr int timed_rounds = 20;

using Call = std::function<void()>;

/// A separate stream: the default stream cannot be captured.
class OwnStream {
 public:
  OwnStream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~OwnStream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

void call_all(const Call& call) {
  for (int i = 0; i < launch_calls; ++i) call();
}

/// 100 calls as one graph.
class CapturedCalls {
 public:
  CapturedCalls(cudaStream_t stream, const Call& call) : stream_(stream) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      call_all(call);
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream, &graph_));  // the stream is used again
      destroy();
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream, &graph_));
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph_, 0);
    if (status != cudaSuccess) destroy();
    check_cuda(status);
  }
  ~CapturedCalls() { destroy(); }
  CapturedCalls(const CapturedCalls&) = delete;
  CapturedCalls& operator=(const CapturedCalls&) = delete;

  void replay() { check_cuda(cudaGraphLaunch(executable_, stream_)); }

 private:
  void destroy() {
    if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
    if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
    executable_ = nullptr;
    graph_ = nullptr;
  }

  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

/// Seconds per call of a graph of 100 calls.
double time_graph(cudaStream_t stream, CapturedCalls& calls) {
  EventPair timer;
  std::vector<double> seconds;
  for (int round = 0; round < timed_rounds; ++round) {
    // A replay before the timed one keeps the device busy while the host submits, so the time is
    // that of the device and excludes the submission.
    calls.replay();
    seconds.push_back(timer.time(stream, [&] { calls.replay(); }) / launch_calls);
  }
  return median(std::move(seconds));
}

/// Seconds per call of 100 successive calls, including the host's part.
double time_plain(cudaStream_t stream, const Call& call) {
  EventPair timer;
  std::vector<double> seconds;
  for (int round = 0; round < timed_rounds; ++round) {
    check_cuda(cudaStreamSynchronize(stream));
    seconds.push_back(timer.time(stream, [&] { call_all(call); }) / launch_calls);
  }
  return median(std::move(seconds));
}

/// Measures one call in both ways. The first call is not captured: it loads modules, which is not
/// permitted during capture. \param fault  runs the call on new input and checks the result
LaunchCost measure_call(const std::string& method, cudaStream_t stream, bool as_graph,
                        const Call& call, const Call& renew,
                        const std::function<std::string()>& fault) {
  LaunchCost cost;
  cost.method = method;
  try {
    renew();
    call();
    check_cuda(cudaStreamSynchronize(stream));
    cost.plain_seconds = time_plain(stream, call);
    if (as_graph) {
      CapturedCalls calls(stream, call);
      cost.graph_seconds = time_graph(stream, calls);
      renew();
      calls.replay();
    }
    cost.fault = fault();
    cost.agrees = cost.fault.empty();
  } catch (const Error& error) {
    cost.failure = error.what();
  }
  return cost;
}

}  // namespace

std::vector<LaunchCost> launch_costs_on_cuda(const Context& context,
                                             const LaunchCostOptions& options) {
  const DeviceScope scope(context);
  const OwnStream own;
  const cudaStream_t stream = own.get();
  SegsortWorkload work(
      {launch_segments * launch_segment_length, options.key, options.value_bytes, options.seed},
      stream);
  work.set_segments({.kind = SegmentShape::Kind::equal, .length = launch_segment_length});

  std::uint64_t round = 0;
  const Call renew = [&] { work.renew(round++); };
  const auto nothing_to_check = [] { return std::string(); };
  std::vector<LaunchCost> costs;
  costs.push_back(measure_call(
      "empty kernel", stream, true, [&] { check_cuda(launch_empty_kernel(stream)); }, renew,
      nothing_to_check));
  costs.push_back(measure_call(
      "copy kernel", stream, true, [&] { check_cuda(launch_copy_kernel(work.request(), stream)); },
      renew, nothing_to_check));

  const auto measure_sort = [&](const std::string& method, const TwoPhaseSort& sort,
                                bool as_graph) {
    std::size_t bytes = 0;
    check_cuda(sort(nullptr, bytes, work.request(), stream));
    DeviceBuffer<std::byte> temporary(bytes, stream);
    costs.push_back(measure_call(
        method, stream, as_graph,
        [&] { check_cuda(sort(temporary.data(), bytes, work.request(), stream)); }, renew,
        [&] { return work.fault(); }));
  };
  for (const SegsortPolicy policy : options.policies) {
    measure_sort(method_name(policy), sortie_sort(policy), true);
  }
  if (baselines::has_cub_peers(work.request()))
    measure_sort("cub segmented", baselines::cub_segmented_sort, false);
  return costs;
}

}  // namespace sortie::bench
