// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/sparse.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "apps/spgemm/host/new_values.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "core/spare_array.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::c {
namespace {

constexpr std::int64_t entries_per_task = std::int64_t{1} << 16;

/// to[i] = from[i] on all threads.
template <class From, class To>
void copy_items(const From* from, To* to, std::int64_t size) {
  for_each_range(size, entries_per_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
  });
}

template <class From>
void copy_indices(const From* from, std::size_t bytes, void* to, std::int64_t size) {
  if (to == nullptr) return;
  if (bytes == sizeof(std::int32_t)) {
    copy_items(from, static_cast<std::int32_t*>(to), size);
  } else {
    copy_items(from, static_cast<std::int64_t*>(to), size);
  }
}

/// Keeps the arrays of a matrix for the next operand or result.
template <class Value, class Idx>
void keep_arrays(matrices::Csr<Value, Idx>&& matrix) {
  SpareArray<std::int64_t>::keep(std::move(matrix.row_ptr));
  SpareArray<Idx>::keep(std::move(matrix.col_idx));
  SpareArray<Value>::keep(std::move(matrix.values));
}

template <class Value, class Idx>
class HostMatrix : public sortie_csr {
 public:
  explicit HostMatrix(matrices::Csr<Value, Idx> matrix) : matrix_(std::move(matrix)) {}
  HostMatrix(const HostMatrix&) = delete;
  HostMatrix& operator=(const HostMatrix&) = delete;
  ~HostMatrix() override { keep_arrays(std::move(matrix_)); }

  [[nodiscard]] sortie_csr_view view() const override {
    return {matrix_.rows,         matrix_.cols,           matrix_.nnz(),
            SORTIE_I64,           type_of<Idx>,           type_of<Value>,
            SORTIE_HOST_MEMORY,   matrix_.row_ptr.data(), matrix_.col_idx.data(),
            matrix_.values.data()};
  }

  void copy(CUstream_st*, std::size_t row_ptr_bytes, void* row_ptr, std::size_t col_idx_bytes,
            void* col_idx, void* values) const override {
    copy_indices(matrix_.row_ptr.data(), row_ptr_bytes, row_ptr, matrix_.rows + 1);
    copy_indices(matrix_.col_idx.data(), col_idx_bytes, col_idx, matrix_.nnz());
    if (values != nullptr)
      copy_items(matrix_.values.data(), static_cast<Value*>(values), matrix_.nnz());
  }

 private:
  matrices::Csr<Value, Idx> matrix_;
};

[[noreturn]] void refuse_row(std::string_view name, std::uint64_t row, const std::string& found,
                             const std::string& expected) {
  throw Error(ErrorKind::input,
              fmt::format("{}: row {}: found {}, expected {}", name, row, found, expected));
}

/// \throws Error (input) offsets that do not ascend from 0 to nnz
template <class Offset>
std::vector<std::int64_t> checked_row_ptr(std::string_view name, const sortie_csr_view& view) {
  const auto* const offsets = static_cast<const Offset*>(view.row_ptr);
  if (offsets[0] != 0) refuse_row(name, 0, fmt::format("offset {}", offsets[0]), "0");
  const std::uint64_t row = first_index(0, static_cast<std::uint64_t>(view.rows),
                                        [=](auto i) { return offsets[i + 1] < offsets[i]; });
  if (row != no_index) {
    refuse_row(name, row, fmt::format("offsets {} and {}", offsets[row], offsets[row + 1]),
               "ascending offsets");
  }
  if (static_cast<std::int64_t>(offsets[view.rows]) != view.nnz) {
    throw Error(ErrorKind::input, fmt::format("{}: found the last offset {}, expected nnz, {}",
                                              name, offsets[view.rows], view.nnz));
  }
  auto row_ptr = SpareArray<std::int64_t>::take(view.rows + 1);
  spgemm::host::resize_for_overwrite(row_ptr, view.rows + 1);
  copy_items(offsets, row_ptr.data(), view.rows + 1);
  return row_ptr;
}

/// Whether columns ascend strictly in every row. \throws Error (input) a column out of range
template <class Column>
bool checked_columns(std::string_view name, const sortie_csr_view& view,
                     const std::vector<std::int64_t>& row_ptr) {
  const auto* const columns = static_cast<const Column*>(view.col_idx);
  const std::int64_t* const offsets = row_ptr.data();
  const std::int64_t cols = view.cols;
  std::atomic<bool> ascends = true;
  const auto is_out_of_range = [=, &ascends](std::uint64_t row) {
    std::int64_t previous = -1;
    bool is_sorted = true;
    for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      const std::int64_t column = columns[i];
      if (column < 0 || column >= cols) return true;
      is_sorted = is_sorted && column > previous;
      previous = column;
    }
    if (!is_sorted) ascends.store(false, std::memory_order_relaxed);
    return false;
  };
  const std::uint64_t row = first_index(0, static_cast<std::uint64_t>(view.rows), is_out_of_range);
  if (row != no_index) {
    const auto* const found = std::find_if(
        columns + offsets[row], columns + offsets[row + 1],
        [=](Column column) { return column < 0 || static_cast<std::int64_t>(column) >= cols; });
    refuse_row(name, row, fmt::format("column {}", *found),
               fmt::format("a column from 0 to {}", cols - 1));
  }
  return ascends;
}

