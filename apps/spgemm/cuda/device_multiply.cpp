#include "sortie/apps/spgemm/cuda/device_multiply.hpp"

#include <string>

#include "sortie/core/error.hpp"

namespace sortie::spgemm::cuda {

template <class Value, class Column>
DeviceCsr<Value, Column> multiply_on_device(const Context& context,
                                            const DeviceCsr<Value, Column>& a,
                                            const DeviceCsr<Value, Column>& b,
                                            Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return automatic_on_device(context, view(a), view(b));
    case Algorithm::fused:
      return fused_on_device(context, view(a), view(b));
    case Algorithm::essc:
      return essc_on_device(context, view(a), view(b));
    case Algorithm::esc:
      return esc_on_device(context, view(a), view(b));
    case Algorithm::cusparse_default:
    case Algorithm::cusparse_alg1:
    case Algorithm::cusparse_alg2:
    case Algorithm::cusparse_alg3:
    case Algorithm::cusparse_reuse:
      return cusparse_on_device(context, a, b, algorithm);
    default:
      throw Error(ErrorKind::unavailable,
                  "SpGEMM: found algorithm " + std::string(name(algorithm)) +
                      ", expected one that runs on CUDA (fused, essc, esc, cusparse...)");
  }
}

#define SORTIE_INSTANTIATE(Value, Column)                                               \
  template DeviceCsr<Value, Column> multiply_on_device(                                 \
      const Context&, const DeviceCsr<Value, Column>&, const DeviceCsr<Value, Column>&, \
      Algorithm);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)

}  // namespace sortie::spgemm::cuda
