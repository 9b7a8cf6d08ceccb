#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <utility>

#include "sortie/apps/bench/spgemm_bench.hpp"
#include "sortie/apps/spgemm/cuda/cusparse_product.hpp"
#include "sortie/apps/spgemm/cuda/device_multiply.hpp"
#include "sortie/core/cuda/device_scope.hpp"

namespace sortie::bench {
namespace {

using spgemm::Algorithm;
using spgemm::cuda::CusparseProduct;
using spgemm::cuda::DeviceCsr;

bool is_cusparse(Algorithm algorithm) {
  return algorithm != Algorithm::fused && algorithm != Algorithm::essc &&
         algorithm != Algorithm::esc;
}

/// What the last method left on the device. One for all methods, so that no result takes memory
/// from the next method.
template <class Value>
struct Resident {
  DeviceCsr<Value> result;
  std::optional<CusparseProduct<Value>> library;
};

/// One algorithm with its operand and result on the device.
template <class Value>
class ResidentProduct {
 public:
  ResidentProduct(const Context& context, const DeviceCsr<Value>& a, Algorithm algorithm,
                  std::shared_ptr<Resident<Value>> resident)
      : context_(context), a_(a), algorithm_(algorithm), resident_(std::move(resident)) {}

  /// Frees what there is, and starts cuSPARSE where it is to be measured.
  void prepare() {
    resident_->result = {};
    resident_->library.reset();
    if (is_cusparse(algorithm_)) resident_->library.emplace(context_, a_, a_);
    check_cuda(cudaStreamSynchronize(context_.stream));
  }

  /// The functions wait for the device in between, to know sizes; so the time that counts is that
  /// on the wall until the device has done all.
  void run() {
    if (is_cusparse(algorithm_)) {
      resident_->library->multiply(algorithm_);
    } else {
      resident_->result = spgemm::cuda::multiply_on_device(context_, a_, a_, algorithm_);
    }
    check_cuda(cudaStreamSynchronize(context_.stream));
  }

  [[nodiscard]] matrices::Csr<Value> result() {
    if (is_cusparse(algorithm_)) resident_->result = resident_->library->take_result();
    return spgemm::cuda::to_host<std::int32_t>(resident_->result);
  }

 private:
  const Context& context_;
  const DeviceCsr<Value>& a_;
  Algorithm algorithm_;
  std::shared_ptr<Resident<Value>> resident_;
};

}  // namespace

template <class Value>
std::vector<Row> spgemm_on_device(const Context& context, const matrices::Csr<Value>& matrix,
                                  std::vector<SpgemmMethod<Value>> methods, int repetitions) {
  const DeviceScope scope(context);
  const auto operand = spgemm::cuda::to_device<std::uint32_t>(matrix, context.stream);
  const auto resident = std::make_shared<Resident<Value>>();
  std::vector<Method> timed;
  for (auto& [algorithm, row, check] : methods) {
    auto product = std::make_shared<ResidentProduct<Value>>(context, operand, algorithm, resident);
    Method& method = timed.emplace_back();
    method.row = std::move(row);
    method.prepare = [product] { product->prepare(); };
    method.run = [product] { product->run(); };
    method.check = [product, check = std::move(check)] { return check(product->result()); };
  }
  return measure(std::move(timed), repetitions);
}

template std::vector<Row> spgemm_on_device(const Context&, const matrices::Csr<float>&,
                                           std::vector<SpgemmMethod<float>>, int);
template std::vector<Row> spgemm_on_device(const Context&, const matrices::Csr<double>&,
                                           std::vector<SpgemmMethod<double>>, int);

}  // namespace sortie::bench
