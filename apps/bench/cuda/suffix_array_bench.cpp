// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "apps/bench/suffix_array_bench.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::bench {
namespace {

using suffix_array::ConstructionAlgorithm;
using suffix_array::cuda::DeviceText;

template <class Pos>
DeviceBuffer<Pos> build_by(const ConstructionAlgorithm& algorithm, const DeviceContext& context,
                           const DeviceText& text) {
  const auto build = std::get<suffix_array::BuildOnDevice<Pos>>(algorithm.build_on_device);
  if (build != nullptr) return build(context, text, context.stream);
  throw Error(ErrorKind::unavailable,
              std::string(algorithm.name) + ": found 64-bit positions, expected 32 bits");
}

/// A text and its suffix array in device memory. The context must outlive it.
template <class Pos>
class ResidentText {
 public:
  ResidentText(const DeviceContext& context, const suffix_array::TextView& text,
               const ConstructionAlgorithm& algorithm)
      : context_(context),
        algorithm_(algorithm),
        symbols_(text.symbols, context.stream),
        separators_(text.separators, context.stream) {
    wait();
  }

  /// Overwrites free memory of the pool, so that an older result cannot pass as the next one.
  void prepare() {
    suffixes_ = {};
    DeviceBuffer<std::byte> poison(sizeof(Pos) * symbols_.size(), context_.stream);
    if (poison.size() != 0)
      check_cuda(cudaMemsetAsync(poison.data(), 0xcd, poison.bytes(), context_.stream));
    poison.reset();
    wait();
  }
  void run() {
    suffixes_ = build_by<Pos>(algorithm_, context_, text());
    wait();
  }
  /// One more construction, which waits after each phase.
  PhaseSeconds run_phases() {
    RunReport report;
    DeviceContext reported = context_;
    reported.report = &report;
    suffixes_ = build_by<Pos>(algorithm_, reported, text());
    wait();
    PhaseSeconds phases;
    for (const RunReport::Phase& phase : report.phases())
      phases.emplace_back(phase.name, phase.seconds);
    return phases;
  }
  void check() const {
    suffix_array::cuda::check_on_device<Pos>(
        context_, text(), std::span<const Pos>(suffixes_.data(), suffixes_.size()),
        context_.stream);
  }

 private:
  [[nodiscard]] DeviceText text() const {
    return {{symbols_.data(), symbols_.size()}, {separators_.data(), separators_.size()}};
  }
  void wait() const { check_cuda(cudaStreamSynchronize(context_.stream)); }

  const DeviceContext& context_;
  ConstructionAlgorithm algorithm_;
  DeviceBuffer<std::uint8_t> symbols_;
  DeviceBuffer<std::uint64_t> separators_;
  DeviceBuffer<Pos> suffixes_;
};

}  // namespace

template <class Pos>
std::vector<Row> suffix_array_on_device(const Context& context, const suffix_array::TextView& text,
                                        std::vector<DeviceRow> rows, int repetitions) {
  const DeviceCall call(context);
  std::vector<Method> methods;
  for (DeviceRow& row : rows) {
    const auto resident = std::make_shared<ResidentText<Pos>>(call, text, row.algorithm);
    Method method;
    method.row = std::move(row.row);
    method.prepare = [resident] { resident->prepare(); };
    method.run = [resident] { resident->run(); };
    method.check = [resident] {
      resident->check();
      return true;
    };
    if (!row.algorithm.is_own) method.run_phases = [resident] { return resident->run_phases(); };
    methods.push_back(std::move(method));
  }
  return measure(std::move(methods), repetitions);
}

template std::vector<Row> suffix_array_on_device<std::uint32_t>(const Context&,
                                                                const suffix_array::TextView&,
                                                                std::vector<DeviceRow>, int);
template std::vector<Row> suffix_array_on_device<std::uint64_t>(const Context&,
                                                                const suffix_array::TextView&,
                                                                std::vector<DeviceRow>, int);

}  // namespace sortie::bench
