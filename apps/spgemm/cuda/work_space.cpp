// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/baselines/cusparse.hpp"
#include "apps/spgemm/cuda/essc/expansion.hpp"
#include "apps/spgemm/cuda/essc/payload.hpp"
#include "apps/spgemm/cuda/fused/counted_rows.hpp"
#include "apps/spgemm/cuda/fused/fused_product.hpp"
#include "apps/spgemm/cuda/fused/large_row_task.hpp"
#include "apps/spgemm/cuda/fused/row_bins.hpp"
#include "core/cuda/device_scope.hpp"
#include "sortie/device_csr.hpp"

// Predicts the memory of ChunkedProduct and FusedProduct from the sizes, by the tables in their
// documentation. The device test of work_space() checks that prediction and allocation agree.
namespace sortie::spgemm::cuda {
namespace {

/// One eighth of the device memory stays free if there is no budget.
constexpr std::uint64_t memory_left_free = 8;

template <class Value, class Column, class Key>
WorkSpace expansion_work_space(const Context& context, const ProductSize& size) {
  const DeviceScope scope(context);
  WorkSpace space;
  space.limit = device_memory_budget(context);
  if (context.memory_budget == 0) space.limit -= space.limit / memory_left_free;

  constexpr std::uint64_t per_entry = sizeof(std::int64_t) + expansion_bytes_per_entry;
  constexpr std::uint64_t per_row = 2 * sizeof(std::uint32_t) + sizeof(std::int64_t);
  constexpr std::uint64_t sorted =
      sizeof(Key) + sizeof(PayloadType<Value>) + (Payload<Value>::is_index ? sizeof(Value) : 0);
  constexpr std::uint64_t in_sort = sorted + sizeof(Key) + sizeof(PayloadType<Value>) + 1;
  constexpr std::uint64_t in_compression = sorted + sizeof(Column) + sizeof(Value) + 1;
  constexpr std::uint64_t per_product = std::max(in_sort, in_compression);

  const std::uint64_t fixed = per_entry * (static_cast<std::uint64_t>(size.nnz_a) + 1) +
                              per_row * (static_cast<std::uint64_t>(size.rows) + 1);
  const std::uint64_t left = space.limit - std::min(space.limit, fixed);
  const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
  const std::uint64_t chunk = std::min({static_cast<std::uint64_t>(size.products),
                                        static_cast<std::uint64_t>(max_chunk_products),
                                        std::max(longest, left / per_product)});
  space.least = fixed + longest * per_product;
  space.most = fixed + chunk * per_product;
  return space;
}

template <class Idx>
bool wide_columns(const ProductSize& size) {
  return sizeof(Idx) == sizeof(std::int64_t) && needs_wide_columns(size.cols);
}

template <Scalar Value, Index Idx>
WorkSpace essc_work_space(const Context& context, const ProductSize& size) {
  return wide_columns<Idx>(size)
             ? expansion_work_space<Value, std::uint64_t, std::uint64_t>(context, size)
             : expansion_work_space<Value, std::uint32_t, std::uint32_t>(context, size);
}

/// If fused cannot compute the product, the work space of essc, which `automatic` uses then.
template <Scalar Value, Index Idx>
WorkSpace fused_work_space(const Context& context, const ProductSize& size) {
  const DeviceScope scope(context);
  if (wide_columns<Idx>(size) || !fits_fused_product<Value>(size.rows, size.cols))
    return essc_work_space<Value, Idx>(context, size);
  WorkSpace space;
  space.limit = device_memory_budget(context);
  if (context.memory_budget == 0) space.limit -= space.limit / memory_left_free;

  constexpr std::uint64_t entry = sizeof(std::uint32_t) + sizeof(Value);
  const auto rows = static_cast<std::uint64_t>(size.rows);
  const auto products = static_cast<std::uint64_t>(size.products);
  const auto longest = static_cast<std::uint64_t>(size.longest_row_products);
  const std::uint64_t fixed = fused_bytes_per_row * (rows + 1);
  const std::uint64_t left = space.limit - std::min(space.limit, fixed);
  const std::uint64_t needed = fused_bytes_per_row_of_chunk * rows +
                               entry * static_cast<std::uint64_t>(size.nnz_c_bound) +
                               large_row_bytes_per_product * products;
  // Row bitmaps, and staging of small and medium rows with up to seven padding entries per row.
  constexpr auto longest_sorted =
      static_cast<std::uint64_t>(row_bins[first_large_bin - 1].max_products);
  const std::uint64_t helpful =
      2 * products +
      entry * std::min(8 * products, std::min(products, longest_sorted * rows) + 7 * rows);
  space.least = fixed + fused_bytes_per_row_of_chunk +
                entry * std::min(longest, static_cast<std::uint64_t>(size.cols)) +
                large_row_bytes_per_product * longest;
  space.most = fixed + std::min(left, needed + helpful);
  return space;
}

}  // namespace

template <Scalar Value, Index Idx>
std::optional<WorkSpace> work_space(const Context& context, const ProductSize& size,
                                    Algorithm algorithm) {
  if (is_cusparse(algorithm)) return std::nullopt;
  if (algorithm == Algorithm::essc) return essc_work_space<Value, Idx>(context, size);
  if (algorithm != Algorithm::esc) return fused_work_space<Value, Idx>(context, size);
  return wide_columns<Idx>(size)
             ? expansion_work_space<Value, std::uint64_t, std::uint64_t>(context, size)
             : expansion_work_space<Value, std::uint32_t, std::uint64_t>(context, size);
}

#define SORTIE_INSTANTIATE(Value, Idx)                                                         \
  template std::optional<WorkSpace> work_space<Value, Idx>(const Context&, const ProductSize&, \
                                                           Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
