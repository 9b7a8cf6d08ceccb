#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/apps/bench/tune.hpp"
#include "sortie/core/context.hpp"

/// The measurements of the paper's section 4.1: how its kernels fare with their items bound to few
/// threads or to many. Figure 9 is reg-sort, figure 10 smem-merge.
namespace sortie::bench {

/// How a kernel of the paper binds the items of a segment to threads.
struct PaperBinding {
  enum class Kernel : std::uint8_t {
    reg_sort,    ///< a group of a warp's threads sorts a segment in its registers
    smem_merge,  ///< the warps of a block sort parts of it, and merge them in shared memory
  };
  Kernel kernel = Kernel::reg_sort;
  int threads = 0;       ///< of a segment
  int items = 0;         ///< of a thread ("ppt" in the paper)
  bool striped = false;  ///< neighbouring threads write neighbouring items ("strd", else "orig")

  [[nodiscard]] constexpr std::uint64_t length() const {
    return static_cast<std::uint64_t>(threads) * static_cast<std::uint64_t>(items);
  }
};

/// A binding on segments that fill it.
struct PaperTime : KernelTime {
  PaperBinding binding;
  int block_threads = 0;
};

struct PaperFigures {
  std::uint64_t items = 0;
  std::vector<PaperTime> reg_sort;    ///< Fig. 9, by length, threads, write method, block size
  std::vector<PaperTime> smem_merge;  ///< Fig. 10, by length, threads, write method
};

/// Measures all bindings of both figures. About 10 s on an H200.
/// \throws Error (unavailable) the backend is not CUDA
[[nodiscard]] PaperFigures paper_figures(const Context& context, const TuneOptions& options);

/// The same, in builds with CUDA.
[[nodiscard]] PaperFigures paper_figures_on_cuda(const Context& context,
                                                 const TuneOptions& options);

/// Two tables for people.
[[nodiscard]] std::string paper_table(const PaperFigures& figures);
/// A JSON object: `items`, `key`, `value`, `reg_sort`, `smem_merge`.
[[nodiscard]] std::string paper_json(const PaperFigures& figures);

}  // namespace sortie::bench
