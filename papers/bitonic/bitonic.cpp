// SPDX-License-Identifier: Apache-2.0
#include "papers/bitonic/bitonic.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "primitives/payload.hpp"
#include "sortie/error.hpp"

namespace sortie::papers {

namespace {

/// Index of the only chunk with items; 0 if all are empty.
std::size_t only_chunk(const multisort::ChunkRequest& request) {
  std::size_t only = 0;
  int filled = 0;
  for (std::size_t i = 0; i < request.chunks.size(); ++i) {
    if (request.chunks[i].size == 0) continue;
    only = i;
    ++filled;
  }
  if (filled > 1)
    throw Error(ErrorKind::usage,
                fmt::format("sort: found {} chunks with items, expected one: the bitonic network "
                            "sorts in place on one device",
                            filled));
  return only;
}

}  // namespace

void bitonic_sort_chunks(const Context& context, const multisort::DeviceGroup& group,
                         const multisort::ChunkRequest& request) {
  const std::size_t device = only_chunk(request);
  const CurrentDevice current = group.current(device);
  multisort::GroupPhase phase(context, group, "local sort");
  with_key_word(key_bytes(request.key_type), [&]<class Word>(Word) {
    with_value_bytes(request.value_bytes, [&]<class Value>(Value) {
      bitonic_sort_typed<Word, Value>(request.chunks[device], request.key_type,
                                      request.options.order, group.stream(device));
    });
  });
  group.synchronise();
  phase.stop();
}

}  // namespace sortie::papers
