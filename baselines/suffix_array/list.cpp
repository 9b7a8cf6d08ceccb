// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/construction.hpp"
#include "baselines/baselines.hpp"

namespace sortie::suffix_array {
namespace baselines {

// Each is defined in the source named for it.
template <Position Pos>
std::vector<Pos> build_reference(const Context& context, const TextView& text);
template <Position Pos>
std::vector<Pos> build_divsufsort(const Context& context, const TextView& text);

}  // namespace baselines

void register_baselines() {
  using namespace baselines;
  register_algorithms({
      {.name = "reference",
       .backend = Backend::host,
       .measured = false,
       .build = {build_reference<std::uint32_t>, build_reference<std::uint64_t>}},
      {.name = "divsufsort",
       .backend = Backend::host,
       .build = {build_divsufsort<std::uint32_t>, build_divsufsort<std::uint64_t>}},
  });
}

}  // namespace sortie::suffix_array
