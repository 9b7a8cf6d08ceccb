#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/apps/sort/record_format.hpp"
#include "sortie/apps/sort/record_source.hpp"
#include "sortie/core/context.hpp"
#include "sortie/multisort/multisort.hpp"

namespace sortie::sorting {

struct SortJob {
  RecordFormat format;
  SortOptions options;
  std::string output;   ///< file to write, "-" for standard output, "" for none
  bool verify = false;  ///< Check order, and that the records are those that were read.
  int repeat = 1;       ///< Sort so many times and report the median; only within memory.
};

struct SortResult {
  std::uint64_t records = 0;
  std::uint64_t runs = 1;          ///< sorted chunks that were merged; 1: all fitted in memory
  std::uint64_t merge_rounds = 0;  ///< how often every record was merged
  double seconds = 0;              ///< of sorting, without reading and writing where all fitted
};

/// Sorts the records of a source into a file, in memory or beyond.
///
/// What fits the budget (context.memory_budget, else three quarters of the free memory) is sorted
/// in memory, in twice the bytes of the records. Of more than that, chunks that fit are sorted and
/// put aside in a temporary file beside the output, and merged from there: all threads merge a part
/// each of what is in memory, divided by exact splits (plan/multi_sequence.hpp). With many chunks
/// and little memory there are several rounds. The output appears whole or not at all, and no
/// temporary file outlives the process.
///
/// On CUDA chunks are sorted by the GPUs, beyond their memory too (SortAlgorithm::het), and merged
/// by the host; the budget is of host memory.
///
/// \param context  backend, threads, memory budget, progress ("sort chunks", "merge"),
/// report
///                 (phases "read", "sort" and those of sort(), "spill", "merge", "verify", "write")
/// \throws Error (input) as the source does; (output) the output or a temporary file;
///         (out_of_memory) a budget below 64 KiB; (usage) repeat beyond memory; (unavailable) as
///         sort(); (check) the result is wrong
[[nodiscard]] SortResult sort_records_of(const Context& context, RecordSource& source,
                                         const SortJob& job);

}  // namespace sortie::sorting
