// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_spgemm_plan.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/fused/fused_product.hpp"
#include "apps/spgemm/cuda/lists/product_lists.hpp"
#include "apps/spgemm/cuda/patterns/pattern_product.hpp"
#include "apps/spgemm/cuda/semiring/structure_values.hpp"
#include "apps/spgemm/semiring.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {

/// The structure of C by the fused product. The device must be current for all functions.
template <class Value>
struct FusedStructure {
  RowBins bins;
  CountedRows<Value> counted;
  DeviceBuffer<std::int64_t> row_ptr;
  std::int64_t entries = 0;              ///< of C
  DeviceBuffer<std::uint64_t> products;  ///< of each row; only while the plan is made

  /// \param budget  bytes
  FusedStructure(const DeviceContext& context, const DeviceCsrView<Value>& a,
                 const DeviceCsrView<Value>& b, std::uint64_t budget) {
    const cudaStream_t stream = context.stream;
    DevicePhase analysis(context, "analysis");
    const auto require = [budget](std::uint64_t wanted, const char* what) {
      if (wanted > budget) throw out_of_memory_error(what, wanted, budget);
    };
    const auto rows = static_cast<std::uint64_t>(a.rows);
    const std::uint64_t lasting =
        fused_bytes_per_row * (rows + 1) + 2 * sizeof(std::uint32_t) * rows;
    require(lasting, "the analysis of A * B");
    row_ptr = DeviceBuffer<std::int64_t>(rows + 1, stream);
    bins = find_row_bins(a, b, products, row_ptr.data(), stream);
    bins.slots.reset();
    analysis.stop();

    DevicePhase counting(context, "counting");
    require(lasting + bins.products * large_row_bytes_per_product, "the structure of A * B");
    counted = count_rows<Value>({a, b}, bins, budget - lasting, row_ptr.data(), false, stream);
    entries = counted.found.entries;
    trim_bitmaps(counted, stream);
    counting.stop();
  }

  [[nodiscard]] std::int64_t nnz() const { return entries; }
  [[nodiscard]] std::uint64_t bytes() const {
    const LargeRows& large = counted.large;
    return bins.rows.bytes() + large.storage.bytes() + large.bitmaps.bytes() + row_ptr.bytes();
  }

  /// Leaves only the rows that `products` still has. If it throws, nothing has changed.
  /// \param budget  bytes
  void keep_rows_with_products(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
                               std::uint64_t budget, cudaStream_t stream) {
    DeviceBuffer<std::int64_t> counts(row_ptr.size(), stream);
    RowBins others = find_row_bins(products.data(), a.rows, counts.data(), stream);
    others.slots.reset();
    CountedRows<Value> of_others =
        count_rows<Value>({a, b}, others, budget, counts.data(), false, stream);
    trim_bitmaps(of_others, stream);
    bins = std::move(others);
    counted = std::move(of_others);
  }

  void make(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, std::uint32_t* col_idx,
            Value* values, cudaStream_t stream) const {
    make_rows<Value>({a, b, nullptr, 0}, bins, counted, {row_ptr.data(), col_idx, values}, stream);
  }

 private:
  /// The bitmaps were allocated before their total size was known: keeps only the used part.
  static void trim_bitmaps(CountedRows<Value>& rows, cudaStream_t stream) {
    DeviceBuffer<std::uint32_t>& bitmaps = rows.large.bitmaps;
    const std::uint64_t used = rows.found.bitmap_words;
    if (used >= bitmaps.size()) return;
    DeviceBuffer<std::uint32_t> kept(used, stream);
    if (used != 0)
      check_cuda(cudaMemcpyAsync(kept.data(), bitmaps.data(), kept.bytes(),
                                 cudaMemcpyDeviceToDevice, stream));
    bitmaps = std::move(kept);
  }
};

/// The structure of C by patterns, with the tiles of all rows.
template <class Value>
struct TiledStructure : PatternStructure<Value> {
  RowTiles all_tiles;
  std::int64_t entries = 0;

  TiledStructure(const DeviceContext& context, const DeviceCsrView<Value>& a,
                 const DeviceCsrView<Value>& b, std::uint64_t budget)
      : PatternStructure<Value>(context, a, b, budget) {
    all_tiles = this->tiles(0, a.rows, context.stream);
    check_cuda(cudaMemcpyAsync(&entries, this->row_ptr.data() + a.rows, sizeof(entries),
                               cudaMemcpyDeviceToHost, context.stream));
    check_cuda(cudaStreamSynchronize(context.stream));
  }

  [[nodiscard]] std::int64_t nnz() const { return entries; }
  [[nodiscard]] std::uint64_t bytes() const {
    return PatternStructure<Value>::bytes() + all_tiles.tiles.bytes();
  }

  void make(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, std::uint32_t* col_idx,
            Value* values, cudaStream_t stream) const {
    compute_tiles(a, b, this->programs, all_tiles, this->tile_rows,
                  {this->row_ptr.data(), 0, col_idx, values}, stream);
  }
};