/// Sorts the entries of every row and adds up duplicates.
template <class Value, class Idx>
matrices::Csr<Value, Idx> canonical(matrices::Csr<Value, Idx> matrix) {
  matrices::Coo<Value, Idx> coo = matrices::to_coo(matrix);
  matrix = {};
  return matrices::to_csr(coo);
}

/// Calls function(Value{}, Idx{}) for the types of a matrix.
template <class Function>
auto with_matrix_types(const sortie_csr_view& view, const Function& function) {
  return with_value_type(view.value_type, [&](auto value) {
    return with_index_type("col_idx_type", view.col_idx_type,
                           [&](auto index) { return function(value, index); });
  });
}

/// Whether both operands are the same arrays, so that one copy serves as both.
bool is_square_of(const sortie_csr_view& a, const sortie_csr_view& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

std::unique_ptr<sortie_csr> multiply_on_host(const Context& context, const sortie_csr_view& a,
                                             const sortie_csr_view& b, bool drop_zeros) {
  start_threads(context);
  return with_matrix_types(a, [&]<class Value, class Idx>(Value, Idx) {
    auto first = to_csr<Value, Idx>("a", a);
    matrices::Csr<Value, Idx> other;
    const bool is_square = is_square_of(a, b);
    if (!is_square) other = to_csr<Value, Idx>("b", b);
    auto c = spgemm::multiply(context, first, is_square ? first : other);
    if (drop_zeros) matrices::drop_zeros(c);
    keep_arrays(std::move(first));
    keep_arrays(std::move(other));
    return to_matrix(std::move(c));
  });
}

/// \pre columns ascend, so that the values have the order of the caller's
template <class Value, class Idx>
class HostPlan : public sortie_plan {
 public:
  HostPlan(const Context& context, const sortie_csr_view& a, const sortie_csr_view& b)
      : a_(sorted("a", a)) {
    if (!is_square_of(a, b)) b_ = sorted("b", b);
    const auto structure = [](const matrices::Csr<Value, Idx>& matrix) {
      return matrices::Pattern<Idx>{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx};
    };
    const matrices::Pattern<Idx> first = structure(a_);
    c_ = b_ ? spgemm::multiply_structure(context, first, structure(*b_))
            : spgemm::multiply_structure(context, first, first);
  }

  [[nodiscard]] sortie_csr_view view() const override {
    return {c_.rows,           c_.cols,        c_.nnz(),           SORTIE_I64,
            type_of<Idx>,      type_of<Value>, SORTIE_HOST_MEMORY, c_.row_ptr.data(),
            c_.col_idx.data(), nullptr};
  }

  void multiply(const Context& context, const void* a_values, const void* b_values,
                void* c_values) override {
    start_threads(context);
    copy_items(static_cast<const Value*>(a_values), a_.values.data(), a_.nnz());
    // A plan for A * A may be given two arrays of values.
    if (!b_ && a_values != b_values) b_ = a_;
    if (b_) copy_items(static_cast<const Value*>(b_values), b_->values.data(), b_->nnz());
    const matrices::Csr<Value, Idx>& b = b_ ? *b_ : a_;
    if (resolve_backend(context) == Backend::host && sums_fit(context)) {
      spgemm::host::compute_values(context, a_, b, c_.row_ptr.data(), c_.col_idx.data(),
                                   static_cast<Value*>(c_values));
      return;
    }
    auto c = spgemm::multiply(context, a_, b);
    copy_items(c.values.data(), static_cast<Value*>(c_values), c.nnz());
    keep_arrays(std::move(c));
  }

 private:
  static matrices::Csr<Value, Idx> sorted(std::string_view name, const sortie_csr_view& view) {
    auto matrix = to_csr<Value, Idx>(name, view);
    if (matrix.nnz() != view.nnz || !std::equal(matrix.col_idx.begin(), matrix.col_idx.end(),
                                                static_cast<const Idx*>(view.col_idx))) {
      throw Error(ErrorKind::input, fmt::format("{}: found a row whose columns do not ascend, "
                                                "expected ascending columns in every row",
                                                name));
    }
    return matrix;
  }

  /// Whether a sum for every column of C fits the budget, and takes no more memory than C.
  [[nodiscard]] bool sums_fit(const Context& context) const {
    const std::uint64_t bytes = static_cast<std::uint64_t>(c_.cols) * sizeof(Value);
    return c_.cols <= c_.nnz() && (context.memory_budget == 0 || bytes <= context.memory_budget);
  }

  matrices::Csr<Value, Idx> a_;
  std::optional<matrices::Csr<Value, Idx>> b_;  ///< empty as long as B is A, values included
  matrices::Pattern<Idx> c_;
};

std::unique_ptr<sortie_plan> plan_on_host(const Context& context, const sortie_csr_view& a,
                                          const sortie_csr_view& b) {
  start_threads(context);
  return with_matrix_types(a,
                           [&]<class Value, class Idx>(Value, Idx) -> std::unique_ptr<sortie_plan> {
                             return std::make_unique<HostPlan<Value, Idx>>(context, a, b);
                           });
}

}  // namespace

