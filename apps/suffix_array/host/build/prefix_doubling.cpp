// SPDX-License-Identifier: Apache-2.0

// Suffix arrays on the host threads.
//
// 1. pack     The letters that occur are numbered, and the text becomes a stream of these numbers
//             with as few bits each as possible (coded_text.hpp).
// 2. sort     Suffixes are distributed over buckets by their first symbols, as 64-bit elements: the
//             next symbols above the position (coded_text.hpp). Each bucket is sorted in cache,
//             elements with equal keys are compared by three words of the stream (text_rounds.hpp),
//             and the positions are written to the suffix array. Members of long runs of one letter
//             are left out (runs.hpp).
// 3. rounds   The remaining groups of a genome agree in some eighty bases. Samples, about 3 % of
//             all suffixes in these groups, are chosen by their symbols and sorted by prefix
//             doubling, with steps from sample to sample; their ranks order all other suffixes
//             (samples.hpp) and the runs.
//
// Memory, for n symbols and positions of P bytes, text excluded:
//
// | array                       | bytes              | lifetime |
// |-----------------------------|--------------------|----------|
// | symbols, b bits each        | b n / 8            | all      |
// | suffixes                    | P n                | 2 to 3   |
// | slots in groups             | n / 8              | 2 to 3   |
// | elements                    | 8 n, or less       | 2        |
// | scratch of sorts            | n / 2 at most      | 2        |
// | members, samples, changes   | 3 n / 8 + P n / 32 | 3        |
// | s samples                   | 7 P s at most      | 3        |
// | c changes of the sample     | 2 P c at most      | 3        |
//
// and at most 5 MiB a thread. For a genome, s and c are at most n / 30. The total is 12.5 bytes a
// symbol of DNA with 32-bit positions (b = 3), 13.3 of any text (b = 9), and half a byte more for
// texts of few distinct words. With less memory, fewer elements are held at once and the text is
// scanned several times: 9 bytes a symbol are enough for DNA, 10 for any text. Texts of short
// periods have up to n / 2 samples and changes; the changes are freed during the rounds and found
// again after these, so that step 3 takes 16 bytes.
#include <algorithm>
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/build/first_sort.hpp"
#include "apps/suffix_array/host/build/text_rounds.hpp"
#include "apps/suffix_array/host/samples/samples.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Elements to hold at once: all, or as many as fit in memory.
/// \throws Error (out_of_memory)
template <Position Pos>
std::uint64_t elements_at_once(const Context& context, std::uint64_t size, const PrefixPlan& plan,
                               const BucketCounts<Pos>& counts) {
  // Step 2 holds this besides the elements, and step 3 besides the samples and ranks.
  const std::uint64_t lasting = SymbolStream::bytes(size, plan) + size * sizeof(Pos) + size / 8;
  const std::uint64_t finish = 3 * size / 8 + size * sizeof(Pos) / 32 + size * sizeof(Pos);
  const std::uint64_t least = std::max(counts.largest_bucket(), counts.elements() / 16);
  const std::uint64_t element = sizeof(std::uint64_t);
  const HostMemoryBudget budget(context);
  budget.require("suffix array", lasting + std::max(finish, least * element));
  return std::clamp<std::uint64_t>((budget.left() - lasting) / element,
                                   std::max<std::uint64_t>(least, 1),
                                   std::max<std::uint64_t>(counts.elements(), 1));
}

}  // namespace

template <Position Pos>
std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text) {
  const std::uint64_t size = text.size();
  // Checks the memory that every text takes, before the letters are counted.
  require_memory(context, "suffix array", 2 * size * sizeof(Pos));
  start_host_runtime(context.threads);

  report_progress(context, "pack", 0, size);
  PhaseTimer pack(context, "pack");
  const PrefixPlan plan = plan_prefixes(count_letters(text), size);
  BucketCounts<Pos> counts = count_buckets<Pos>(text, plan);
  const std::uint64_t at_once = elements_at_once(context, size, plan, counts);
  const SymbolStream stream(text, plan);
  pack.stop();
  report_progress(context, "pack", size, size);

  report_progress(context, "sort", 0, size);
  PhaseTimer sort(context, "sort");
  const std::uint64_t members = size - counts.elements();
  FirstOrder<Pos> order = sort_first(text, plan, stream, std::move(counts), at_once);
  sort.stop();
  report_progress(context, "sort", size, size);

  report_progress(context, "rounds", size - order.in_groups - members, size);
  const PhaseTimer finish(context, "rounds");
  std::uint64_t rounds = TextRounds::rounds;
  if (order.in_groups != 0 || !order.runs.empty()) {
    rounds += finish_by_samples<Pos>(
        context, SampledText{stream, plan, size, text.separators.size()}, order);
  }
  if (context.report != nullptr) {
    context.report->set("unresolved_after_first_sort", order.in_equal_prefixes + members);
    context.report->set("unresolved_after_text_rounds", order.in_groups + members);
    context.report->set("rounds", rounds);
  }
  report_progress(context, "rounds", size, size);
  return std::move(order.suffixes);
}

SORTIE_FOR_BOTH_POSITIONS(build_prefix_doubling);

}  // namespace sortie::suffix_array::host
