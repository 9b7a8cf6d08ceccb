// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "bindings/c/context.hpp"
#include "bindings/c/types.hpp"
#include "sortie/sortie.h"

/// The sorts of the C interface, as its functions receive them.
namespace sortie::c {

/// Arrays of a sort. \pre checked by check_call()
struct SortCall {
  sortie_type type = SORTIE_U32;
  const void* keys = nullptr;
  void* sorted_keys = nullptr;
  std::uint64_t size = 0;
  const void* values = nullptr;
  void* sorted_values = nullptr;
  std::size_t value_bytes = 0;
  unsigned flags = 0;
  const sortie_segments* segments = nullptr;  ///< null: the whole array is one

  [[nodiscard]] bool is_in_place() const { return keys == sorted_keys; }
  [[nodiscard]] bool descends() const { return (flags & SORTIE_DESCENDING) != 0; }
  [[nodiscard]] std::size_t key_size() const { return sortie_type_bytes(type); }
};

/// Keys of which only the positions in sorted order are wanted.
struct ArgsortCall {
  sortie_type type = SORTIE_U32;
  const void* keys = nullptr;
  std::uint64_t size = 0;
  sortie_type position_type = SORTIE_U32;
  void* positions = nullptr;
  unsigned flags = 0;
  const sortie_segments* segments = nullptr;

  /// The sort of these keys, without arrays to sort to.
  [[nodiscard]] SortCall of_keys() const {
    SortCall call;
    call.type = type;
    call.keys = keys;
    call.size = size;
    call.flags = flags;
    call.segments = segments;
    return call;
  }
};

/// The first k keys of each segment in sorted order. \pre checked by check_call()
struct TopKCall {
  sortie_type type = SORTIE_U32;
  const void* keys = nullptr;
  std::uint64_t size = 0;
  const sortie_segments* segments = nullptr;  ///< null: the whole array is one
  std::uint64_t k = 0;
  void* top_keys = nullptr;  ///< null: not wanted
  sortie_type position_type = SORTIE_U32;
  void* positions = nullptr;  ///< null: not wanted
  unsigned flags = 0;

  [[nodiscard]] Order order() const {
    return (flags & SORTIE_DESCENDING) != 0 ? Order::descending : Order::ascending;
  }
  [[nodiscard]] bool is_sorted() const { return (flags & SORTIE_UNSORTED) == 0; }
  [[nodiscard]] std::size_t key_size() const { return sortie_type_bytes(type); }
  [[nodiscard]] std::uint64_t segment_count() const {
    return segments == nullptr ? 1 : segments->count;
  }
  [[nodiscard]] std::uint64_t results() const { return segment_count() * k; }
};

/// Positions of fewer elements than this have 32 bits while they are sorted.
inline constexpr std::uint64_t least_wide_size = std::uint64_t{1} << 32;

void sort_on_host(const Context& context, const SortCall& call);
void argsort_on_host(const Context& context, const ArgsortCall& call);
void top_k_on_host(const Context& context, const TopKCall& call);

/// On the context's device, in the order of `stream`.
/// \throws Error (unavailable) in builds without CUDA or without such a device; (out_of_memory, device)
void sort_on_device(const Context& context, const SortCall& call, CUstream_st* stream);
void argsort_on_device(const Context& context, const ArgsortCall& call, CUstream_st* stream);
void top_k_on_device(const Context& context, const TopKCall& call, CUstream_st* stream);

}  // namespace sortie::c
