#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <utility>

#include "sortie/apps/bench/suffix_array_bench.hpp"
#include "sortie/apps/suffix_array/cuda/device_build.hpp"
#include "sortie/apps/suffix_array/cuda/device_check.hpp"
#include "sortie/core/cuda/check.hpp"
#include "sortie/core/cuda/device_buffer.cuh"
#include "sortie/core/cuda/device_scope.hpp"

namespace sortie::bench {
namespace {

using suffix_array::cuda::DeviceText;

/// A text and its suffix array in device memory.
template <class Pos>
class ResidentText {
 public:
  ResidentText(const Context& context, const suffix_array::TextView& text)
      : context_(context),
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
    suffixes_ = suffix_array::cuda::build_on_device<Pos>(context_, text());
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
  DeviceBuffer<std::uint8_t> symbols_;
  DeviceBuffer<std::uint64_t> separators_;
  DeviceBuffer<Pos> suffixes_;
};

}  // namespace

template <class Pos>
std::vector<Row> suffix_array_on_device(const Context& context, const suffix_array::TextView& text,
                                        Row row, int repetitions) {
  const DeviceScope scope(context);
  const auto resident = std::make_shared<ResidentText<Pos>>(context, text);
  Method method;
  method.row = std::move(row);
  method.prepare = [resident] { resident->prepare(); };
  method.run = [resident] { resident->run(); };
  method.check = [resident] {
    resident->check();
    return true;
  };
  std::vector<Method> methods;
  methods.push_back(std::move(method));
  return measure(std::move(methods), repetitions);
}

template std::vector<Row> suffix_array_on_device<std::uint32_t>(const Context&,
                                                                const suffix_array::TextView&, Row,
                                                                int);
template std::vector<Row> suffix_array_on_device<std::uint64_t>(const Context&,
                                                                const suffix_array::TextView&, Row,
                                                                int);

}  // namespace sortie::bench
