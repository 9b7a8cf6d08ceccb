// SPDX-License-Identifier: Apache-2.0
#include "multisort/cuda/merge/merge_sort.hpp"

#include "primitives/key_dispatch.hpp"

namespace sortie::multisort {

// Not in the header: a source that sees the definition of merge_sort_typed() as well would compile
// the kernels of all widths.
void merge_sort_chunks(const Context& context, const DeviceGroup& group,
                       const ChunkRequest& request) {
  with_key_word(key_bytes(request.key_type), [&]<class Word>(Word) {
    with_value_bytes(request.value_bytes, [&]<class Value>(Value) {
      merge_sort_typed<Word, Value>(context, group, request);
    });
  });
}

}  // namespace sortie::multisort