/// The structure of C by a product of ESSC, where C has too many columns for the fused one.
template <class Value>
struct WideStructure {
  DeviceBuffer<std::int64_t> row_ptr;
  DeviceBuffer<std::uint32_t> col_idx;   ///< until the plan takes them
  std::int64_t entries = 0;              ///< of C
  std::uint64_t product_count = 0;       ///< of all rows
  DeviceBuffer<std::uint64_t> products;  ///< of each row; only while the plan is made

  WideStructure(const DeviceContext& context, const DeviceCsrView<Value>& a,
                const DeviceCsrView<Value>& b) {
    DevicePhase counting(context, "counting");
    Context quiet = context;
    quiet.report = nullptr;
    DeviceCsr<Value> c = multiply_on_device(quiet, a, b, Algorithm::essc, context.stream);
    entries = c.nnz();
    row_ptr = std::move(c.row_ptr);
    col_idx = std::move(c.col_idx);
    DeviceBuffer<std::int64_t> counts(row_ptr.size(), context.stream);
    product_count = find_row_bins(a, b, products, counts.data(), context.stream).products;
    counting.stop();
  }

  [[nodiscard]] std::int64_t nnz() const { return entries; }
  [[nodiscard]] std::uint64_t bytes() const { return row_ptr.bytes(); }
};

/// The device must be current for all functions.
template <class Value>
struct SpgemmPlan<Value>::State {
  State(const DeviceContext& device_context, const DeviceCsrView<Value>& a_view,
        const DeviceCsrView<Value>& b_view)
      : context(device_context), a(a_view), b(b_view) {
    const std::uint64_t budget = product_memory_budget(context);
    if (fits_pattern_product(a.rows, b.rows) &&
        patterns_repeat(a, b, min_pattern_products_of_plan, context.stream)) {
      try {
        tiled.emplace(context, a, b, budget);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::out_of_memory) throw;
      }
      // Long rows are products of their own, which a plan does not have.
      if (tiled && tiled->programs.sizes.long_classes != 0) tiled.reset();
    }
    if (!tiled && fits_fused_product<Value>(a.rows, b.cols)) {
      fused.emplace(context, a, b, budget);
    } else if (!tiled) {
      constexpr std::int64_t limit = std::int64_t{1} << 32;
      if (a.rows >= limit || b.rows >= limit || b.nnz >= limit)
        throw too_large_for_fused_product(a.rows, b.cols);
      wide.emplace(context, a, b);
      col_idx = std::move(wide->col_idx);
    }
    const std::uint64_t wanted = bytes() + static_cast<std::uint64_t>(nnz()) * entry_bytes<Value>;
    if (wanted > budget) throw out_of_memory_error("the plan of A * B with C", wanted, budget);
    if (!wide) {
      col_idx = DeviceBuffer<Column>(nnz(), context.stream);
      DeviceBuffer<Value> c_values(nnz(), context.stream);
      make(a.values, b.values, col_idx.data(), c_values.data());
    }
    a.values = nullptr;
    b.values = nullptr;
    if (fused) make_lists(fused->products, fused->bins.products, budget);
    if (wide) make_lists(wide->products, wide->product_count, budget);
  }

  /// Makes lists of products for the rows that can have them, within what the plan and the values of C
  /// leave of the budget; else none.
  /// \param products  of each row, which are released
  /// \param total     of these
  void make_lists(DeviceBuffer<std::uint64_t>& products, std::uint64_t total,
                  std::uint64_t budget) {
    constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
    // With more products an entry the fused product is faster: 27-point grid of 3 unknowns, 17.6 products
    // an entry, 5.5 ms for 8.0 on an H100.
    constexpr std::uint64_t most_products_of_entry = 12;
    if (nnz() != 0 && total <= most_products_of_entry * static_cast<std::uint64_t>(nnz()) &&
        a.nnz < most && b.nnz < most && a.rows < most) {
      const std::uint64_t spent =
          bytes() + products.bytes() + static_cast<std::uint64_t>(nnz()) * sizeof(Value);
      DevicePhase listing(context, "lists");
      try {
        lists = make_product_lists(
            {a.rows, a.row_ptr, a.col_idx, b.row_ptr, b.col_idx, row_ptr().data(), col_idx.data()},
            products.data(), max_list_weight(list_tile_bytes<Value>),
            budget - std::min(budget, spent), context.stream);
        if (fused) {
          fused->keep_rows_with_products(a, b, budget - std::min(budget, spent + lists->bytes()),
                                         context.stream);
        } else if (lists->other_rows != 0) {
          lists.reset();
        }
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::out_of_memory) throw;
        lists.reset();
      }
      listing.stop();
    }
    products.reset();
  }

  /// Returns use(structure).
  template <class Use>
  decltype(auto) with_structure(const Use& use) const {
    return tiled ? use(*tiled) : fused ? use(*fused) : use(*wide);
  }
  [[nodiscard]] std::int64_t nnz() const {
    return with_structure([](const auto& structure) { return structure.nnz(); });
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return with_structure([](const auto& structure) { return structure.bytes(); }) +
           (lists ? lists->bytes() : 0) + col_idx.bytes();
  }
  [[nodiscard]] const DeviceBuffer<std::int64_t>& row_ptr() const {
    return with_structure([](const auto& structure) -> const DeviceBuffer<std::int64_t>& {
      return structure.row_ptr;
    });
  }

  /// \param c_col_idx  null: only values are wanted
  void make(const Value* a_values, const Value* b_values, Column* c_col_idx, Value* c_values) {
    DevicePhase making(context, "making");
    DeviceCsrView<Value> new_a = a;
    DeviceCsrView<Value> new_b = b;
    new_a.values = a_values;
    new_b.values = b_values;
    if ((lists || wide) && c_col_idx != nullptr && c_col_idx != col_idx.data() && nnz() != 0)
      check_cuda(cudaMemcpyAsync(c_col_idx, col_idx.data(), col_idx.bytes(),
                                 cudaMemcpyDeviceToDevice, context.stream));
    if (lists) add_product_lists(*lists, a_values, b_values, c_values, context.stream);
    if (tiled) {
      tiled->make(new_a, new_b, c_col_idx, c_values, context.stream);
    } else if (wide) {
      if (!lists && nnz() != 0)
        compute_structure_sums<PlusTimes<Value>>(a.rows, nnz(), {a.row_ptr, a.col_idx},
                                                 {b.row_ptr, b.col_idx},
                                                 {row_ptr().data(), col_idx.data()}, a_values,
                                                 b_values, c_values, nullptr, context.stream);
    } else {
      // Writes the columns of its rows in any case.
      fused->make(new_a, new_b, c_col_idx != nullptr ? c_col_idx : col_idx.data(), c_values,
                  context.stream);
    }
    making.stop();
  }

  DeviceContext context;
  DeviceCsrView<Value> a;  ///< values: those given to the constructor, not read later
  DeviceCsrView<Value> b;
  std::optional<TiledStructure<Value>> tiled;  ///< one of the three
  std::optional<FusedStructure<Value>> fused;
  std::optional<WideStructure<Value>> wide;
  std::optional<ProductLists> lists;  ///< of the rows that `fused` does not have, or of all
  DeviceBuffer<Column> col_idx;
};