template <matrices::Scalar Value, matrices::Index Idx>
std::unique_ptr<sortie_csr> to_matrix(matrices::Csr<Value, Idx> matrix) {
  return std::make_unique<HostMatrix<Value, Idx>>(std::move(matrix));
}

template <matrices::Scalar Value, matrices::Index Idx>
matrices::Csr<Value, Idx> to_csr(std::string_view name, const sortie_csr_view& view) {
  matrices::Csr<Value, Idx> matrix{view.rows, view.cols, {}, {}, {}};
  matrix.row_ptr = view.row_ptr_type == SORTIE_I32 ? checked_row_ptr<std::int32_t>(name, view)
                                                   : checked_row_ptr<std::int64_t>(name, view);
  const bool ascends = checked_columns<Idx>(name, view, matrix.row_ptr);
  const auto* const columns = static_cast<const Idx*>(view.col_idx);
  matrix.col_idx = SpareArray<Idx>::take(view.nnz);
  spgemm::host::reserve_large_pages(matrix.col_idx, view.nnz);
  matrix.col_idx.assign(columns, columns + view.nnz);
  if (view.values == nullptr) {
    matrix.values.resize(matrix.col_idx.size());  // a structure
  } else {
    const auto* const values = static_cast<const Value*>(view.values);
    matrix.values = SpareArray<Value>::take(view.nnz);
    spgemm::host::reserve_large_pages(matrix.values, view.nnz);
    matrix.values.assign(values, values + view.nnz);
  }
  return ascends ? matrix : canonical(std::move(matrix));
}

#define SORTIE_INSTANTIATE(Value, Idx)                                       \
  template std::unique_ptr<sortie_csr> to_matrix(matrices::Csr<Value, Idx>); \
  template matrices::Csr<Value, Idx> to_csr<Value, Idx>(std::string_view, const sortie_csr_view&);
SORTIE_INSTANTIATE(float, std::int32_t)
SORTIE_INSTANTIATE(float, std::int64_t)
SORTIE_INSTANTIATE(double, std::int32_t)
SORTIE_INSTANTIATE(double, std::int64_t)
SORTIE_INSTANTIATE(std::complex<double>, std::int32_t)
SORTIE_INSTANTIATE(std::complex<double>, std::int64_t)
#undef SORTIE_INSTANTIATE

void check_view(std::string_view name, const sortie_csr_view* view) {
  require_pointer(name, view, 1);
  const auto argument = [&](std::string_view member) { return fmt::format("{}.{}", name, member); };
  if (view->rows < 0 || view->cols < 0 || view->nnz < 0)
    refuse(name,
           fmt::format("{} rows, {} columns and {} entries", view->rows, view->cols, view->nnz),
           "no negative number");
  with_index_type(argument("row_ptr_type"), view->row_ptr_type, [](auto) {});
  with_index_type(argument("col_idx_type"), view->col_idx_type, [](auto) {});
  with_value_type(view->value_type, [](auto) {});
  const auto nnz = static_cast<std::uint64_t>(view->nnz);
  require_array(argument("row_ptr"), view->row_ptr, static_cast<std::uint64_t>(view->rows) + 1,
                sizeof(std::int64_t));
  require_array(argument("col_idx"), view->col_idx, nnz, sizeof(std::int64_t));
  if (view->values != nullptr)
    require_array(argument("values"), view->values, nnz, sortie_type_bytes(view->value_type));
  require_memory(argument("memory"), view->memory);
}

void check_operands(const sortie_csr_view* a, const sortie_csr_view* b) {
  check_view("a", a);
  check_view("b", b);
  if (a->memory != b->memory) refuse("b.memory", "another memory than that of a", "the same");
  if (a->value_type != b->value_type)
    refuse("b.value_type", name_of(b->value_type), name_of(a->value_type));
  if (a->col_idx_type != b->col_idx_type)
    refuse("b.col_idx_type", name_of(b->col_idx_type), name_of(a->col_idx_type));
  if (a->cols != b->rows) {
    throw Error(ErrorKind::input,
                fmt::format("b: found {} rows, expected {}, the columns of a", b->rows, a->cols));
  }
}

