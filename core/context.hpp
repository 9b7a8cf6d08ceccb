#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

struct CUstream_st;  // cudaStream_t is a pointer to it; no CUDA header is needed to pass one on

namespace sortie {

class RunReport;

/// Where an algorithm runs.
enum class Backend {
  automatic,  ///< CUDA where this build has it and a GPU is found, else the host.
  cuda,
  host,
};

/// "auto", "cuda" or "host".
[[nodiscard]] std::string_view name(Backend backend);

/// Called now and then during long work, from the calling thread.
/// \param phase  what is being done
/// \param done   units finished so far
/// \param total  units in all; 0 when unknown
using ProgressCallback =
    std::function<void(std::string_view phase, std::uint64_t done, std::uint64_t total)>;

/// Everything an entry point needs to know beside its data. Passed in by reference; Sortie has no
/// global state of its own. The default is right for most callers.
struct Context {
  Backend backend = Backend::automatic;
  int device = 0;                   ///< CUDA device ordinal.
  CUstream_st* stream = nullptr;    ///< CUDA stream of all device work; null is the default stream.
  int threads = 0;                  ///< Host threads; 0 takes OMP_NUM_THREADS or all cores.
  std::uint64_t memory_budget = 0;  ///< Bytes of work space an algorithm may take; 0: what is free.
  ProgressCallback progress;        ///< May be empty.
  RunReport* report = nullptr;      ///< Receives phases and figures; may be null.
};

/// Turns `automatic` into the backend that will be used, and checks that a chosen one is there.
/// \throws Error (unavailable) when CUDA is asked for but not in this build or no GPU is found.
[[nodiscard]] Backend resolve_backend(const Context& context);

}  // namespace sortie