template <class Value>
SpgemmPlan<Value>::SpgemmPlan(const Context& context, const DeviceCsrView<Value>& a,
                              const DeviceCsrView<Value>& b, CUstream_st* stream) {
  check_shapes(a, b);
  const DeviceCall call(context, stream);
  state_ = std::make_unique<State>(call, a, b);
}

template <class Value>
SpgemmPlan<Value>::~SpgemmPlan() {
  release();
}

template <class Value>
SpgemmPlan<Value>::SpgemmPlan(SpgemmPlan&& other) noexcept = default;

template <class Value>
SpgemmPlan<Value>& SpgemmPlan<Value>::operator=(SpgemmPlan&& other) noexcept {
  if (this == &other) return *this;
  release();
  state_ = std::move(other.state_);
  return *this;
}

template <class Value>
void SpgemmPlan<Value>::release() noexcept {
  if (state_ != nullptr) release_on_device(state_->context.device, [this] { state_.reset(); });
}

template <class Value>
std::int64_t SpgemmPlan<Value>::rows() const {
  return state_->a.rows;
}

template <class Value>
std::int64_t SpgemmPlan<Value>::cols() const {
  return state_->b.cols;
}

template <class Value>
std::int64_t SpgemmPlan<Value>::nnz() const {
  return state_->nnz();
}

template <class Value>
const DeviceBuffer<std::int64_t>& SpgemmPlan<Value>::row_ptr() const {
  return state_->row_ptr();
}

template <class Value>
const DeviceBuffer<std::uint32_t>& SpgemmPlan<Value>::col_idx() const {
  return state_->col_idx;
}

template <class Value>
std::uint64_t SpgemmPlan<Value>::bytes() const {
  return state_->bytes();
}

template <class Value>
void SpgemmPlan<Value>::multiply(const Value* a_values, const Value* b_values, Value* c_values) {
  const CurrentDevice current(state_->context.device);
  state_->make(a_values, b_values, nullptr, c_values);
}

template <class Value>
DeviceCsr<Value> SpgemmPlan<Value>::multiply(const Value* a_values, const Value* b_values) const {
  const CurrentDevice current(state_->context.device);
  const cudaStream_t stream = state_->context.stream;
  const DeviceBuffer<std::int64_t>& offsets = state_->row_ptr();
  DeviceCsr<Value> c{rows(), cols(), DeviceBuffer<std::int64_t>(offsets.size(), stream),
                     DeviceBuffer<Column>(nnz(), stream), DeviceBuffer<Value>(nnz(), stream)};
  check_cuda(cudaMemcpyAsync(c.row_ptr.data(), offsets.data(), offsets.bytes(),
                             cudaMemcpyDeviceToDevice, stream));
  state_->make(a_values, b_values, c.col_idx.data(), c.values.data());
  return c;
}

template class SpgemmPlan<float>;
template class SpgemmPlan<double>;
template class SpgemmPlan<std::complex<double>>;

}  // namespace sortie::spgemm::cuda
