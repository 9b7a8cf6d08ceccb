// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "apps/bench/cuda/array_digest.hpp"
#include "apps/bench/spgemm_bench.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/row_patterns.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/device_spgemm_plan.hpp"
#include "sortie/devices.hpp"

namespace sortie::bench {
namespace {

using spgemm::Algorithm;
using spgemm::cuda::DeviceCsr;

/// A method with operands and result in device memory.
template <class Value>
class ResidentMethod {
 public:
  virtual ~ResidentMethod() = default;

  /// Releases its device memory, so that the next method can use it.
  virtual void release() = 0;
  /// Untimed preparation: initialises a library and converts its operands.
  virtual void prepare() = 0;
  /// Timed. Waits for the device only to read sizes; work may be pending on return.
  virtual void run() = 0;
  [[nodiscard]] virtual DeviceCsr<Value> take_result() = 0;
  /// A hash of the result's bits; none of methods that do not promise the same bits in every run.
  [[nodiscard]] virtual std::optional<std::uint64_t> digest() const { return std::nullopt; }

  /// True if run_reporting() adds phases to the report.
  [[nodiscard]] virtual bool reports_phases() const { return false; }
  /// Like run(), with phases in the report.
  virtual void run_reporting(RunReport& /*report*/) { run(); }
};

/// One of Sortie's algorithms, or a baseline that is timed as a whole and reports phases.
template <class Value>
class OwnAlgorithm : public ResidentMethod<Value> {
 public:
  OwnAlgorithm(const DeviceContext& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b,
               Algorithm algorithm)
      : context_(context), a_(a), b_(b), algorithm_(algorithm) {}

  void release() override { result_ = {}; }
  void prepare() override {}
  void run() override { multiply(context_); }
  DeviceCsr<Value> take_result() override { return std::move(result_); }
  [[nodiscard]] std::optional<std::uint64_t> digest() const override {
    if (spgemm::find_baseline(algorithm_) != nullptr) return std::nullopt;
    return array_digest(result_.values,
                        array_digest(result_.col_idx, array_digest(result_.row_ptr)));
  }

  [[nodiscard]] bool reports_phases() const override { return true; }
  void run_reporting(RunReport& report) override {
    Context reporting = context_;
    reporting.report = &report;
    multiply(reporting);
  }

 private:
  void multiply(const Context& context) {
    result_ =
        spgemm::cuda::multiply_on_device(context, view(a_), view(b_), algorithm_, context_.stream);
  }

  const DeviceContext& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  Algorithm algorithm_;
  DeviceCsr<Value> result_;
};

/// Computes the values of C only. The plan and the array of values are created in prepare(),
/// untimed, as the structure is with BaselineMethod.
template <class Value>
class PlanMethod : public ResidentMethod<Value> {
 public:
  PlanMethod(const DeviceContext& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b)
      : context_(context), a_(a), b_(b) {}

  void release() override {
    plan_.reset();
    values_.reset();
  }
  void prepare() override {
    plan_.emplace(context_, view(a_), view(b_), context_.stream);
    values_ = DeviceBuffer<Value>(static_cast<std::size_t>(plan_->nnz()), context_.stream);
  }
  void run() override { plan_->multiply(a_.values.data(), b_.values.data(), values_.data()); }
  DeviceCsr<Value> take_result() override {
    DeviceCsr<Value> c;
    c.rows = plan_->rows();
    c.cols = plan_->cols();
    c.row_ptr = copy_of(plan_->row_ptr());
    c.col_idx = copy_of(plan_->col_idx());
    c.values = std::move(values_);
    return c;
  }
  [[nodiscard]] std::optional<std::uint64_t> digest() const override {
    return array_digest(values_);
  }

 private:
  template <class T>
  [[nodiscard]] DeviceBuffer<T> copy_of(const DeviceBuffer<T>& buffer) const {
    DeviceBuffer<T> copy(buffer.size(), context_.stream);
    if (buffer.size() != 0) {
      check_cuda(cudaMemcpyAsync(copy.data(), buffer.data(), buffer.bytes(),
                                 cudaMemcpyDeviceToDevice, context_.stream));
    }
    return copy;
  }

  const DeviceContext& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  std::optional<spgemm::cuda::SpgemmPlan<Value>> plan_;
  DeviceBuffer<Value> values_;
};

/// A baseline. Conversions of operands and result are not timed.
template <class Value>
class BaselineMethod : public ResidentMethod<Value> {
 public:
  /// \param values_only  prepare() computes the structure, untimed
  BaselineMethod(const DeviceContext& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b,
                 const spgemm::Baseline& baseline, bool values_only)
      : context_(context), a_(a), b_(b), baseline_(baseline), values_only_(values_only) {}

  void release() override { library_.reset(); }
  void prepare() override {
    library_ = baseline_.prepare.of<Value, std::uint32_t>()(context_, view(a_), view(b_));
    if (values_only_) library_->analyse();
  }
  void run() override {
    if (!values_only_) library_->analyse();
    library_->compute();
  }
  DeviceCsr<Value> take_result() override { return library_->take_result(); }

