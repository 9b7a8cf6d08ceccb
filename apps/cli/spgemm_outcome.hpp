#pragma once

#include <cstdint>
#include <string>

#include "sortie/apps/cli/job.hpp"
#include "sortie/apps/cli/spgemm_operands.hpp"
#include "sortie/apps/spgemm/spgemm.hpp"

namespace sortie::cli {

/// What is told of a product that was made.
struct ProductOutcome {
  spgemm::Algorithm algorithm = spgemm::Algorithm::automatic;
  std::int64_t rows_c = 0;
  std::int64_t cols_c = 0;
  std::int64_t nnz_c = 0;
  std::int64_t products = 0;
  double seconds = 0;     ///< of the product
  bool verified = false;  ///< by checking_algorithm()

  /// 10^9 operations a second, two a product.
  [[nodiscard]] double gflops() const {
    return seconds > 0 ? 2e-9 * static_cast<double>(products) / seconds : 0;
  }
};

/// Sets the figures of the report.
template <class Value, class Idx>
void report_outcome(RunReport& report, const Operands<Value, Idx>& operands,
                    const ProductOutcome& outcome);

/// The lines for people.
template <class Value, class Idx>
[[nodiscard]] std::string describe_outcome(const Context& context,
                                           const Operands<Value, Idx>& operands,
                                           const ProductOutcome& outcome);

}  // namespace sortie::cli
