#include "sortie/multisort/host/sort_typed_definition.hpp"

namespace sortie::multisort {

template void sort_keys_of<std::uint64_t>(const Context&, const Request&, std::size_t);

}  // namespace sortie::multisort
