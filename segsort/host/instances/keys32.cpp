#include "sortie/segsort/host/sort_typed_definition.hpp"

namespace sortie::segsort {

template void sort_keys_of<std::uint32_t>(const Context&, const Request&);

}  // namespace sortie::segsort