 private:
  const DeviceContext& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  const spgemm::Baseline& baseline_;
  bool values_only_;
  std::unique_ptr<spgemm::DeviceBaseline<Value, std::uint32_t>> library_;
};

/// The methods of one device, whose repetitions are measured alternately.
template <class Value>
class ResidentMethods {
 public:
  /// \param b  the same object as `a` for A * A
  ResidentMethods(const DeviceContext& context, const matrices::Csr<Value>& a,
                  const matrices::Csr<Value>& b)
      : context_(context), a_(spgemm::cuda::to_device<std::uint32_t>(a, context.stream)) {
    if (&a != &b) other_ = spgemm::cuda::to_device<std::uint32_t>(b, context.stream);
    repeats_patterns_ = spgemm::patterns_repeat(a, b, spgemm::min_pattern_products_of_plan);
  }

  void add(Algorithm algorithm, Row row, std::function<bool(const matrices::Csr<Value>&)> check) {
    const spgemm::Baseline* const baseline = spgemm::find_baseline(algorithm);
    if (baseline != nullptr && !baseline->reports_phases) {
      add(std::make_unique<BaselineMethod<Value>>(context_, a_, b(), *baseline, false), row, check);
      if (!baseline->has_structure_step) return;
      add(std::make_unique<BaselineMethod<Value>>(context_, a_, b(), *baseline, true),
          of_values(std::move(row)), std::move(check));
      return;
    }
    add(std::make_unique<OwnAlgorithm<Value>>(context_, a_, b(), algorithm), row, check);
    if (algorithm == (repeats_patterns_ ? Algorithm::pattern : Algorithm::fused))
      add(std::make_unique<PlanMethod<Value>>(context_, a_, b()), of_values(std::move(row)),
          std::move(check));
  }

  [[nodiscard]] std::vector<Row> measured(int repetitions) {
    std::vector<Row> rows = measure(std::move(timed_), repetitions);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].product) rows[i].product->peak_work_space = work_spaces_[i];
    }
    return rows;
  }

 private:
  /// The row for computing values only. It is no baseline, since it is less work than a product.
  static Row of_values(Row row) {
    row.method += " values";
    row.baseline = false;
    return row;
  }

  void add(std::unique_ptr<ResidentMethod<Value>> owner, Row row,
           std::function<bool(const matrices::Csr<Value>&)> check) {
    const std::size_t index = methods_.size();
    ResidentMethod<Value>* const resident = owner.get();
    methods_.push_back(std::move(owner));
    work_spaces_.emplace_back();
    Method& method = timed_.emplace_back();
    method.row = std::move(row);
    method.prepare = [this, resident] { prepare(*resident, false); };
    method.prepare_allocating = [this, resident] { prepare(*resident, true); };
    // Wall time until the device has finished.
    method.run = [this, resident] {
      resident->run();
      wait();
    };
    method.digest = [resident] { return resident->digest().value_or(0); };
    method.check = [this, index, resident, check = std::move(check)] {
      // Memory in use now: operands, C, and what the library keeps for further products.
      const std::uint64_t peak = peak_device_memory(context_.device);
      const std::uint64_t in_use = device_memory_in_use();
      work_spaces_[index] = peak - std::min(peak, in_use);
      return check(spgemm::cuda::to_host<std::int32_t>(resident->take_result()));
    };
    if (resident->reports_phases()) {
      method.run_phases = [this, resident] { return phases_of(*resident); };
    }
  }

  PhaseSeconds phases_of(ResidentMethod<Value>& resident) {
    RunReport report;
    EventPair timer;
    const double all = timer.time(context_.stream, [&] { resident.run_reporting(report); });
    return phase_seconds(report, all);
  }

  void prepare(ResidentMethod<Value>& next, bool empty_pool) {
    for (const auto& method : methods_) method->release();
    wait();
    if (empty_pool) release_unused_device_memory();
    next.prepare();
    wait();
    reset_peak_device_memory(context_.device);
  }

  void wait() const { check_cuda(cudaStreamSynchronize(context_.stream)); }

  const DeviceContext& context_;
  [[nodiscard]] const DeviceCsr<Value>& b() const { return other_ ? *other_ : a_; }

  DeviceCsr<Value> a_;
  std::optional<DeviceCsr<Value>> other_;  ///< B; empty if B is A
  bool repeats_patterns_ = false;          ///< a plan is by patterns
  std::vector<std::unique_ptr<ResidentMethod<Value>>> methods_;
  std::vector<std::optional<std::uint64_t>> work_spaces_;  ///< of each method
  std::vector<Method> timed_;
};

}  // namespace

template <class Value>
std::vector<Row> spgemm_on_device(const Context& context, const matrices::Csr<Value>& a,
                                  const matrices::Csr<Value>& b,
                                  std::vector<SpgemmMethod<Value>> methods, int repetitions) {
  const DeviceCall call(context);
  ResidentMethods<Value> resident(call, a, b);
  for (auto& [algorithm, row, check] : methods) {
    resident.add(algorithm, std::move(row), std::move(check));
  }
  return resident.measured(repetitions);
}

#define SORTIE_INSTANTIATE(Value)                                                         \
  template std::vector<Row> spgemm_on_device(const Context&, const matrices::Csr<Value>&, \
                                             const matrices::Csr<Value>&,                 \
                                             std::vector<SpgemmMethod<Value>>, int);
SORTIE_INSTANTIATE(float)
SORTIE_INSTANTIATE(double)
SORTIE_INSTANTIATE(std::complex<double>)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::bench
