// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "apps/cli/job.hpp"
#include "apps/cli/spgemm/spgemm_operands.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::cli {

/// Figures of a computed product.
struct ProductOutcome {
  spgemm::Algorithm algorithm = spgemm::Algorithm::automatic;
  std::int64_t rows_c = 0;
  std::int64_t cols_c = 0;
  std::int64_t nnz_c = 0;
  std::int64_t products = 0;
  double seconds = 0;     ///< time of the product
  bool verified = false;  ///< by checking_algorithm()

  /// 10^9 operations per second, two per scalar product.
  [[nodiscard]] double gflops() const {
    return seconds > 0 ? 2e-9 * static_cast<double>(products) / seconds : 0;
  }
};

/// Sets the figures of the report.
template <class Value, class Idx>
void report_outcome(RunReport& report, const Operands<Value, Idx>& operands,
                    const ProductOutcome& outcome);

/// The summary for the terminal.
template <class Value, class Idx>
[[nodiscard]] std::string describe_outcome(const Context& context,
                                           const Operands<Value, Idx>& operands,
                                           const ProductOutcome& outcome);

}  // namespace sortie::cli
