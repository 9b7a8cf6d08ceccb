// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/suffixes.hpp"

#include <algorithm>
#include <span>

#include "sortie/burrows_wheeler.hpp"
#include "sortie/lcp.hpp"
#include "sortie/query.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::c {
namespace {

using suffix_array::PatternView;
using suffix_array::TextView;

TextView view_of(const sortie_text& text) {
  return {std::span(text.symbols, text.size), std::span(text.separators, text.separator_count)};
}

template <class Position>
std::span<const Position> suffixes_of(const Indexed& indexed) {
  return {static_cast<const Position*>(indexed.suffixes), indexed.text.size};
}

PatternView view_of(const sortie_patterns& patterns) {
  if (patterns.count == 0) return {};
  return {std::span(patterns.letters, patterns.begins[patterns.count]),
          std::span(patterns.begins, patterns.count + 1)};
}

/// \throws Error (usage, input)
void check_text(const sortie_text* text) {
  require_pointer("text", text, 1);
  require_memory("text.memory", text->memory);
  require_array("text.symbols", text->symbols, text->size, sizeof(std::uint64_t));
  require_array("text.separators", text->separators, text->separator_count, sizeof(std::uint64_t));
  if (text->memory == SORTIE_DEVICE_MEMORY) return;
  for (std::uint64_t i = 0; i < text->separator_count; ++i) {
    const std::uint64_t least = i == 0 ? 0 : text->separators[i - 1] + 1;
    if (text->separators[i] >= least && text->separators[i] < text->size) continue;
    throw Error(
        ErrorKind::input,
        fmt::format("text.separators: found {} as number {}, expected a position from {} to "
                    "{}, the end of the text",
                    text->separators[i], i, least, text->size));
  }
}

Indexed checked(const sortie_text* text, sortie_type position_type, const void* suffixes) {
  check_text(text);
  with_position_type(position_type, [](auto) {});
  require_pointer("suffixes", suffixes, text->size);
  return {*text, position_type, suffixes};
}

void check_patterns(const sortie_patterns* patterns, sortie_memory memory) {
  require_pointer("patterns", patterns, 1);
  if (patterns->count == 0) return;
  require_array("patterns.begins", patterns->begins, patterns->count, sizeof(std::uint64_t));
  if (memory == SORTIE_DEVICE_MEMORY) return;
  for (std::uint64_t i = 0; i < patterns->count; ++i) {
    if (patterns->begins[i] <= patterns->begins[i + 1]) continue;
    throw Error(ErrorKind::input,
                fmt::format("patterns.begins: pattern {}: found {} and {}, expected ascending "
                            "offsets",
                            i, patterns->begins[i], patterns->begins[i + 1]));
  }
  require_pointer("patterns.letters", patterns->letters, patterns->begins[patterns->count]);
}

/// Calls on_host(Position{}) for a text in host memory, else on_device(calls on device memory).
template <class OnHost, class OnDevice>
auto where_it_is(const sortie_context& context, const Context& settings, sortie_memory memory,
                 sortie_type position_type, const OnHost& on_host, const OnDevice& on_device) {
  if (memory == SORTIE_DEVICE_MEMORY) return on_device(DeviceSuffixes{settings, context.stream});
  return with_position_type(position_type, on_host);
}

}  // namespace

}  // namespace sortie::c

using sortie::c::checked;
using sortie::c::DeviceSuffixes;
using sortie::c::guarded;
using sortie::c::Indexed;
using sortie::c::suffixes_of;
using sortie::c::to_array;
using sortie::c::view_of;
using sortie::c::where_it_is;
namespace algorithms = sortie::suffix_array;

sortie_status sortie_suffix_array(sortie_context* context, const sortie_text* text,
                                  sortie_type position_type, sortie_array** suffixes) {
  return guarded(context, [&] {
    sortie::c::require_pointer("suffixes", suffixes, 1);
    sortie::c::check_text(text);
    sortie::c::with_position_type(position_type, [](auto) {});
    const sortie::Context settings = sortie::c::settings_of(*context);
    *suffixes = where_it_is(
        *context, settings, text->memory, position_type,
        [&]<class Position>(Position) {
          return to_array(algorithms::build<Position>(settings, view_of(*text)));
        },
        [&](const DeviceSuffixes& device) { return device.build(*text, position_type); });
  });
}

sortie_status sortie_inverse_suffix_array(sortie_context* context, sortie_memory memory,
                                          sortie_type position_type, const void* suffixes,
                                          uint64_t size, sortie_array** inverse) {
  return guarded(context, [&] {
    sortie::c::require_pointer("inverse", inverse, 1);
    sortie::c::require_memory("memory", memory);
    sortie::c::with_position_type(position_type, [](auto) {});
    sortie::c::require_array("suffixes", suffixes, size, sizeof(std::uint64_t));
    const sortie::Context settings = sortie::c::settings_of(*context);
    *inverse = where_it_is(
        *context, settings, memory, position_type,
        [&]<class Position>(Position) {
          const std::span items(static_cast<const Position*>(suffixes), size);
          return to_array(algorithms::inverse_suffix_array<Position>(settings, items));
        },
        [&](const DeviceSuffixes& device) {
          return device.inverse(position_type, suffixes, size);
        });
  });
}

