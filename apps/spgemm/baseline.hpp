// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "sortie/context.hpp"
#include "sortie/csr.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie {
struct DeviceContext;
}

/// Algorithms beside the library's own. A program registers a list of them, and all functions of
/// spgemm.hpp then treat them as its own: by name, in algorithms(), in multiply() and in errors.
namespace sortie::spgemm {

/// A product by another library on the device, in steps, so that a benchmark can time the library
/// alone. The constructor creates handles and converts the operands, take_result() converts C.
template <class Value, class Column>
class DeviceBaseline {
 public:
  virtual ~DeviceBaseline() = default;

  /// Computes the structure of C, if the library does so in a step of its own.
  virtual void analyse() {}
  /// Computes C, or its values after analyse(). May be called again.
  virtual void compute() = 0;
  /// C with ascending columns; moved out.
  [[nodiscard]] virtual cuda::DeviceCsr<Value, Column> take_result() = 0;
};

/// Tells the functions of a FunctionPerType apart whose parameters do not depend on the types.
template <class Value, class Idx>
struct OperandTypes {};

// Functions of a baseline.
template <class Value, class Idx>
using MultiplyFunction = matrices::Csr<Value, Idx> (*)(const Context&,
                                                       const matrices::Csr<Value, Idx>&,
                                                       const matrices::Csr<Value, Idx>&);
template <class Value, class Idx>
using WorkSpaceFunction = WorkSpace (*)(const Context&, const ProductSize&,
                                        OperandTypes<Value, Idx>);
template <class Value, class Column>
using PrepareFunction = std::unique_ptr<DeviceBaseline<Value, Column>> (*)(
    const DeviceContext&, const cuda::DeviceCsrView<Value, Column>&,
    const cuda::DeviceCsrView<Value, Column>&);

/// One function for every pair of types of values and indices; null by default.
template <template <class, class> class Function, class Index32, class Index64>
class FunctionPerType {
 public:
  FunctionPerType() = default;
  /// \param generic  a lambda without captures that can be called with all types
  template <class Generic>
  FunctionPerType(Generic generic)  // NOLINT: implicit, for lists of baselines
      : functions_(generic, generic, generic, generic, generic, generic) {}

  template <class Value, class Idx>
  [[nodiscard]] Function<Value, Idx> of() const {
    return std::get<Function<Value, Idx>>(functions_);
  }

 private:
  std::tuple<Function<float, Index32>, Function<float, Index64>, Function<double, Index32>,
             Function<double, Index64>, Function<std::complex<double>, Index32>,
             Function<std::complex<double>, Index64>>
      functions_{};
};
template <template <class, class> class Function>
using HostFunctions = FunctionPerType<Function, std::int32_t, std::int64_t>;
template <template <class, class> class Function>
using DeviceFunctions = FunctionPerType<Function, std::uint32_t, std::uint64_t>;

/// An algorithm beside the library's own. It runs on one backend and returns C as a whole.
struct Baseline {
  std::string_view name;  ///< on the command line, in reports and errors
  Backend backend = Backend::host;
  /// What CMake did not find. If not empty, multiply() throws Error (unavailable), which says so.
  std::string_view missing{};
  bool reports_phases = false;  ///< phases that a benchmark shows

  /// C in host memory. The shapes are checked. Optional on CUDA: by default the operands are copied
  /// to the device and C to the host.
  HostFunctions<MultiplyFunction> multiply{};
  /// The same bits on all threads, for ProductCheck; optional. \pre the host runtime is running
  HostFunctions<MultiplyFunction> multiply_on_all_threads{};
  /// Optional; null: the baseline obeys no limit.
  HostFunctions<WorkSpaceFunction> work_space{};
  /// On CUDA: the product in device memory.
  DeviceFunctions<PrepareFunction> prepare{};
  bool has_structure_step = false;  ///< analyse() computes the structure of C
};

/// Registers the baselines of this program, in place of those registered before. Algorithms are
/// numbered in the order of the list. Called from main(), before any other function of spgemm and
/// not by several threads at once.
/// \param baselines  not copied; must live as long as the program
void register_baselines(std::span<const Baseline> baselines);

/// The names that parse_algorithm() takes, separated by commas.
[[nodiscard]] std::string algorithm_names();

/// The baseline of that number; null for the library's own algorithms.
[[nodiscard]] const Baseline* find_baseline(Algorithm algorithm);

}  // namespace sortie::spgemm
