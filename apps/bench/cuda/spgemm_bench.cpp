#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sortie/apps/bench/spgemm_bench.hpp"
#include "sortie/apps/spgemm/cuda/cusp_product.hpp"
#include "sortie/apps/spgemm/cuda/cusparse_product.hpp"
#include "sortie/apps/spgemm/cuda/cusparse_reuse.hpp"
#include "sortie/apps/spgemm/cuda/device_multiply.hpp"
#include "sortie/core/cuda/device_pool.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/devices.hpp"

namespace sortie::bench {
namespace {

using spgemm::Algorithm;
using spgemm::cuda::CusparseProduct;
using spgemm::cuda::CusparseReuse;
using spgemm::cuda::DeviceCsr;

/// A method with its operand and result on the device.
template <class Value>
class ResidentMethod {
 public:
  virtual ~ResidentMethod() = default;

  /// Lets go what it holds on the device, so that it takes no memory from the next method.
  virtual void release() = 0;
  /// What is not timed: starts a library, and gives it what it is to have.
  virtual void prepare() = 0;
  /// Waits for the device where sizes must be known, and may leave work behind.
  virtual void run() = 0;
  [[nodiscard]] virtual DeviceCsr<Value> take_result() = 0;
};

template <class Value>
class OwnAlgorithm : public ResidentMethod<Value> {
 public:
  OwnAlgorithm(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b,
               Algorithm algorithm)
      : context_(context), a_(a), b_(b), algorithm_(algorithm) {}

  void release() override { result_ = {}; }
  void prepare() override {}
  void run() override { result_ = spgemm::cuda::multiply_on_device(context_, a_, b_, algorithm_); }
  DeviceCsr<Value> take_result() override { return std::move(result_); }

 private:
  const Context& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  Algorithm algorithm_;
  DeviceCsr<Value> result_;
};

template <class Value>
class CusparseMethod : public ResidentMethod<Value> {
 public:
  CusparseMethod(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b,
                 Algorithm algorithm)
      : context_(context), a_(a), b_(b), algorithm_(algorithm) {}

  void release() override { library_.reset(); }
  void prepare() override { library_.emplace(context_, a_, b_); }
  void run() override { library_->multiply(algorithm_); }
  DeviceCsr<Value> take_result() override { return library_->take_result(); }

 private:
  const Context& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  Algorithm algorithm_;
  std::optional<CusparseProduct<Value>> library_;
};

template <class Value>
class CusparseReuseMethod : public ResidentMethod<Value> {
 public:
  /// \param values_only  the structure is found in prepare(), untimed
  CusparseReuseMethod(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b,
                      bool values_only)
      : context_(context), a_(a), b_(b), values_only_(values_only) {}

  void release() override { library_.reset(); }
  void prepare() override {
    library_.emplace(context_, a_, b_);
    if (values_only_) library_->analyse();
  }
  void run() override {
    if (!values_only_) library_->analyse();
    library_->compute();
  }
  DeviceCsr<Value> take_result() override { return library_->take_result(); }

 private:
  const Context& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  bool values_only_;
  std::optional<CusparseReuse<Value>> library_;
};

#ifdef SORTIE_HAVE_CUSP
template <class Value>
class CuspMethod : public ResidentMethod<Value> {
 public:
  CuspMethod(const Context& context, const DeviceCsr<Value>& a, const DeviceCsr<Value>& b)
      : context_(context), a_(a), b_(b) {}

  void release() override { library_.reset(); }
  void prepare() override { library_.emplace(context_, a_, b_); }
  void run() override { library_->multiply(); }
  DeviceCsr<Value> take_result() override { return library_->take_result(); }

 private:
  const Context& context_;
  const DeviceCsr<Value>& a_;
  const DeviceCsr<Value>& b_;
  std::optional<spgemm::cuda::CuspProduct<Value>> library_;
};
#endif

/// The methods that are measured by turns on one device.
template <class Value>
class ResidentMethods {
 public:
  /// \param b  the same object as a where the product is a square
  ResidentMethods(const Context& context, const matrices::Csr<Value>& a,
                  const matrices::Csr<Value>& b)
      : context_(context), a_(spgemm::cuda::to_device<std::uint32_t>(a, context.stream)) {
    if (&a != &b) other_ = spgemm::cuda::to_device<std::uint32_t>(b, context.stream);
  }

