// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/backends.hpp"
#include "sortie/error.hpp"

// Replaces cuda/ in builds without CUDA: every call throws Error (unavailable).
namespace sortie::suffix_array::cuda {

template <Position Pos>
std::vector<Pos> build_prefix_doubling(const Context&, const TextView&) {
  throw Error(ErrorKind::unavailable, "suffix array: this build of Sortie has no CUDA");
}

template <Position Pos>
std::vector<Pos> invert(const Context&, std::span<const Pos>) {
  throw Error(ErrorKind::unavailable, "inverse suffix array: this build of Sortie has no CUDA");
}

template <Position Pos>
std::vector<Pos> lcp_array(const Context&, const TextView&, std::span<const Pos>) {
  throw Error(ErrorKind::unavailable, "LCP array: this build of Sortie has no CUDA");
}

template <Position Pos>
std::vector<std::uint8_t> burrows_wheeler_transform(const Context&, const TextView&,
                                                    std::span<const Pos>) {
  throw Error(ErrorKind::unavailable,
              "Burrows-Wheeler transform: this build of Sortie has no CUDA");
}

template <Position Pos>
std::vector<EntryRange> find(const Context&, const TextView&, std::span<const Pos>,
                             const PatternView&) {
  throw Error(ErrorKind::unavailable, "suffix array query: this build of Sortie has no CUDA");
}

template <Position Pos>
Occurrences<Pos> locate(const Context&, const TextView&, std::span<const Pos>, const PatternView&,
                        std::uint64_t) {
  throw Error(ErrorKind::unavailable, "suffix array query: this build of Sortie has no CUDA");
}

template <Position Pos>
std::vector<std::uint32_t> document_array(const Context&, std::span<const Pos>,
                                          std::span<const std::uint64_t>) {
  throw Error(ErrorKind::unavailable, "document array: this build of Sortie has no CUDA");
}

template decltype(build_prefix_doubling<std::uint32_t>) build_prefix_doubling<std::uint32_t>;
template decltype(build_prefix_doubling<std::uint64_t>) build_prefix_doubling<std::uint64_t>;
template decltype(invert<std::uint32_t>) invert<std::uint32_t>;
template decltype(invert<std::uint64_t>) invert<std::uint64_t>;
template decltype(lcp_array<std::uint32_t>) lcp_array<std::uint32_t>;
template decltype(lcp_array<std::uint64_t>) lcp_array<std::uint64_t>;
template decltype(burrows_wheeler_transform<std::uint32_t>)
    burrows_wheeler_transform<std::uint32_t>;
template decltype(burrows_wheeler_transform<std::uint64_t>)
    burrows_wheeler_transform<std::uint64_t>;
template decltype(find<std::uint32_t>) find<std::uint32_t>;
template decltype(find<std::uint64_t>) find<std::uint64_t>;
template decltype(locate<std::uint32_t>) locate<std::uint32_t>;
template decltype(locate<std::uint64_t>) locate<std::uint64_t>;
template decltype(document_array<std::uint32_t>) document_array<std::uint32_t>;
template decltype(document_array<std::uint64_t>) document_array<std::uint64_t>;

}  // namespace sortie::suffix_array::cuda
