// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace sortie::test {

/// A matrix as plainly as it can be held.
struct ReferenceMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::complex<double>> entries;
};

/// Reads a good, uncompressed Matrix Market file line by line with the standard library's streams.
ReferenceMatrix read_reference(const std::string& path);

}  // namespace sortie::test
