// SPDX-License-Identifier: Apache-2.0

// Sorts of host memory, and selections: what the C++ functions do not take (values of any size,
// positions of other types) is brought to a form that they take.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>

#include "bindings/c/sorting.hpp"
#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "segsort/backends.hpp"
#include "sortie/segmented_sort.hpp"
#include "sortie/sort.hpp"
#include "sortie/top_k.hpp"

namespace sortie::c {
namespace {

constexpr std::uint64_t bytes_per_task = std::uint64_t{1} << 20;

void copy_bytes(const void* from, void* to, std::uint64_t bytes) {
  if (from == to) return;
  for_each_range(bytes, bytes_per_task, [&](std::uint64_t begin, std::uint64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                end - begin);
  });
}

/// \throws Error (input) a negative offset, which would be a large one without its sign
template <std::signed_integral Offset>
void refuse_negative(const sortie_segments& segments) {
  for (const void* offsets : {segments.begins, segments.ends}) {
    const auto* const first = static_cast<const Offset*>(offsets);
    for (std::uint64_t i = 0; i < segments.count; ++i) {
      if (first[i] >= 0) continue;
      throw Error(ErrorKind::input,
                  fmt::format("segments: segment {}: found {} {}, expected 0 or more", i,
                              offsets == segments.begins ? "begin" : "end", first[i]));
    }
  }
}

segsort::OffsetArray erased(const sortie_segments& segments, const void* offsets) {
  return {offsets, static_cast<int>(sortie_type_bytes(segments.offset_type)), segments.count};
}

void refuse_negative_offsets(const sortie_segments& segments) {
  if (segments.offset_type == SORTIE_I32) refuse_negative<std::int32_t>(segments);
  if (segments.offset_type == SORTIE_I64) refuse_negative<std::int64_t>(segments);
}

/// Checks all offsets before anything is written.
void check_segments(const SortCall& call) {
  const sortie_segments& segments = *call.segments;
  refuse_negative_offsets(segments);
  segsort::check_offsets(erased(segments, segments.begins), erased(segments, segments.ends),
                         call.size);
}

/// Keys and values of 0, 4 or 8 bytes, in place.
struct InPlaceSort {
  void* keys = nullptr;
  KeyType type = KeyType::u32;
  void* values = nullptr;
  int value_bytes = 0;
  bool stable = false;
};

void sort_in_place(const Context& context, const SortCall& call, const InPlaceSort& sort) {
  const Order order = call.descends() ? Order::descending : Order::ascending;
  if (call.segments == nullptr) {
    multisort::sort(context, {sort.keys,
                              sort.type,
                              call.size,
                              sort.values,
                              sort.value_bytes,
                              {.order = order, .stable = sort.stable}});
    return;
  }
  segsort::sort(context, {sort.keys,
                          sort.type,
                          call.size,
                          sort.values,
                          sort.value_bytes,
                          erased(*call.segments, call.segments->begins),
                          erased(*call.segments, call.segments->ends),
                          {.order = order, .stable = sort.stable}});
}

/// Sorts `keys`, and writes the positions from which they came.
template <class Position>
void sort_positions(const Context& context, const SortCall& call, void* keys, Position* positions,
                    bool stable) {
  for_each_index(0, call.size, [&](std::uint64_t i) { positions[i] = static_cast<Position>(i); });
  sort_in_place(context, call, {keys, key_type(call.type), positions, sizeof(Position), stable});
}

/// Sorts keys, and moves values of any size by their positions.
template <class Position>
void sort_by_positions(const Context& context, const SortCall& call) {
  const auto* values = static_cast<const char*>(call.values);
  HostArray<char> copy;
  if (call.is_in_place()) {
    copy = allocate_array<char>(context, "a copy of the values", call.size * call.value_bytes);
    copy_bytes(values, copy.get(), call.size * call.value_bytes);
    values = copy.get();
  }
  const auto positions = allocate_array<Position>(context, "positions of the values", call.size);
  sort_positions(context, call, call.sorted_keys, positions.get(),
                 (call.flags & SORTIE_STABLE) != 0);
  auto* const sorted = static_cast<char*>(call.sorted_values);
  for_each_index(0, call.size, [&, bytes = call.value_bytes](std::uint64_t i) {
    std::memcpy(sorted + i * bytes, values + positions[i] * bytes, bytes);
  });
}

template <class Position>
void argsort(const Context& context, const ArgsortCall& argsort, const SortCall& call) {
  const std::uint64_t bytes = call.size * call.key_size();
  const auto keys = allocate_array<char>(context, "a copy of the keys", bytes);
  copy_bytes(call.keys, keys.get(), bytes);
  // Equal keys are in the order of their positions.
  constexpr bool stable = true;
  if (sortie_type_bytes(argsort.position_type) == sizeof(Position)) {
    sort_positions(context, call, keys.get(), static_cast<Position*>(argsort.positions), stable);
    return;
  }
  const auto positions = allocate_array<Position>(context, "positions of 4 bytes", call.size);
  sort_positions(context, call, keys.get(), positions.get(), stable);
  auto* const wide = static_cast<std::uint64_t*>(argsort.positions);
  for_each_index(0, call.size, [&](std::uint64_t i) { wide[i] = positions[i]; });
}

/// Position of a place for which its segment has no key.
constexpr std::uint64_t no_position = ~std::uint64_t{0};

/// Writes the keys at `positions`, and zeros where there is none.
void copy_top_keys(const TopKCall& call, const std::uint64_t* positions) {
  const auto* const keys = static_cast<const char*>(call.keys);
  auto* const top_keys = static_cast<char*>(call.top_keys);
  for_each_index(0, call.results(), [&, bytes = call.key_size()](std::uint64_t i) {
    if (positions[i] == no_position) {
      std::memset(top_keys + i * bytes, 0, bytes);
    } else {
      std::memcpy(top_keys + i * bytes, keys + positions[i] * bytes, bytes);
    }
  });
}

}  // namespace

