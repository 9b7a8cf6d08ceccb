// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/sorting.hpp"

namespace sortie::c {
namespace {

void check_flags(unsigned flags) {
  constexpr unsigned known = SORTIE_DESCENDING | SORTIE_STABLE;
  if ((flags & ~known) != 0)
    refuse("flags", fmt::format("{:#x}", flags), "SORTIE_DESCENDING, SORTIE_STABLE, or both");
}

/// \throws Error (usage) no type of positions; (input) `size` keys have positions beyond it
void check_position_type(sortie_type type, std::uint64_t size) {
  if (!is_offset(type)) refuse("position_type", name_of(type), "u32, i32, u64 or i64");
  const std::uint64_t most = type == SORTIE_I32   ? std::uint64_t{1} << 31
                             : type == SORTIE_U32 ? least_wide_size - 1
                                                  : ~std::uint64_t{0};
  if (size > most)
    throw Error(ErrorKind::input,
                fmt::format("position_type: found {} for {} keys, expected at most {} keys",
                            name_of(type), size, most));
}

void check_segments(const sortie_segments* segments) {
  require_pointer("segments", segments, 1);
  if (!is_offset(segments->offset_type))
    refuse("segments.offset_type", name_of(segments->offset_type), "i32, u32, i64 or u64");
  const std::size_t bytes = sortie_type_bytes(segments->offset_type);
  require_array("segments.begins", segments->begins, segments->count, bytes);
  require_array("segments.ends", segments->ends, segments->count, bytes);
}

void check_call(const SortCall& call) {
  static_cast<void>(key_type(call.type));
  check_flags(call.flags);
  require_array("keys", call.keys, call.size, call.key_size());
  require_array("sorted_keys", call.sorted_keys, call.size, call.key_size());
  if (call.value_bytes == 0 || call.size == 0) return;
  require_array("values", call.values, call.size, call.value_bytes);
  require_array("sorted_values", call.sorted_values, call.size, call.value_bytes);
  if ((call.values == call.sorted_values) != call.is_in_place())
    refuse("sorted_values", "keys and values of which only one is sorted in place", "both or none");
}

void check_call(const ArgsortCall& call) {
  static_cast<void>(key_type(call.type));
  check_flags(call.flags);
  require_array("keys", call.keys, call.size, sortie_type_bytes(call.type));
  require_array("positions", call.positions, call.size, sizeof(std::uint64_t));
  check_position_type(call.position_type, call.size);
}

void check_call(const TopKCall& call) {
  static_cast<void>(key_type(call.type));
  constexpr unsigned known = SORTIE_DESCENDING | SORTIE_STABLE | SORTIE_UNSORTED;
  if ((call.flags & ~known) != 0)
    refuse("flags", fmt::format("{:#x}", call.flags),
           "SORTIE_DESCENDING, SORTIE_STABLE and SORTIE_UNSORTED");
  require_array("keys", call.keys, call.size, call.key_size());
  constexpr std::uint64_t most_results = std::uint64_t{1} << 53;  // of 8 bytes, see require_array()
  if (call.k != 0 && call.segment_count() >= (most_results - 1) / call.k + 1)
    refuse("k", fmt::format("{} for {} segments", call.k, call.segment_count()),
           "fewer than 2^53 results");
  if (call.positions != nullptr) check_position_type(call.position_type, call.size);
  if (call.results() != 0 && call.top_keys == nullptr && call.positions == nullptr)
    refuse("top_k", "no array for the results", "one for keys or for positions");
}

template <class Call>
sortie_status run(sortie_context* context, sortie_memory memory, const Call& call,
                  void (*on_host)(const Context&, const Call&),
                  void (*on_device)(const Context&, const Call&, CUstream_st*)) {
  return guarded(context, [&] {
    require_memory("memory", memory);
    check_call(call);
    const Context settings = settings_of(*context);
    if (memory == SORTIE_HOST_MEMORY) {
      on_host(settings, call);
    } else {
      on_device(settings, call, context->stream);
    }
  });
}

}  // namespace
}  // namespace sortie::c

using sortie::c::ArgsortCall;
using sortie::c::SortCall;
using sortie::c::TopKCall;

sortie_status sortie_sort(sortie_context* context, sortie_memory memory, sortie_type type,
                          const void* keys, void* sorted_keys, uint64_t size, const void* values,
                          void* sorted_values, size_t value_bytes, unsigned flags) {
  const SortCall call{type,          keys,        sorted_keys, size,   values,
                      sorted_values, value_bytes, flags,       nullptr};
  return sortie::c::run(context, memory, call, sortie::c::sort_on_host, sortie::c::sort_on_device);
}

sortie_status sortie_argsort(sortie_context* context, sortie_memory memory, sortie_type type,
                             const void* keys, uint64_t size, sortie_type position_type,
                             void* positions, unsigned flags) {
  const ArgsortCall call{type, keys, size, position_type, positions, flags, nullptr};
  return sortie::c::run(context, memory, call, sortie::c::argsort_on_host,
                        sortie::c::argsort_on_device);
}

sortie_status sortie_segmented_sort(sortie_context* context, sortie_memory memory, sortie_type type,
                                    const void* keys, void* sorted_keys, uint64_t size,
                                    const void* values, void* sorted_values, size_t value_bytes,
                                    const sortie_segments* segments, unsigned flags) {
  const sortie_status status =
      sortie::c::guarded(context, [&] { sortie::c::check_segments(segments); });
  if (status != SORTIE_OK) return status;
  const SortCall call{type,          keys,        sorted_keys, size,    values,
                      sorted_values, value_bytes, flags,       segments};
  return sortie::c::run(context, memory, call, sortie::c::sort_on_host, sortie::c::sort_on_device);
}

sortie_status sortie_segmented_argsort(sortie_context* context, sortie_memory memory,
                                       sortie_type type, const void* keys, uint64_t size,
                                       const sortie_segments* segments, sortie_type position_type,
                                       void* positions, unsigned flags) {
  const sortie_status status =
      sortie::c::guarded(context, [&] { sortie::c::check_segments(segments); });
  if (status != SORTIE_OK) return status;
  const ArgsortCall call{type, keys, size, position_type, positions, flags, segments};
  return sortie::c::run(context, memory, call, sortie::c::argsort_on_host,
                        sortie::c::argsort_on_device);
}

sortie_status sortie_top_k(sortie_context* context, sortie_memory memory, sortie_type type,
                           const void* keys, uint64_t size, uint64_t k, void* top_keys,
                           sortie_type position_type, void* positions, unsigned flags) {
  const TopKCall call{type, keys, size, nullptr, k, top_keys, position_type, positions, flags};
  return sortie::c::run(context, memory, call, sortie::c::top_k_on_host,
                        sortie::c::top_k_on_device);
}

sortie_status sortie_segmented_top_k(sortie_context* context, sortie_memory memory,
                                     sortie_type type, const void* keys, uint64_t size,
                                     const sortie_segments* segments, uint64_t k, void* top_keys,
                                     sortie_type position_type, void* positions, unsigned flags) {
  const sortie_status status =
      sortie::c::guarded(context, [&] { sortie::c::check_segments(segments); });
  if (status != SORTIE_OK) return status;
  const TopKCall call{type, keys, size, segments, k, top_keys, position_type, positions, flags};
  return sortie::c::run(context, memory, call, sortie::c::top_k_on_host,
                        sortie::c::top_k_on_device);
}
