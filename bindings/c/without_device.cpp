// SPDX-License-Identifier: Apache-2.0

// The calls on device memory of a build without CUDA.

#include "bindings/c/sorting.hpp"
#include "bindings/c/sparse.hpp"
#include "bindings/c/suffixes.hpp"

namespace sortie::c {
namespace {

[[noreturn]] void refuse_device_memory() {
  throw Error(ErrorKind::unavailable,
              "memory: found device memory, expected host memory: this build has no CUDA");
}

}  // namespace

void sort_on_device(const Context&, const SortCall&, CUstream_st*) {
  refuse_device_memory();
}
void argsort_on_device(const Context&, const ArgsortCall&, CUstream_st*) {
  refuse_device_memory();
}
void top_k_on_device(const Context&, const TopKCall&, CUstream_st*) {
  refuse_device_memory();
}
std::unique_ptr<sortie_csr> multiply_on_device(const Context&, const sortie_csr_view&,
                                               const sortie_csr_view&, CUstream_st*) {
  refuse_device_memory();
}
std::unique_ptr<sortie_plan> plan_on_device(const Context&, const sortie_csr_view&,
                                            const sortie_csr_view&, CUstream_st*) {
  refuse_device_memory();
}
sortie_array* DeviceSuffixes::build(const sortie_text&, sortie_type) const {
  refuse_device_memory();
}
sortie_array* DeviceSuffixes::inverse(sortie_type, const void*, std::uint64_t) const {
  refuse_device_memory();
}
sortie_array* DeviceSuffixes::lcp(const Indexed&) const {
  refuse_device_memory();
}
sortie_array* DeviceSuffixes::bwt(const Indexed&) const {
  refuse_device_memory();
}
void DeviceSuffixes::check(const Indexed&) const {
  refuse_device_memory();
}
void DeviceSuffixes::find(const Indexed&, const sortie_patterns&, std::uint64_t*,
                          std::uint64_t*) const {
  refuse_device_memory();
}
sortie_array* DeviceSuffixes::locate(const Indexed&, const sortie_patterns&, std::uint64_t,
                                     std::uint64_t*) const {
  refuse_device_memory();
}

}  // namespace sortie::c