void sort_on_host(const Context& context, const SortCall& call) {
  start_threads(context);
  if (call.segments != nullptr) check_segments(call);
  if (call.size == 0) return;
  copy_bytes(call.keys, call.sorted_keys, call.size * call.key_size());
  if (call.value_bytes != 0 && call.value_bytes != 4 && call.value_bytes != 8) {
    return call.size < least_wide_size ? sort_by_positions<std::uint32_t>(context, call)
                                       : sort_by_positions<std::uint64_t>(context, call);
  }
  if (call.value_bytes != 0)
    copy_bytes(call.values, call.sorted_values, call.size * call.value_bytes);
  sort_in_place(context, call,
                {call.sorted_keys, key_type(call.type), call.sorted_values,
                 static_cast<int>(call.value_bytes), (call.flags & SORTIE_STABLE) != 0});
}

void argsort_on_host(const Context& context, const ArgsortCall& argsort_call) {
  start_threads(context);
  const SortCall call = argsort_call.of_keys();
  if (call.segments != nullptr) check_segments(call);
  if (call.size == 0) return;
  if (call.size < least_wide_size) {
    argsort<std::uint32_t>(context, argsort_call, call);
  } else {
    argsort<std::uint64_t>(context, argsort_call, call);
  }
}

void top_k_on_host(const Context& context, const TopKCall& call) {
  start_threads(context);
  if (call.segments != nullptr) refuse_negative_offsets(*call.segments);
  const bool has_wide_positions =
      call.positions != nullptr && sortie_type_bytes(call.position_type) == sizeof(std::uint64_t);
  const std::uint64_t results = call.results();
  HostArray<std::uint64_t> own;
  auto* positions = static_cast<std::uint64_t*>(call.positions);
  if (!has_wide_positions) {
    own = allocate_array<std::uint64_t>(context, "positions of 8 bytes", results);
    positions = own.get();
  }
  const std::uint64_t whole[] = {0, call.size};
  segsort::TopKRequest request;
  request.keys = call.keys;
  request.key_type = key_type(call.type);
  request.num_items = call.size;
  request.begin_offsets = {whole, sizeof(std::uint64_t), 1};
  request.end_offsets = {whole + 1, sizeof(std::uint64_t), 1};
  if (call.segments != nullptr) {
    request.begin_offsets = erased(*call.segments, call.segments->begins);
    request.end_offsets = erased(*call.segments, call.segments->ends);
    segsort::check_offsets(request.begin_offsets, request.end_offsets, call.size,
                           "segmented_top_k");
  }
  request.k = call.k;
  request.positions = positions;
  request.num_positions = results;
  request.options = {call.order(), call.is_sorted()};
  for_each_index(0, results, [&](std::uint64_t i) { positions[i] = no_position; });
  segsort::select(context, request);
  if (call.top_keys != nullptr) copy_top_keys(call, positions);
  if (call.positions == nullptr || has_wide_positions) return;
  auto* const narrow = static_cast<std::uint32_t*>(call.positions);
  for_each_index(0, results,
                 [&](std::uint64_t i) { narrow[i] = static_cast<std::uint32_t>(positions[i]); });
}

}  // namespace sortie::c
