#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/core/error.hpp"

// Stands in for cuda/ in builds without CUDA.
namespace sortie::suffix_array::cuda {

template <Position Pos>
std::vector<Pos> build_prefix_doubling(const Context&, const TextView&) {
  throw Error(ErrorKind::unavailable, "suffix array: this build of Sortie has no CUDA");
}

template std::vector<std::uint32_t> build_prefix_doubling(const Context&, const TextView&);
template std::vector<std::uint64_t> build_prefix_doubling(const Context&, const TextView&);

}  // namespace sortie::suffix_array::cuda
