// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_spgemm.hpp"

#include <string>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/products.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {

template <class Value, class Column>
DeviceCsr<Value, Column> multiply_on_device(const Context& context,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& b,
                                            Algorithm algorithm, CUstream_st* stream) {
  if (a.cols != b.rows) throw shapes_error(a.rows, a.cols, b.rows, b.cols);
  const DeviceCall call(context, stream);
  switch (algorithm) {
    case Algorithm::automatic:
      return automatic_on_device(call, a, b);
    case Algorithm::fused:
      return fused_on_device(call, a, b);
    case Algorithm::essc:
      return essc_on_device(call, a, b);
    case Algorithm::esc:
      return esc_on_device(call, a, b);
    case Algorithm::cusparse_default:
    case Algorithm::cusparse_alg1:
    case Algorithm::cusparse_alg2:
    case Algorithm::cusparse_alg3:
    case Algorithm::cusparse_reuse:
      return cusparse_on_device(call, a, b, algorithm);
    default:
      throw Error(ErrorKind::unavailable,
                  "SpGEMM: found algorithm " + std::string(name(algorithm)) +
                      ", expected one that runs on CUDA (fused, essc, esc, cusparse...)");
  }
}

template <class Value, class Column>
DeviceCsr<Value, Column> multiply_on_device(const Context& context,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& b,
                                            CUstream_st* stream) {
  return multiply_on_device(context, a, b, Algorithm::automatic, stream);
}

#define SORTIE_INSTANTIATE(Value, Column)                                                       \
  template DeviceCsr<Value, Column> multiply_on_device(                                         \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&, \
      Algorithm, CUstream_st*);                                                                 \
  template DeviceCsr<Value, Column> multiply_on_device(                                         \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&, \
      CUstream_st*);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
