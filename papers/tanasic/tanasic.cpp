// SPDX-License-Identifier: Apache-2.0
#include "papers/tanasic/tanasic.hpp"

#include <fmt/format.h>

#include <bit>

#include "primitives/payload.hpp"
#include "sortie/error.hpp"

namespace sortie::papers {

void tanasic_sort_chunks(const Context& context, const multisort::DeviceGroup& group,
                         const multisort::ChunkRequest& request) {
  if (!std::has_single_bit(request.chunks.size()))
    throw Error(ErrorKind::usage,
                fmt::format("sort: found {} chunks, expected a power of two: tanasic merges them "
                            "in pairs",
                            request.chunks.size()));
  with_key_word(key_bytes(request.key_type), [&]<class Word>(Word) {
    with_value_bytes(request.value_bytes, [&]<class Value>(Value) {
      tanasic_sort_typed<Word, Value>(context, group, request);
    });
  });
}

}  // namespace sortie::papers
