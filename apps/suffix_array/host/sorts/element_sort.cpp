// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/sorts/element_sort.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "primitives/simd/register_sort.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::host {

#ifdef SORTIE_HAVE_VECTOR_UNITS

SORTIE_BEGIN_INTRINSICS

namespace {

using Vector = WideVector<std::uint64_t>;
using Sort = RegisterSort<std::uint64_t>;

/// Registers of a part.
constexpr std::size_t rows = longest_vector_part / Vector::lanes;

/// Loads a part of n numbers; missing lanes get the greatest number.
SORTIE_TARGET_AVX512 inline void load_part(const std::uint64_t* in, std::size_t n, Vector* to) {
  if (n >= longest_vector_part) {
#pragma GCC unroll 4
    for (std::size_t row = 0; row < rows; ++row) to[row] = Vector::load(in + row * Vector::lanes);
    return;
  }
  const Vector last = Vector::all(std::numeric_limits<std::uint64_t>::max());
#pragma GCC unroll 4
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first = std::min(row * Vector::lanes, n);
    to[row] = Vector::load(in + first, Vector::low_lanes(n - first), last);
  }
}

SORTIE_TARGET_AVX512 void sort_parts_avx512(const std::uint64_t* in, std::uint64_t* out,
                                            std::size_t n) {
  if (n <= longest_vector_part) {
    if (in != out) std::copy_n(in, n, out);
    return Sort::sort(out, n);
  }
  std::array<Vector, 2 * rows> window;
  Vector* const upper = window.data() + rows;
  load_part(in, n, window.data());
  Sort::sort_rows<rows>(window.data());
  std::size_t done = 0;
  for (; done + longest_vector_part < n; done += longest_vector_part) {
    const std::size_t next = done + longest_vector_part;
    load_part(in + next, n - next, upper);
    Sort::sort_rows<rows>(upper);
    Sort::merge_rows<2 * rows>(window.data());
#pragma GCC unroll 4
    for (std::size_t row = 0; row < rows; ++row) {
      window[row].store(out + done + row * Vector::lanes);
      window[row] = upper[row];
    }
  }
#pragma GCC unroll 4
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first = std::min(done + row * Vector::lanes, n);
    window[row].store(out + first, Vector::low_lanes(n - first));
  }
}

}  // namespace

SORTIE_END_INTRINSICS

#endif

void sort_parts([[maybe_unused]] const std::uint64_t* in, [[maybe_unused]] std::uint64_t* out,
                [[maybe_unused]] std::uint64_t n) {
#ifdef SORTIE_HAVE_VECTOR_UNITS
  sort_parts_avx512(in, out, n);
#else
  throw Error(ErrorKind::unavailable, "sort by vectors: found a processor without AVX-512");
#endif
}

}  // namespace sortie::suffix_array::host
