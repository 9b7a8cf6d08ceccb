// SPDX-License-Identifier: Apache-2.0

// First include: headers of KokkosKernels include Kokkos relative to their own folder, which may
// hold another version.
#include <Kokkos_Core.hpp>

//
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_spgemm.hpp>
#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::spgemm::baselines {

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Memory = Kokkos::HostSpace;
using Offset = std::int64_t;
using Ordinal = std::int32_t;

// std::complex and Kokkos::complex have the same layout.
template <class Value>
using KokkosValue =
    std::conditional_t<std::is_same_v<Value, std::complex<double>>, Kokkos::complex<double>, Value>;

/// An unmanaged view of a vector; copies nothing.
template <class Item, class Vector>
auto view_of(Vector& vector) {
  using View = Kokkos::View<Item*, Kokkos::LayoutLeft, Kokkos::Device<Space, Memory>,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return View(reinterpret_cast<Item*>(vector.data()), vector.size());
}

/// Sorts the columns of every row in ascending order; the library returns them unsorted.
template <class Value>
void sort_rows(Csr<Value, Ordinal>& c) {
  Kokkos::parallel_for(Kokkos::RangePolicy<Space>(0, c.rows), [&c](const std::int64_t row) {
    const Offset begin = c.row_ptr[row];
    const Offset size = c.row_ptr[row + 1] - begin;
    Ordinal* const columns = c.col_idx.data() + begin;
    Value* const values = c.values.data() + begin;
    if (std::is_sorted(columns, columns + size)) return;
    std::vector<std::pair<Ordinal, Value>> entries;
    entries.reserve(size);
    for (Offset i = 0; i < size; ++i) entries.emplace_back(columns[i], values[i]);
    std::sort(entries.begin(), entries.end(),
              [](const auto& x, const auto& y) { return x.first < y.first; });
    for (Offset i = 0; i < size; ++i) std::tie(columns[i], values[i]) = entries[i];
  });
}

template <class Value>
Csr<Value, Ordinal> multiply(const HostContext& context, const Csr<Value, Ordinal>& a,
                             const Csr<Value, Ordinal>& b) {
  using Scalar = KokkosValue<Value>;
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<Offset, Ordinal, Scalar, Space,
                                                                  Memory, Memory>;
  Csr<Value, Ordinal> c;
  c.rows = a.rows;
  c.cols = b.cols;
  c.row_ptr.assign(a.rows + 1, 0);
  if (a.nnz() == 0 || b.nnz() == 0) return c;  // the library would read empty arrays

  const auto a_row_ptr = view_of<const Offset>(a.row_ptr);
  const auto a_col_idx = view_of<const Ordinal>(a.col_idx);
  const auto a_values = view_of<const Scalar>(a.values);
  const auto b_row_ptr = view_of<const Offset>(b.row_ptr);
  const auto b_col_idx = view_of<const Ordinal>(b.col_idx);
  const auto b_values = view_of<const Scalar>(b.values);
  const auto c_row_ptr = view_of<Offset>(c.row_ptr);
  const auto rows = static_cast<Ordinal>(a.rows);
  const auto inner = static_cast<Ordinal>(b.rows);
  const auto cols = static_cast<Ordinal>(b.cols);

  PhaseTimer product_timer(context, "product");
  Handle handle;
  handle.create_spgemm_handle(KokkosSparse::SPGEMM_KK);
  KokkosSparse::Experimental::spgemm_symbolic(&handle, rows, inner, cols, a_row_ptr, a_col_idx,
                                              false, b_row_ptr, b_col_idx, false, c_row_ptr);
  const auto nnz_c = static_cast<std::int64_t>(handle.get_spgemm_handle()->get_c_nnz());
  host::resize_for_overwrite(c.col_idx, nnz_c);
  host::resize_for_overwrite(c.values, nnz_c);
  if (c.nnz() > 0) {
    auto c_col_idx = view_of<Ordinal>(c.col_idx);
    auto c_values = view_of<Scalar>(c.values);
    KokkosSparse::Experimental::spgemm_numeric(&handle, rows, inner, cols, a_row_ptr, a_col_idx,
                                               a_values, false, b_row_ptr, b_col_idx, b_values,
                                               false, c_row_ptr, c_col_idx, c_values);
  }
  handle.destroy_spgemm_handle();
  product_timer.stop();

  // A separate phase, since users of the library may not need sorted rows.
  const PhaseTimer sorting_timer(context, "sorting");
  sort_rows(c);
  return c;
}

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_kokkos_kernels(const HostContext& context, const Csr<Value, Idx>& a,
                                        const Csr<Value, Idx>& b) {
  start_host_runtime(context.threads);
  if constexpr (std::is_same_v<Idx, Ordinal>) {
    return multiply(context, a, b);
  } else {
    throw Error(ErrorKind::unavailable,
                "KokkosKernels SpGEMM: found 64-bit indices, expected 32-bit ones, for which this "
                "baseline is built");
  }
}

#define INSTANTIATE(Value, Idx)                                                                \
  template Csr<Value, Idx> multiply_kokkos_kernels(const HostContext&, const Csr<Value, Idx>&, \
                                                   const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::baselines
