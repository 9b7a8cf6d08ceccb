#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <utility>

#include "sortie/apps/bench/suffix_array_bench.hpp"
#include "sortie/apps/suffix_array/cuda/dc3/device_dc3.hpp"
#include "sortie/apps/suffix_array/cuda/device_build.hpp"
#include "sortie/apps/suffix_array/cuda/device_check.hpp"
#include "sortie/core/cuda/check.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::bench {
namespace {

using suffix_array::Algorithm;
using suffix_array::cuda::DeviceText;

template <class Pos>
DeviceBuffer<Pos> build_by(const Context& context, const DeviceText& text, Algorithm algorithm) {
  if (algorithm != Algorithm::dc3) {
    return suffix_array::cuda::build_on_device<Pos>(context, text);
  }
  if constexpr (sizeof(Pos) == sizeof(std::uint32_t)) {
    return suffix_array::cuda::build_dc3_on_device(context, text);
  } else {
    throw Error(ErrorKind::unavailable, "dc3: found 64-bit positions, expected 32 bits");
  }
}

/// A text and its suffix array in device memory.
template <class Pos>
class ResidentText {
 public:
  ResidentText(const Context& context, const suffix_array::TextView& text, Algorithm algorithm)
      : context_(context),
        algorithm_(algorithm),
        symbols_(text.symbols, context.stream),
        separators_(text.separators, context.stream) {
    wait();
  }

  /// Leaves no older result where the next one will be: free memory of the pool is overwritten.
  void prepare() {
    suffixes_ = {};
    DeviceBuffer<std::byte> poison(sizeof(Pos) * symbols_.size(), context_.stream);
    if (poison.size() != 0)
      check_cuda(cudaMemsetAsync(poison.data(), 0xcd, poison.bytes(), context_.stream));
    poison.reset();
    wait();
  }
  void run() {
    suffixes_ = build_by<Pos>(context_, text(), algorithm_);
    wait();
  }
  void check() const {
    suffix_array::cuda::check_on_device<Pos>(
        context_, text(), std::span<const Pos>(suffixes_.data(), suffixes_.size()));
  }

 private:
  [[nodiscard]] DeviceText text() const {
    return {{symbols_.data(), symbols_.size()}, {separators_.data(), separators_.size()}};
  }
  void wait() const { check_cuda(cudaStreamSynchronize(context_.stream)); }

  const Context& context_;
  Algorithm algorithm_;
  DeviceBuffer<std::uint8_t> symbols_;
  DeviceBuffer<std::uint64_t> separators_;
  DeviceBuffer<Pos> suffixes_;
};

}  // namespace

template <class Pos>
std::vector<Row> suffix_array_on_device(const Context& context, const suffix_array::TextView& text,
                                        std::vector<DeviceRow> rows, int repetitions) {
  const DeviceScope scope(context);
  std::vector<Method> methods;
  for (DeviceRow& row : rows) {
    const auto resident = std::make_shared<ResidentText<Pos>>(context, text, row.algorithm);
    Method method;
    method.row = std::move(row.row);
    method.prepare = [resident] { resident->prepare(); };
    method.run = [resident] { resident->run(); };
    method.check = [resident] {
      resident->check();
      return true;
    };
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
