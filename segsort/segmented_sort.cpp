// SPDX-License-Identifier: Apache-2.0
#include "sortie/segmented_sort.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "segsort/backends.hpp"
#include "sortie/error.hpp"

namespace sortie::segsort {

#ifndef SORTIE_HAVE_CUDA
void sort_on_cuda(const Context&, const Request&) {
  throw Error(ErrorKind::unavailable, "segmented_sort: this build of Sortie has no CUDA");
}
#endif

namespace {

[[noreturn]] void refuse(std::string_view found, std::string_view expected) {
  throw Error(ErrorKind::usage,
              fmt::format("segmented_sort: found {}, expected {}", found, expected));
}

void check_sizes(const Request& request) {
  if (request.value_bytes < 0)
    refuse("a number of values other than the number of keys", "one value per key");
  if (request.value_bytes != 0 && request.value_bytes != 4 && request.value_bytes != 8)
    refuse(fmt::format("values of {} bytes", request.value_bytes), "0, 4 or 8");
  for (const int bytes : {request.begin_offsets.bytes, request.end_offsets.bytes})
    if (bytes != 4 && bytes != 8) refuse(fmt::format("offsets of {} bytes", bytes), "4 or 8");
  if (request.begin_offsets.size != request.end_offsets.size)
    refuse(fmt::format("{} begin offsets and {} end offsets", request.begin_offsets.size,
                       request.end_offsets.size),
           "the same number of each");
}

/// Returns the options with end_bit filled in.
SegmentedSortOptions checked_options(const Request& request) {
  SegmentedSortOptions options = request.options;
  const int bits = key_bits(request.key_type);
  if (options.end_bit == -1) options.end_bit = bits;
  if (options.begin_bit < 0 || options.end_bit > bits || options.begin_bit > options.end_bit)
    refuse(fmt::format("bits [{}, {})", options.begin_bit, options.end_bit),
           fmt::format("a range within [0, {})", bits));
  const bool all_bits = options.begin_bit == 0 && options.end_bit == bits;
  const bool is_unsigned = kind_of(request.key_type) == KeyKind::unsigned_integer;
  if (!all_bits && !is_unsigned)
    refuse(fmt::format("bits [{}, {}) of a signed or floating-point key", options.begin_bit,
                       options.end_bit),
           "all bits of it, or unsigned keys");
  return options;
}

/// Sorts keys of 1 or 2 bytes as integers of 4 bytes.
void sort_narrow_keys_on_host(const Context& context, const Request& request) {
  const HostArray<std::uint32_t> words =
      allocate_array<std::uint32_t>(context, "the keys as keys of 4 bytes", request.num_items);
  with_key_type(request.key_type, [&]<class Key>(Key) {
    if constexpr (sizeof(Key) < 4) {
      // Integers keep their number. The bits of floating-point numbers are encoded.
      constexpr bool is_integer = std::is_integral_v<Key>;
      using Wide =
          std::conditional_t<is_integer && std::is_signed_v<Key>, std::int32_t, std::uint32_t>;
      using Narrow = std::conditional_t<is_integer, Key, std::uint16_t>;
      const KeyCodec<std::uint16_t> codec(KeyKind::floating_point, Order::ascending);
      auto* const keys = static_cast<Narrow*>(request.keys);
      auto* const wide = reinterpret_cast<Wide*>(words.get());
      constexpr std::uint64_t length = 1 << 16;
      for_each_range(request.num_items, length, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) {
          if constexpr (is_integer) {
            wide[i] = keys[i];
          } else {
            wide[i] = codec.encoded(keys[i]);
          }
        }
      });
      Request sorted = request;
      sorted.keys = words.get();
      sorted.key_type = key_type_of<Wide>();
      const bool compares_all =
          request.options.end_bit - request.options.begin_bit == 8 * sizeof(Key);
      if (compares_all) sorted.options.end_bit = key_bits(sorted.key_type);
      sort_keys_of<std::uint32_t>(context, sorted);
      for_each_range(request.num_items, length, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) {
          const auto key = static_cast<Narrow>(wide[i]);
          if constexpr (is_integer) {
            keys[i] = key;
          } else {
            keys[i] = codec.decoded(key);
          }
        }
      });
    }
  });
}

}  // namespace

void check_offsets(const OffsetArray& begins, const OffsetArray& ends, std::uint64_t num_items,
                   std::string_view call) {
  for (std::uint64_t i = 0; i < begins.size; ++i) {
    if (begins[i] <= ends[i] && ends[i] <= num_items) continue;
    throw Error(ErrorKind::input,
                fmt::format("{}: segment {}: found offsets [{}, {}), expected a range "
                            "within [0, {})",
                            call, i, begins[i], ends[i], num_items));
  }
}

void sort(const Context& context, const Request& request) {
  check_sizes(request);
  Request checked = request;
  checked.options = checked_options(request);
  const Backend backend = resolve_backend(context);
  const bool nothing_to_sort = request.num_items == 0 || request.begin_offsets.size == 0;
  // The host backend checks offsets in its own parallel pass over them.
  if (backend == Backend::cuda || nothing_to_sort)
    check_offsets(request.begin_offsets, request.end_offsets, request.num_items);
  if (nothing_to_sort) return;
  report_progress(context, "segmented sort", 0, request.num_items);
  if (backend == Backend::cuda) {
    sort_on_cuda(context, checked);
  } else {
    start_host_runtime(context.threads);
    const PhaseTimer timer(context, "segmented sort");
    switch (key_bits(request.key_type)) {
      case 64:
        sort_keys_of<std::uint64_t>(context, checked);
        break;
      case 32:
        sort_keys_of<std::uint32_t>(context, checked);
        break;
      default:
        sort_narrow_keys_on_host(context, checked);
    }
  }
  report_progress(context, "segmented sort", request.num_items, request.num_items);
}

}  // namespace sortie::segsort
