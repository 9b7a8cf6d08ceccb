// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/host/semiring_rows.hpp"
#include "apps/spgemm/semiring_backends.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm.hpp"

/// Compiled once for each type of values: CMakeLists.txt lists the instances.
namespace sortie::spgemm::host {

/// 1 for values that are not zero.
template <class Value>
std::vector<std::uint8_t> truths(const std::vector<Value>& values) {
  std::vector<std::uint8_t> result;
  resize_for_overwrite(result, std::ssize(values));
  std::transform(values.begin(), values.end(), result.begin(), [](Value v) { return truth(v); });
  return result;
}

/// Returns use.operator()<Arithmetic>(a, b) for the arithmetic of the semiring and its operands.
/// \pre has_semiring<Value>(semiring)
template <Element Value, Index Idx, class Use>
auto with_arithmetic(Semiring semiring, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                     const Use& use) {
  const auto operand = []<class T>(const Csr<Value, Idx>& matrix, std::span<const T> values) {
    return SemiringOperand<T, Idx>{matrix.row_ptr, matrix.col_idx, values, matrix.rows};
  };
  const auto with_values = [&]<class Arithmetic>(Arithmetic) {
    return use.template operator()<Arithmetic>(operand(a, std::span<const Value>(a.values)),
                                               operand(b, std::span<const Value>(b.values)));
  };
  if (semiring == Semiring::plus_pair || semiring == Semiring::any_pair) {
    return use.template operator()<Count<ProductCounter<Idx>>>(
        operand(a, std::span<const NoOperand>()), operand(b, std::span<const NoOperand>()));
  }
  if constexpr (!is_complex<Value> && !std::is_same_v<Value, std::uint8_t>) {
    if (semiring == Semiring::min_plus) return with_values(MinPlus<Value>());
    if (semiring == Semiring::max_plus) return with_values(MaxPlus<Value>());
    if (semiring == Semiring::max_times) return with_values(MaxTimes<Value>());
  }
  if constexpr (!std::is_same_v<Value, std::uint8_t>) {
    if (semiring == Semiring::plus_times) return with_values(PlusTimes<Value>());
  }
  const std::vector<std::uint8_t> truths_a = truths(a.values);
  const std::vector<std::uint8_t> truths_b =
      &a == &b ? std::vector<std::uint8_t>{} : truths(b.values);
  return use.template operator()<OrAnd>(
      operand(a, std::span<const std::uint8_t>(truths_a)),
      operand(b, std::span<const std::uint8_t>(&a == &b ? truths_a : truths_b)));
}

/// The entry of C for a sum.
template <class Arithmetic, class Value>
Value entry_of(typename Arithmetic::Sum sum, Semiring semiring) {
  if constexpr (std::is_same_v<typename Arithmetic::Sum, Value> &&
                !std::is_same_v<typename Arithmetic::Operand, NoOperand>) {
    return sum;
  } else {
    return from_number<Value>(semiring == Semiring::any_pair ? 1 : sum);
  }
}

/// The entries of a structure that have products, with their values.
template <class Arithmetic, Element Value, Index Idx>
Csr<Value, Idx> entries_with_products(const Pattern<Idx>& structure,
                                      StructureValues<typename Arithmetic::Sum> found,
                                      Semiring semiring) {
  constexpr std::int64_t rows_per_block = 1 << 12;
  const auto is_hit = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return found.hits.empty() ? found.values[at] != typename Arithmetic::Sum{}
                              : found.hits[at] != 0;
  };
  Csr<Value, Idx> c{structure.rows, structure.cols, std::move(found.row_hits), {}, {}};
  std::partial_sum(c.row_ptr.begin(), c.row_ptr.end(), c.row_ptr.begin());
  resize_for_overwrite(c.col_idx, c.row_ptr.back());
  resize_for_overwrite(c.values, c.row_ptr.back());
  for_each_block_of(structure.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
    std::int64_t to = c.row_ptr[first];
    for (std::int64_t i = structure.row_ptr[first]; i < structure.row_ptr[last]; ++i) {
      if (!is_hit(i)) continue;
      c.col_idx[to] = structure.col_idx[i];
      c.values[to++] = entry_of<Arithmetic, Value>(found.values[i], semiring);
    }
  });
  return c;
}

