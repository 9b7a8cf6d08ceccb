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
  made.value_bytes = width == "32" ? 4 : 8;
  if ((width == "32" || width == "64") && (made.are_positions || payload[0] == 'u')) return made;
  throw Error(ErrorKind::usage,
              fmt::format("values: found {}, expected none, u32, u64, positions32 or positions64",
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
