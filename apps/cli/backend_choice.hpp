// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sortie/context.hpp"

/// Estimated seconds of the parts of a job that differ between the host and a device.
///
/// Reading, parsing, formatting and writing take the same on both. What differs is the start and end
/// of a device and its copies on one side, and the slower work of the host on the other. Rates in backend_choice.cpp,
/// with the command that measured them.
namespace sortie::cli {

struct BackendSeconds {
  double host = 0;
  double device = 0;

  [[nodiscard]] Backend best() const { return host <= device ? Backend::host : Backend::cuda; }
  [[nodiscard]] Backend other() const { return host <= device ? Backend::cuda : Backend::host; }
  [[nodiscard]] double of(Backend backend) const {
    return backend == Backend::host ? host : device;
  }
};

/// \param products      of the multiplication
/// \param operand_bytes bytes of A and B
[[nodiscard]] BackendSeconds spgemm_seconds(std::int64_t products, std::uint64_t operand_bytes,
                                            int threads);

/// \param reading  seconds of the reading, beside which the device starts
[[nodiscard]] BackendSeconds suffix_array_seconds(std::uint64_t symbols, double reading,
                                                  int threads);

/// \param text_symbols  symbols of the text; its suffix array is copied, too
/// \param letters       letters of all patterns
[[nodiscard]] BackendSeconds query_seconds(std::uint64_t text_symbols, std::uint64_t array_bytes,
                                           std::uint64_t letters, int threads);

/// \param bytes    bytes of the records
/// \param reading  as above
[[nodiscard]] BackendSeconds sort_seconds(std::uint64_t bytes, double reading, int threads);

/// \param bytes    of text
/// \param reading  as above
[[nodiscard]] BackendSeconds deduplication_seconds(std::uint64_t bytes, double reading,
                                                   int threads);

/// Estimated symbols of a sequence file, from its bytes and its name; 0 for a stream.
[[nodiscard]] std::uint64_t estimated_symbols(const char* path);

}  // namespace sortie::cli