/// The entries for the sums of a structure.
template <class Arithmetic, class Value>
std::vector<Value> entries_of(std::vector<typename Arithmetic::Sum> sums, Semiring semiring) {
  if constexpr (std::is_same_v<typename Arithmetic::Sum, Value> &&
                !std::is_same_v<typename Arithmetic::Operand, NoOperand>) {
    return sums;
  } else {
    std::vector<Value> values;
    resize_for_overwrite(values, std::ssize(sums));
    std::transform(sums.begin(), sums.end(), values.begin(),
                   [&](auto sum) { return entry_of<Arithmetic, Value>(sum, semiring); });
    return values;
  }
}

/// The structure of A * B, without the mask if there is one.
template <Element Value, Index Idx>
Pattern<Idx> product_structure(const HostContext& context, const Csr<Value, Idx>& a,
                               const Csr<Value, Idx>& b, const Pattern<Idx>* mask) {
  const PhaseTimer timer(context, "structure");
  Context of_structure;
  static_cast<HostContext&>(of_structure) = context;
  of_structure.backend = Backend::host;
  of_structure.report = nullptr;
  const Pattern<Idx> pattern_a = matrices::pattern_of(a);
  Pattern<Idx> c = &a == &b ? multiply_structure(of_structure, pattern_a, pattern_a)
                            : multiply_structure(of_structure, pattern_a, matrices::pattern_of(b));
  return mask == nullptr ? c : without(c, *mask);
}

template <Element Value, Index Idx>
Csr<Value, Idx> semiring_product(const HostContext& context, const Csr<Value, Idx>& a,
                                 const Csr<Value, Idx>& b, const ProductOptions<Idx>& options) {
  const bool masked = options.mask != nullptr && !options.complement;
  Pattern<Idx> structure;
  if (!masked) structure = product_structure(context, a, b, options.mask);
  if (!masked && options.semiring == Semiring::any_pair)
    return matrices::with_ones<Value>(std::move(structure));
  const Pattern<Idx>& where = masked ? *options.mask : structure;
  const PhaseTimer timer(context, "values");
  return with_arithmetic(
      options.semiring, a, b, [&]<class Arithmetic>(const auto& of_a, const auto& of_b) {
        constexpr std::uint64_t bytes = sizeof(typename Arithmetic::Sum) + 1;
        if (masked)
          require_budget(context, "the sums of the entries of the mask", where.nnz() * bytes);
        constexpr bool counts = std::is_same_v<typename Arithmetic::Operand, NoOperand>;
        auto found = compute_on_structure<Arithmetic, Idx>(
            context, of_a, of_b, {where.row_ptr, where.col_idx}, b.cols, masked && !counts);
        if (masked)
          return entries_with_products<Arithmetic, Value>(where, std::move(found),
                                                          options.semiring);
        return Csr<Value, Idx>{
            a.rows, b.cols, std::move(structure.row_ptr), std::move(structure.col_idx),
            entries_of<Arithmetic, Value>(std::move(found.values), options.semiring)};
      });
}

template <Element Value, Index Idx>
void semiring_values(const HostContext& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                     Semiring semiring, Csr<Value, Idx>& c) {
  const PhaseTimer timer(context, "values");
  c.values =
      with_arithmetic(semiring, a, b, [&]<class Arithmetic>(const auto& of_a, const auto& of_b) {
        return entries_of<Arithmetic, Value>(
            compute_on_structure<Arithmetic, Idx>(context, of_a, of_b, {c.row_ptr, c.col_idx},
                                                  b.cols, false)
                .values,
            semiring);
      });
}

}  // namespace sortie::spgemm::host
