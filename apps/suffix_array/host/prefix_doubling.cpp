// Suffix arrays on the threads of the host.
//
// 1. pack     The letters that occur are numbered, and the text becomes a stream of these numbers,
//             as few bits each as hold them (symbol_stream.hpp).
// 2. sort     Suffixes spread over buckets by their first symbols, as 64-bit elements: the symbols
//             that follow above the position (prefix_plan.hpp). Each bucket is sorted in cache,
//             what has equal keys is compared by three words of the stream (text_rounds.hpp), and
//             the positions are written to the suffix array. Members of long runs of one letter
//             are left out (runs.hpp).
// 3. rounds   Groups that are left agree in some eighty bases. Samples, 3 % or so of all suffixes
//             in them, are chosen by their symbols and sorted by prefix doubling, with steps from
//             sample to sample; they decide all others (samples.hpp), and the runs.
//
// Memory, for n symbols and positions of P bytes, beside the text:
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
// and at most 5 MiB a thread, where s and c are a thirtieth of n for a genome. That
// is 12.5 bytes a symbol of DNA with 32-bit positions (b = 3) and 13.3 of any text (b = 9), and
// half a byte more for texts of few different words. Where that is more than there is, fewer
// elements are held at once and the text is gone over several times: 9 bytes a symbol are enough
// for DNA, 10 for any text. Texts of short periods have up to n / 2 samples and changes; the latter
// wait until the rounds are over, so that step 3 takes 16 bytes.
#include <algorithm>
#include <utility>

#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/host/first_sort.hpp"
#include "sortie/apps/suffix_array/host/samples.hpp"
#include "sortie/apps/suffix_array/host/text_rounds.hpp"
#include "sortie/apps/suffix_array/host/work_space.hpp"
#include "sortie/core/host_memory.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::suffix_array::host {
namespace {

void show_progress(const Context& context, std::string_view phase, std::uint64_t done,
                   std::uint64_t total) {
  if (context.progress) context.progress(phase, done, total);
}

/// Bytes that step 2 holds beside the elements, and step 3 beside the samples and ranks.
template <Position Pos>
std::uint64_t lasting_bytes(std::uint64_t size, const PrefixPlan& plan) {
  return SymbolStream::bytes(size, plan) + size * sizeof(Pos) + size / 8;
}

/// Elements to hold at once: all, or what the memory leaves room for.
/// \throws Error (out_of_memory)
template <Position Pos>
std::uint64_t elements_at_once(const Context& context, std::uint64_t size, const PrefixPlan& plan,
                               const BucketCounts<Pos>& counts) {
  const std::uint64_t lasting = lasting_bytes<Pos>(size, plan);
  const std::uint64_t finish = 3 * size / 8 + size * sizeof(Pos) / 32 + size * sizeof(Pos);
  const std::uint64_t least = std::max(counts.largest_bucket(), counts.elements() / 16);
  const std::uint64_t element = sizeof(std::uint64_t);
  require_memory(context, "suffix array", lasting + std::max(finish, least * element));
  const std::uint64_t limit =
      context.memory_budget != 0 ? context.memory_budget : host_memory_available();
  return std::clamp<std::uint64_t>((limit - lasting) / element, std::max<std::uint64_t>(least, 1),
                                   std::max<std::uint64_t>(counts.elements(), 1));
}

}  // namespace

template <Position Pos>
std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text) {
  const std::uint64_t size = text.size();
  // Before anything is counted: what every text takes.
  require_memory(context, "suffix array", 2 * size * sizeof(Pos));
  start_host_runtime(context.threads);

  show_progress(context, "pack", 0, size);
  PhaseTimer pack(context, "pack");
  const PrefixPlan plan = plan_prefixes(count_letters(text), size);
  BucketCounts<Pos> counts = count_buckets<Pos>(text, plan);
  const std::uint64_t at_once = elements_at_once(context, size, plan, counts);
  const SymbolStream stream(text, plan);
  pack.stop();

  show_progress(context, "sort", 0, size);
  PhaseTimer sort(context, "sort");
  const std::uint64_t depth_limit = TextRounds::depth_limit(plan, stream);
  const std::uint64_t members = size - counts.elements();
  const std::vector<LongRun<Pos>> runs = std::move(counts.runs);
  FirstOrder<Pos> order = sort_first(text, plan, stream, counts, depth_limit, at_once);
  counts = {};
  sort.stop();

  show_progress(context, "rounds", size - order.in_groups - members, size);
  const PhaseTimer finish(context, "rounds");
  std::uint64_t rounds = TextRounds::rounds;
  if (order.in_groups != 0 || !runs.empty()) {
    rounds += finish_by_samples<Pos>(context, text, plan, stream, depth_limit, runs, order);
  }
  if (context.report != nullptr) {
    context.report->set("unresolved_after_first_sort", order.in_equal_prefixes + members);
    context.report->set("unresolved_after_text_rounds", order.in_groups + members);
    context.report->set("rounds", rounds);
  }
  return std::move(order.suffixes);
}

template std::vector<std::uint32_t> build_prefix_doubling(const Context&, const TextView&);
template std::vector<std::uint64_t> build_prefix_doubling(const Context&, const TextView&);

}  // namespace sortie::suffix_array::host
