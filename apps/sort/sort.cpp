#include "sortie/apps/sort/sort.hpp"

#include <bit>

#include "sortie/apps/sort/record_sorter.hpp"

namespace sortie::sorting {
namespace {

static_assert(std::endian::native == std::endian::little, "records in files are little-endian");

template <class Key>
SortResult sort_keys_of(const Context& context, RecordSource& source, const SortJob& job) {
  switch (job.format.value_bytes()) {
    case 0:
      return RecordSorter<Key, multisort::NoValue>(context, source, job).run();
    case 4:
      return RecordSorter<Key, multisort::Opaque<4>>(context, source, job).run();
    default:
      return RecordSorter<Key, multisort::Opaque<8>>(context, source, job).run();
  }
}

}  // namespace

SortResult sort_records_of(const Context& context, RecordSource& source, const SortJob& job) {
  multisort::require_algorithm(context, job.options.algorithm);
  switch (multisort::key_bytes(job.format.key)) {
    case 1:
      return sort_keys_of<std::uint8_t>(context, source, job);
    case 2:
      return sort_keys_of<std::uint16_t>(context, source, job);
    case 4:
      return sort_keys_of<std::uint32_t>(context, source, job);
    default:
      return sort_keys_of<std::uint64_t>(context, source, job);
  }
}

}  // namespace sortie::sorting
