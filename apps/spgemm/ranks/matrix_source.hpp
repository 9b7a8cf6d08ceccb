// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cluster/traffic_plan.hpp"
#include "core/files/input_file.hpp"
#include "matrices/matrix_market_text.hpp"
#include "matrices/matrix_text.hpp"
#include "sortie/cluster_spgemm.hpp"

namespace sortie::cluster {

/// A matrix in a file that ranks read together. A plain coordinate file is divided by byte ranges;
/// else rank 0 reads it, and sends the others their rows.
class MatrixSource {
 public:
  /// Collective: opens the file and reads its header. Phases "open matrix" of rank 0, "open matrix on
  /// ranks". \throws Error (input)
  MatrixSource(Ranks& ranks, const HostContext& context, const std::string& path);

  /// The name for messages.
  [[nodiscard]] std::string name() const { return path_ == "-" ? "<stdin>" : path_; }
  [[nodiscard]] const matrices::MatrixMarketHeader& header() const { return opened_.parsed.header; }
  /// Whether every rank reads a part.
  [[nodiscard]] bool is_divided() const { return opened_.is_divided; }

  /// Collective: reads the matrix as one machine does. Called once. Phases, also for faults: divided
  /// "read text", "parse text", "check text", "count entries", "divide entries", "receive entries",
  /// "build rows"; else "read matrix" of rank 0, "count rows", "receive rows".
  /// \param transposed  reads the transpose
  /// \throws Error as matrices::read_matrix_market()
  template <matrices::Scalar Value, matrices::Index Idx>
  [[nodiscard]] DividedMatrix<matrices::Csr<Value, Idx>> read(const HostContext& context,
                                                              TrafficPlan& plan, bool transposed);

 private:
  /// Sent by rank 0 to all ranks.
  struct Opened {
    bool is_divided = false;
    std::uint64_t bytes = 0;
    matrices::detail::ParsedHeader parsed;
  };

  void open_on_first_rank(const HostContext& context);

  Ranks& ranks_;
  std::string path_;
  Opened opened_;
  std::optional<InputFile> file_;             ///< if divided
  std::optional<matrices::MatrixText> text_;  ///< else, on rank 0
};

}  // namespace sortie::cluster
