// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/segsort/tune.hpp"
#include "sortie/context.hpp"

/// The measurements of section 4.1 of the paper: the speed of its kernels for different numbers of
/// threads per segment. Figure 9 is reg-sort, figure 10 smem-merge.
namespace sortie::bench {

/// Assignment of the items of a segment to threads in a kernel of the paper.
struct PaperBinding {
  enum class Kernel : std::uint8_t {
    reg_sort,    ///< a group of threads of a warp sorts a segment in registers
    smem_merge,  ///< the warps of a block sort parts of a segment and merge them in shared memory
  };
  Kernel kernel = Kernel::reg_sort;
  int threads = 0;       ///< threads per segment
  int items = 0;         ///< items per thread ("ppt" in the paper)
  bool striped = false;  ///< neighbouring threads write neighbouring items ("strd", else "orig")
  bool uneven = false;  ///< the first warps have chunks of m items a thread, the last ones of m - 1

  [[nodiscard]] constexpr std::uint64_t length() const {
    return static_cast<std::uint64_t>(threads) * static_cast<std::uint64_t>(items);
  }
};

/// The time of a binding for segments of its capacity.
struct PaperTime : KernelTime {
  PaperBinding binding;
  int block_threads = 0;
};

struct PaperFigures {
  std::uint64_t items = 0;
  std::vector<PaperTime> reg_sort;    ///< Fig. 9, by length, threads, write method, block size
  std::vector<PaperTime> smem_merge;  ///< Fig. 10, by length, threads, write method
  /// Shared-memory bins of papers::ics17 with full and with uneven chunks (section 3.3), for segments
  /// that do not fill them
  std::vector<PaperTime> chunks;

  /// The fastest binding for each capacity from 2 pairs on, with the block size of the policy; what
  /// papers/ics17/policy.cuh should have on this GPU.
  [[nodiscard]] std::vector<PaperTime> bins() const;
};

/// Measures all bindings of both figures. About 10 s on an H200.
/// \throws Error (unavailable) the backend is not CUDA
[[nodiscard]] PaperFigures paper_figures(const Context& context, const TuneOptions& options);

/// The CUDA part of paper_figures().
[[nodiscard]] PaperFigures paper_figures_on_cuda(const Context& context,
                                                 const TuneOptions& options);

/// Three tables for the terminal, and the bins as C++ for papers/ics17/policy.cuh.
[[nodiscard]] std::string paper_table(const PaperFigures& figures);
/// A JSON object: `items`, `key`, `value`, `reg_sort`, `smem_merge`, `chunks`, `bins`.
[[nodiscard]] std::string paper_json(const PaperFigures& figures);

}  // namespace sortie::bench
