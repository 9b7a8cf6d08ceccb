// SPDX-License-Identifier: Apache-2.0
#include "sortie/sort_file.hpp"

#include <bit>

#include "apps/sort/record_sorter.hpp"
#include "multisort/backends.hpp"
#include "primitives/key_dispatch.hpp"

namespace sortie::sorting {
namespace {

static_assert(std::endian::native == std::endian::little, "records in files are little-endian");

template <class Key>
SortResult sort_keys_of(const Context& context, RecordSource& source,
                        const FileSortRequest& request) {
  switch (request.format.value_bytes()) {
    case 0:
      return RecordSorter<Key, NoValue>(context, source, request).run();
    case 4:
      return RecordSorter<Key, Opaque<std::uint32_t>>(context, source, request).run();
    default:
      return RecordSorter<Key, Opaque<std::uint64_t>>(context, source, request).run();
  }
}

}  // namespace

SortResult sort_records_of(const Context& context, RecordSource& source,
                           const FileSortRequest& request) {
  multisort::require_algorithm(context, request.options.algorithm);
  return with_key_word(key_bytes(request.format.key), [&]<class Word>(Word) {
    return sort_keys_of<Word>(context, source, request);
  });
}

}  // namespace sortie::sorting