  void add(Algorithm algorithm, Row row, std::function<bool(const matrices::Csr<Value>&)> check) {
#ifdef SORTIE_HAVE_CUSP
    if (algorithm == Algorithm::cusp) {
      add(std::make_unique<CuspMethod<Value>>(context_, a_, b()), std::move(row), std::move(check));
      return;
    }
#endif
    if (algorithm == Algorithm::cusparse_reuse) {
      add(std::make_unique<CusparseReuseMethod<Value>>(context_, a_, b(), false), row, check);
      // Less work than a product, so nothing that products are compared with.
      row.method += " values";
      row.baseline = false;
      add(std::make_unique<CusparseReuseMethod<Value>>(context_, a_, b(), true), std::move(row),
          std::move(check));
    } else if (algorithm == Algorithm::fused || algorithm == Algorithm::essc ||
               algorithm == Algorithm::esc) {
      add(std::make_unique<OwnAlgorithm<Value>>(context_, a_, b(), algorithm), std::move(row),
          std::move(check));
    } else {
      add(std::make_unique<CusparseMethod<Value>>(context_, a_, b(), algorithm), std::move(row),
          std::move(check));
    }
  }

  [[nodiscard]] std::vector<Row> measured(int repetitions) {
    std::vector<Row> rows = measure(std::move(timed_), repetitions);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].product) rows[i].product->peak_work_space = work_spaces_[i];
    }
    return rows;
  }

 private:
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
    // The time that counts is that on the wall until the device has done all.
    method.run = [this, resident] {
      resident->run();
      wait();
    };
    method.check = [this, index, resident, check = std::move(check)] {
      // In use now: operands, C, and what the library keeps for further products.
      const std::uint64_t peak = peak_device_memory(context_.device);
      const std::uint64_t in_use = device_memory_in_use();
      work_spaces_[index] = peak - std::min(peak, in_use);
      return check(spgemm::cuda::to_host<std::int32_t>(resident->take_result()));
    };
  }

  void prepare(ResidentMethod<Value>& next, bool empty_pool) {
    for (const auto& method : methods_) method->release();
    wait();
    if (empty_pool) release_unused_device_memory();
    next.prepare();
    wait();
    reset_peak_device_memory(context_.device);
  }

  void wait() const {
    check_cuda(cudaStreamSynchronize(context_.stream));
  }

  const Context& context_;
  [[nodiscard]] const DeviceCsr<Value>& b() const {
    return other_ ? *other_ : a_;
  }

  DeviceCsr<Value> a_;
  std::optional<DeviceCsr<Value>> other_;  ///< without it B is A
  std::vector<std::unique_ptr<ResidentMethod<Value>>> methods_;
  std::vector<std::optional<std::uint64_t>> work_spaces_;  ///< of each method
  std::vector<Method> timed_;
};

}  // namespace

template <class Value>
std::vector<Row> spgemm_on_device(const Context& context, const matrices::Csr<Value>& a,
                                  const matrices::Csr<Value>& b,
                                  std::vector<SpgemmMethod<Value>> methods, int repetitions) {
  const DeviceScope scope(context);
  ResidentMethods<Value> resident(context, a, b);
  for (auto& [algorithm, row, check] : methods) {
    resident.add(algorithm, std::move(row), std::move(check));
  }
  return resident.measured(repetitions);
}

template std::vector<Row> spgemm_on_device(const Context&, const matrices::Csr<float>&,
                                           const matrices::Csr<float>&,
                                           std::vector<SpgemmMethod<float>>, int);
template std::vector<Row> spgemm_on_device(const Context&, const matrices::Csr<double>&,
                                           const matrices::Csr<double>&,
                                           std::vector<SpgemmMethod<double>>, int);

}  // namespace sortie::bench