sortie_status sortie_lcp(sortie_context* context, const sortie_text* text,
                         sortie_type position_type, const void* suffixes, sortie_array** lcp) {
  return guarded(context, [&] {
    sortie::c::require_pointer("lcp", lcp, 1);
    const Indexed indexed = checked(text, position_type, suffixes);
    const sortie::Context settings = sortie::c::settings_of(*context);
    *lcp = where_it_is(
        *context, settings, text->memory, position_type,
        [&]<class Position>(Position) {
          return to_array(algorithms::lcp_array<Position>(settings, view_of(*text),
                                                          suffixes_of<Position>(indexed)));
        },
        [&](const DeviceSuffixes& device) { return device.lcp(indexed); });
  });
}

sortie_status sortie_bwt(sortie_context* context, const sortie_text* text,
                         sortie_type position_type, const void* suffixes, sortie_array** bwt) {
  return guarded(context, [&] {
    sortie::c::require_pointer("bwt", bwt, 1);
    const Indexed indexed = checked(text, position_type, suffixes);
    const sortie::Context settings = sortie::c::settings_of(*context);
    *bwt = where_it_is(
        *context, settings, text->memory, position_type,
        [&]<class Position>(Position) {
          return to_array(algorithms::burrows_wheeler_transform<Position>(
              settings, view_of(*text), suffixes_of<Position>(indexed)));
        },
        [&](const DeviceSuffixes& device) { return device.bwt(indexed); });
  });
}

sortie_status sortie_check_suffix_array(sortie_context* context, const sortie_text* text,
                                        sortie_type position_type, const void* suffixes) {
  return guarded(context, [&] {
    const Indexed indexed = checked(text, position_type, suffixes);
    const sortie::Context settings = sortie::c::settings_of(*context);
    where_it_is(
        *context, settings, text->memory, position_type,
        [&]<class Position>(Position) {
          algorithms::check<Position>(settings, view_of(*text), suffixes_of<Position>(indexed));
        },
        [&](const DeviceSuffixes& device) { device.check(indexed); });
  });
}

sortie_status sortie_find(sortie_context* context, const sortie_text* text,
                          sortie_type position_type, const void* suffixes,
                          const sortie_patterns* patterns, uint64_t* begins, uint64_t* ends) {
  return guarded(context, [&] {
    const Indexed indexed = checked(text, position_type, suffixes);
    sortie::c::check_patterns(patterns, text->memory);
    sortie::c::require_pointer("begins", begins, patterns->count);
    sortie::c::require_pointer("ends", ends, patterns->count);
    const sortie::Context settings = sortie::c::settings_of(*context);
    where_it_is(
        *context, settings, text->memory, position_type,
        [&]<class Position>(Position) {
          const auto ranges = algorithms::find<Position>(
              settings, view_of(*text), suffixes_of<Position>(indexed), view_of(*patterns));
          for (std::size_t i = 0; i < ranges.size(); ++i) {
            begins[i] = ranges[i].begin;
            ends[i] = ranges[i].end;
          }
        },
        [&](const DeviceSuffixes& device) { device.find(indexed, *patterns, begins, ends); });
  });
}

sortie_status sortie_locate(sortie_context* context, const sortie_text* text,
                            sortie_type position_type, const void* suffixes,
                            const sortie_patterns* patterns, uint64_t most, uint64_t* begins,
                            sortie_array** positions) {
  return guarded(context, [&] {
    sortie::c::require_pointer("positions", positions, 1);
    sortie::c::require_pointer("begins", begins, 1);
    const Indexed indexed = checked(text, position_type, suffixes);
    sortie::c::check_patterns(patterns, text->memory);
    const sortie::Context settings = sortie::c::settings_of(*context);
    *positions = where_it_is(
        *context, settings, text->memory, position_type,
        [&]<class Position>(Position) {
          auto found = algorithms::locate<Position>(
              settings, view_of(*text), suffixes_of<Position>(indexed), view_of(*patterns), most);
          begins[0] = 0;
          std::copy(found.begins.begin(), found.begins.end(), begins);
          return to_array(std::move(found.positions));
        },
        [&](const DeviceSuffixes& device) {
          return device.locate(indexed, *patterns, most, begins);
        });
  });
}

sortie_array_view sortie_array_get(const sortie_array* array) {
  return array == nullptr ? sortie_array_view{} : array->view;
}

void sortie_array_destroy(sortie_array* array) {
  delete array;
}