namespace {

void require_values(const sortie_csr_view& a, const sortie_csr_view& b) {
  require_pointer("a.values", a.values, static_cast<std::uint64_t>(a.nnz));
  require_pointer("b.values", b.values, static_cast<std::uint64_t>(b.nnz));
}

}  // namespace
}  // namespace sortie::c

using sortie::c::guarded;

sortie_csr_view sortie_csr_get(const sortie_csr* matrix) {
  return matrix == nullptr ? sortie_csr_view{} : matrix->view();
}

sortie_status sortie_csr_copy(sortie_context* context, const sortie_csr* matrix,
                              sortie_type row_ptr_type, void* row_ptr, sortie_type col_idx_type,
                              void* col_idx, void* values) {
  return guarded(context, [&] {
    sortie::c::require_pointer("matrix", matrix, 1);
    const sortie_csr_view view = matrix->view();
    sortie::c::with_index_type("row_ptr_type", row_ptr_type, [](auto) {});
    sortie::c::with_index_type("col_idx_type", col_idx_type, [](auto) {});
    constexpr std::int64_t narrow = std::numeric_limits<std::int32_t>::max();
    const auto check = [&](const char* argument, sortie_type type, std::int64_t greatest) {
      if (type == SORTIE_I64 || greatest <= narrow) return;
      throw sortie::Error(
          sortie::ErrorKind::input,
          fmt::format("{}: found i32 for indices up to {}, expected i64", argument, greatest));
    };
    check("row_ptr_type", row_ptr_type, view.nnz);
    check("col_idx_type", col_idx_type, view.cols - 1);
    matrix->copy(context->stream, sortie_type_bytes(row_ptr_type), row_ptr,
                 sortie_type_bytes(col_idx_type), col_idx, values);
  });
}

void sortie_csr_destroy(sortie_csr* matrix) {
  delete matrix;
}

sortie_status sortie_spgemm(sortie_context* context, const sortie_csr_view* a,
                            const sortie_csr_view* b, unsigned flags, sortie_csr** c) {
  return guarded(context, [&] {
    sortie::c::require_pointer("c", c, 1);
    sortie::c::check_operands(a, b);
    sortie::c::require_values(*a, *b);
    const bool on_device = a->memory == SORTIE_DEVICE_MEMORY;
    if ((flags & ~unsigned{SORTIE_DROP_ZEROS}) != 0 || (flags != 0 && on_device))
      sortie::c::refuse("flags", fmt::format("{:#x}", flags),
                        on_device ? "0 for device memory" : "SORTIE_DROP_ZEROS or 0");
    const sortie::Context settings = sortie::c::settings_of(*context);
    *c = (on_device ? sortie::c::multiply_on_device(settings, *a, *b, context->stream)
                    : sortie::c::multiply_on_host(settings, *a, *b, flags != 0))
             .release();
  });
}

sortie_status sortie_plan_create(sortie_context* context, const sortie_csr_view* a,
                                 const sortie_csr_view* b, sortie_plan** plan) {
  return guarded(context, [&] {
    sortie::c::require_pointer("plan", plan, 1);
    sortie::c::check_operands(a, b);
    // On a device, the structure is found by a first product.
    if (a->memory == SORTIE_DEVICE_MEMORY) sortie::c::require_values(*a, *b);
    const sortie::Context settings = sortie::c::settings_of(*context);
    auto made = a->memory == SORTIE_DEVICE_MEMORY
                    ? sortie::c::plan_on_device(settings, *a, *b, context->stream)
                    : sortie::c::plan_on_host(settings, *a, *b);
    made->a_nnz = a->nnz;
    made->b_nnz = b->nnz;
    *plan = made.release();
  });
}

sortie_csr_view sortie_plan_get(const sortie_plan* plan) {
  return plan == nullptr ? sortie_csr_view{} : plan->view();
}

sortie_status sortie_plan_multiply(sortie_context* context, sortie_plan* plan, const void* a_values,
                                   const void* b_values, void* c_values) {
  return guarded(context, [&] {
    sortie::c::require_pointer("plan", plan, 1);
    const auto require = [](const char* argument, const void* values, std::int64_t nnz) {
      sortie::c::require_pointer(argument, values, static_cast<std::uint64_t>(nnz));
    };
    require("a_values", a_values, plan->a_nnz);
    require("b_values", b_values, plan->b_nnz);
    require("c_values", c_values, plan->view().nnz);
    plan->multiply(sortie::c::settings_of(*context), a_values, b_values, c_values);
  });
}

void sortie_plan_destroy(sortie_plan* plan) {
  delete plan;
}
