// SPDX-License-Identifier: Apache-2.0

// GraphBLAS.h 7.4 does not declare C linkage for C++.
extern "C" {
#include <GraphBLAS.h>
}
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::spgemm::baselines {

namespace {

/// \throws std::bad_alloc  out of memory; multiply() translates it
/// \throws Error (device)  any other failure of `call`. Not (unavailable), which means that a
///                         library lacks a value type; this library has all of them
void require_success(GrB_Info info, const char* call) {
  if (info == GrB_SUCCESS) return;
  if (info == GrB_OUT_OF_MEMORY) throw std::bad_alloc();
  throw Error(ErrorKind::device,
              fmt::format("GraphBLAS: found status {} of {}, expected {}", static_cast<int>(info),
                          call, static_cast<int>(GrB_SUCCESS)));
}

/// Initialises the library if the process has not done so, and sets the number of its threads to
/// that of the host runtime. The library is finalised at exit only if it was initialised here.
void start_library() {
  static std::mutex mutex;
  static bool started = false;
  const std::lock_guard lock(mutex);
  if (!started) {
    const GrB_Info info = GrB_init(GrB_NONBLOCKING);
    constexpr GrB_Info already_initialised = GrB_INVALID_VALUE;
    if (info != already_initialised) {
      require_success(info, "GrB_init");
      std::atexit([] { (void)GrB_finalize(); });
    }
    started = true;
  }
  // Set in every call, since an embedding program may have changed it.
  require_success(GxB_Global_Option_set_INT32(GxB_GLOBAL_NTHREADS, host_threads()),
                  "GxB_Global_Option_set");
}

// The library's objects for a value type. They are variables that are valid after initialisation.
GrB_Type type_of(float) {
  return GrB_FP32;
}
GrB_Type type_of(double) {
  return GrB_FP64;
}
GrB_Type type_of(std::complex<double>) {
  return GxB_FC64;
}
GrB_Semiring plus_times_of(float) {
  return GrB_PLUS_TIMES_SEMIRING_FP32;
}
GrB_Semiring plus_times_of(double) {
  return GrB_PLUS_TIMES_SEMIRING_FP64;
}
GrB_Semiring plus_times_of(std::complex<double>) {
  return GxB_PLUS_TIMES_FC64;
}

/// Calls body(i) for every i below `size`, on the threads of the host runtime.
template <class Body>
void for_each_item(std::int64_t size, const Body& body) {
  constexpr std::int64_t block_size = 1 << 16;
  host::for_each_block(host_threads(), 0, (size + block_size - 1) / block_size,
                       [&](int, std::int64_t block) {
                         const std::int64_t end = std::min(size, (block + 1) * block_size);
                         for (std::int64_t i = block * block_size; i < end; ++i) body(i);
                       });
}

struct FreeArray {
  void operator()(void* array) const { std::free(array); }
};

/// An array whose ownership the library can take: allocated by std::malloc, freed by std::free.
template <class Item>
using Array = std::unique_ptr<Item[], FreeArray>;

/// A copy of `items` for the library. \throws std::bad_alloc
template <class Item, class Vector>
Array<Item> array_of(const Vector& items) {
  Array<Item> array(static_cast<Item*>(std::malloc(items.size() * sizeof(Item))));
  if (array == nullptr) throw std::bad_alloc();
  for_each_item(std::ssize(items), [&](std::int64_t i) { array[i] = static_cast<Item>(items[i]); });
  return array;
}

/// A matrix of the library in CSR format, neither bitmap nor hypersparse.
template <Scalar Value>
class Matrix {
 public:
  /// A matrix without entries.
  Matrix(std::int64_t rows, std::int64_t cols) {
    GrB_Matrix made = nullptr;
    require_success(GrB_Matrix_new(&made, type_of(Value{}), static_cast<GrB_Index>(rows),
                                   static_cast<GrB_Index>(cols)),
                    "GrB_Matrix_new");
    matrix_.reset(made);
    // Otherwise a result in another format would be converted on export.
    require_success(GxB_Matrix_Option_set_INT32(made, GxB_FORMAT, GxB_BY_ROW),
                    "GxB_Matrix_Option_set");
    require_success(GxB_Matrix_Option_set_INT32(made, GxB_SPARSITY_CONTROL, GxB_SPARSE),
                    "GxB_Matrix_Option_set");
  }

  /// A copy: the library requires 64-bit offsets and columns and owns its arrays.
  template <Index Idx>
  explicit Matrix(const Csr<Value, Idx>& csr) : Matrix(csr.rows, csr.cols) {
    Array<GrB_Index> row_ptr = array_of<GrB_Index>(csr.row_ptr);
    Array<GrB_Index> col_idx = array_of<GrB_Index>(csr.col_idx);
    Array<Value> values = array_of<Value>(csr.values);
    GrB_Index* row_ptr_given = row_ptr.get();
    GrB_Index* col_idx_given = col_idx.get();
    void* values_given = values.get();
    require_success(
        GxB_Matrix_pack_CSR(get(), &row_ptr_given, &col_idx_given, &values_given,
                            csr.row_ptr.size() * sizeof(GrB_Index),
                            csr.col_idx.size() * sizeof(GrB_Index),
                            csr.values.size() * sizeof(Value), /*iso=*/false, /*jumbled=*/false,
                            /*desc=*/nullptr),
        "GxB_Matrix_pack_CSR");
    (void)row_ptr.release();
    (void)col_idx.release();
    (void)values.release();
  }

  [[nodiscard]] GrB_Matrix get() const { return matrix_.get(); }

  /// Moves the entries out of the library, with ascending columns.
  template <Index Idx>
  [[nodiscard]] Csr<Value, Idx> take(std::int64_t rows, std::int64_t cols) {
    GrB_Index* row_ptr_taken = nullptr;
    GrB_Index* col_idx_taken = nullptr;
    void* values_taken = nullptr;
    GrB_Index bytes[3] = {};  // allocated bytes, may exceed the used bytes
    bool one_value = false;   // whether a single value represents all entries
    require_success(
        GxB_Matrix_unpack_CSR(get(), &row_ptr_taken, &col_idx_taken, &values_taken, &bytes[0],
                              &bytes[1], &bytes[2], &one_value, /*jumbled=*/nullptr,
                              /*desc=*/nullptr),
        "GxB_Matrix_unpack_CSR");
    const Array<GrB_Index> row_ptr(row_ptr_taken);
    const Array<GrB_Index> col_idx(col_idx_taken);
    const Array<Value> values(static_cast<Value*>(values_taken));
    Csr<Value, Idx> csr;
    csr.rows = rows;
    csr.cols = cols;
    csr.row_ptr.resize(static_cast<std::size_t>(rows) + 1);
    for_each_item(rows + 1,
                  [&](std::int64_t i) { csr.row_ptr[i] = static_cast<std::int64_t>(row_ptr[i]); });
    const std::int64_t nnz = csr.row_ptr.back();
    host::resize_for_overwrite(csr.col_idx, nnz);
    host::resize_for_overwrite(csr.values, nnz);
    for_each_item(nnz, [&](std::int64_t i) {
      csr.col_idx[i] = static_cast<Idx>(col_idx[i]);
      csr.values[i] = values[one_value ? 0 : i];
    });
    return csr;
  }

 private:
  struct Free {
    void operator()(GrB_Matrix matrix) const { (void)GrB_Matrix_free(&matrix); }
  };
  std::unique_ptr<std::remove_pointer_t<GrB_Matrix>, Free> matrix_;
};

}  // namespace

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_graphblas(const HostContext& context, const Csr<Value, Idx>& a,
                                   const Csr<Value, Idx>& b) {
  start_host_runtime(context.threads);
  start_library();
  if (a.nnz() == 0 || b.nnz() == 0) {  // the library requires non-empty arrays
    Csr<Value, Idx> c;
    c.rows = a.rows;
    c.cols = b.cols;
    c.row_ptr.assign(static_cast<std::size_t>(a.rows) + 1, 0);
    return c;
  }

  PhaseTimer import_timer(context, "import");
  const Matrix<Value> left(a);
  std::unique_ptr<const Matrix<Value>> other;  // one copy suffices for A * A
  if (&a != &b) other = std::make_unique<const Matrix<Value>>(b);
  const Matrix<Value>& right = other ? *other : left;
  import_timer.stop();

  PhaseTimer product_timer(context, "product");
  Matrix<Value> product(a.rows, b.cols);
  require_success(GrB_mxm(product.get(), /*mask=*/nullptr, /*accumulate=*/nullptr,
                          plus_times_of(Value{}), left.get(), right.get(), /*desc=*/nullptr),
                  "GrB_mxm");
  // Deferred work of the library, mainly sorting rows, is part of the product.
  require_success(GrB_Matrix_wait(product.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
  product_timer.stop();

  const PhaseTimer export_timer(context, "export");
  return product.template take<Idx>(a.rows, b.cols);
}

#define INSTANTIATE(Value, Idx)                                                           \
  template Csr<Value, Idx> multiply_graphblas(const HostContext&, const Csr<Value, Idx>&, \
                                              const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::baselines
