#include "sortie/apps/spgemm/cuda/conversion.hpp"

#include "sortie/apps/spgemm/cuda/launch.cuh"

namespace sortie::spgemm::cuda {

template <class From, class To>
void convert(const From* from, To* to, std::int64_t count, cudaStream_t stream) {
  for_each(count, stream, [=] __device__(std::int64_t i) { to[i] = static_cast<To>(from[i]); });
}

void shift_offsets(const std::int64_t* from, std::int64_t amount, std::int64_t* to,
                   std::int64_t count, cudaStream_t stream) {
  for_each(count, stream, [=] __device__(std::int64_t i) { to[i] = from[i] + amount; });
}

template void convert(const std::int64_t*, std::uint32_t*, std::int64_t, cudaStream_t);
template void convert(const std::uint32_t*, std::int64_t*, std::int64_t, cudaStream_t);
template void convert(const std::int64_t*, std::int32_t*, std::int64_t, cudaStream_t);
template void convert(const std::int32_t*, std::int64_t*, std::int64_t, cudaStream_t);

}  // namespace sortie::spgemm::cuda
