// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/sorts/part_sort.hpp"

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

/// Loads numbers [begin, n), at most as many as `Rows` registers hold; missing lanes get the
/// greatest number.
template <std::size_t Rows>
SORTIE_TARGET_AVX512 inline void load_up_to(const std::uint64_t* in, std::size_t begin,
                                            std::size_t n, Vector* to) {
  const Vector last = Vector::all(std::numeric_limits<std::uint64_t>::max());
#pragma GCC unroll 4
  for (std::size_t row = 0; row < Rows; ++row, begin += Vector::lanes) {
    const std::size_t left = begin < n ? n - begin : 0;
    to[row] = Vector::load(in + begin, low_lanes<std::uint64_t>(left), last);
  }
}

template <std::size_t Rows>
SORTIE_TARGET_AVX512 inline void store_up_to(const Vector* from, std::uint64_t* out,
                                             std::size_t begin, std::size_t n) {
#pragma GCC unroll 4
  for (std::size_t row = 0; row < Rows; ++row, begin += Vector::lanes) {
    const std::size_t left = begin < n ? n - begin : 0;
    from[row].store(out + begin, low_lanes<std::uint64_t>(left));
  }
}

template <std::size_t Rows>
SORTIE_TARGET_AVX512 inline void sort_at_once(const std::uint64_t* in, std::uint64_t* out,
                                              std::size_t n) {
  std::array<Vector, Rows> numbers;
  load_up_to<Rows>(in, 0, n, numbers.data());
  Sort::sort_rows<Rows>(numbers.data());
  store_up_to<Rows>(numbers.data(), out, 0, n);
}

SORTIE_TARGET_AVX512 void sort_parts_avx512(const std::uint64_t* in, std::uint64_t* out,
                                            std::size_t n) {
  if (n <= Vector::lanes) return sort_at_once<1>(in, out, n);
  if (n <= 2 * Vector::lanes) return sort_at_once<2>(in, out, n);
  constexpr std::size_t rows = longest_vector_part / Vector::lanes;
  std::array<Vector, 2 * rows> window;
  Vector* const upper = window.data() + rows;
  load_up_to<rows>(in, 0, n, window.data());
  Sort::sort_rows<rows>(window.data());
  std::size_t done = 0;
  for (; done + longest_vector_part < n; done += longest_vector_part) {
    const std::size_t next = done + longest_vector_part;
    if (next + longest_vector_part <= n) {
#pragma GCC unroll 4
      for (std::size_t row = 0; row < rows; ++row)
        upper[row] = Vector::load(in + next + row * Vector::lanes);
    } else {
      load_up_to<rows>(in, next, n, upper);
    }
    Sort::sort_rows<rows>(upper);
    Sort::merge_rows<2 * rows>(window.data());
#pragma GCC unroll 4
    for (std::size_t row = 0; row < rows; ++row) {
      window[row].store(out + done + row * Vector::lanes);
      window[row] = upper[row];
    }
  }
  store_up_to<rows>(window.data(), out, done, n);
}

}  // namespace

SORTIE_END_INTRINSICS

void sort_parts(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n) {
  sort_parts_avx512(in, out, n);
}

#else

void sort_parts(const std::uint64_t*, std::uint64_t*, std::uint64_t) {
  throw Error(ErrorKind::unavailable, "sort by vectors: found a processor without AVX-512");
}

#endif

}  // namespace sortie::suffix_array::host
