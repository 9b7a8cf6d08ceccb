// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/device_sort_bench.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

DeviceSortCase device_sort_case(const std::string& type, const std::string& payload) {
  DeviceSortCase made{0, type, 2, KeyKind::floating_point, payload, 0, false, {}};
  if (type != "f16" && type != "bf16") {
    const KeyType key = parse_key_type(type);
    made.key_bytes = key_bytes(key);
    made.kind = kind_of(key);
  }
  if (payload == "none") return made;
  made.are_positions = payload.starts_with("positions");
  const std::string_view width = made.are_positions ? std::string_view(payload).substr(9)
                                                    : std::string_view(payload).substr(1);
  made.value_bytes = width == "8"     ? 1
                     : width == "16"  ? 2
                     : width == "32"  ? 4
                     : width == "64"  ? 8
                     : width == "128" ? 16
                                      : 0;
  const bool is_position = made.value_bytes == 4 || made.value_bytes == 8;
  if (made.are_positions ? is_position : payload[0] == 'u' && made.value_bytes != 0) return made;
  throw Error(
      ErrorKind::usage,
      fmt::format("values: found {}, expected none, u8, u16, u32, u64, u128, positions32 or "
                  "positions64",
                  sortie::quoted(payload)));
}

}  // namespace

std::vector<Row> device_sort(const Context& context, const DeviceSortOptions& options,
                             const RowSink& sink) {
  std::vector<DeviceSortCase> cases;
  for (const std::string& type : options.types) {
    for (const std::string& payload : options.payloads) {
      for (const std::string& keys : options.keys) {
        for (const std::uint64_t items : options.items) {
          DeviceSortCase& added = cases.emplace_back(device_sort_case(type, payload));
          added.keys = parse_sort_case(keys);
          added.items = items;
        }
      }
    }
  }
  if (resolve_backend(context) != Backend::cuda)
    throw Error(ErrorKind::unavailable, "bench device-sort: found the host backend, expected CUDA");
#ifdef SORTIE_HAVE_CUDA
  return device_sort_on_cuda(context, cases, options.repetitions, options.seed, sink);
#else
  static_cast<void>(sink);
  return {};
#endif
}

}  // namespace sortie::bench
