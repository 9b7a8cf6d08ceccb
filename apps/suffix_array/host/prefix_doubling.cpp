// Suffix array by prefix doubling on the threads of the host.
//
// 1. pack    The first k symbols of every suffix become a 64-bit word (packing.hpp); suffixes are
//            spread over buckets by the leading bits of their words.
// 2. sort    Each bucket is sorted by (word, position), in cache.
// 3. groups  Suffixes with equal words form groups, unless an end lies within the word: those are
//            final. Every suffix gets the rank of its group. Groups of runs of one letter are
//            ordered by the lengths of the runs (runs.hpp).
// 4. rounds  h = k, 2k, 4k, ...: the groups are the segments of a segmented sort by the ranks h
//            symbols further; equal keys are the groups of the next round. Ranks change only after
//            all groups of a round are sorted, so a round does not depend on the order of groups.
//
// Memory, for n symbols and positions of P bytes, beside the text:
//
// | array            | bytes          | lifetime |
// |------------------|----------------|----------|
// | words            | 8 n            | 1 to 3   |
// | suffixes         | P n            | all      |
// | ranks            | P (n + 1)      | all      |
// | keys             | P n            | all      |
// | scratch of sorts | (8 + P) n      | 2        |
// | groups, old, new | 2 P n at most  | 3 to 4   |
//
// Scratch and groups are upper bounds, for texts of few distinct words and for texts in which every
// suffix has one twin; a genome takes a third of either. That is 32 bytes a symbol with 32-bit
// positions and 48 with 64-bit positions at most.
#include <algorithm>
#include <memory>
#include <utility>

#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/host/arrays.hpp"
#include "sortie/apps/suffix_array/host/first_sort.hpp"
#include "sortie/apps/suffix_array/host/groups.hpp"
#include "sortie/apps/suffix_array/host/runs.hpp"
#include "sortie/apps/suffix_array/host/work_space.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Peak of the table above: in step 2, or in step 4 when nearly all suffixes stand in pairs.
template <Position Pos>
std::uint64_t work_bytes(std::uint64_t size) {
  const std::uint64_t while_sorting = 8 + 3 * sizeof(Pos) + 8 + sizeof(Pos);
  const std::uint64_t while_doubling = 5 * sizeof(Pos);
  return std::max<std::uint64_t>(while_sorting, while_doubling) * size;
}

/// The context for sorts within a build, which are no phases of their own.
Context inner_context(Context context) {
  context.backend = Backend::host;
  context.report = nullptr;
  context.progress = nullptr;
  return context;
}

void show_progress(const Context& context, std::string_view phase, std::uint64_t done,
                   std::uint64_t total) {
  if (context.progress) context.progress(phase, done, total);
}

template <Position Pos>
Groups<Pos> groups_of(std::span<const std::uint64_t> bucket_starts) {
  Groups<Pos> groups;
  for (std::size_t i = 0; i + 1 < bucket_starts.size(); ++i) {
    if (bucket_starts[i] == bucket_starts[i + 1]) continue;
    groups.begins.push_back(static_cast<Pos>(bucket_starts[i]));
    groups.ends.push_back(static_cast<Pos>(bucket_starts[i + 1]));
  }
  return groups;
}

/// Steps 1 to 3. \return the groups that the first words leave
template <Position Pos>
Groups<Pos> sort_by_first_symbols(const Context& context, const TextView& text,
                                  const PackingPlan& plan, State<Pos>& state) {
  show_progress(context, "pack", 0, text.size());
  PhaseTimer pack(context, "pack");
  auto words = allocate<std::uint64_t>(text.size());
  const std::span<std::uint64_t> all_words(words.get(), text.size());
  const std::vector<std::uint64_t> bucket_starts =
      spread_by_words<Pos>(text, plan, all_words, state.suffixes);
  pack.stop();

  show_progress(context, "sort", 0, text.size());
  PhaseTimer sort(context, "sort");
  sort_buckets<Pos>(inner_context(context), bucket_starts, all_words, state.suffixes);
  sort.stop();

  show_progress(context, "groups", 0, text.size());
  const PhaseTimer group(context, "groups");
  const Groups<Pos> buckets = groups_of<Pos>(bucket_starts);
  label_by_words(state, plan, std::span<const std::uint64_t>(all_words), buckets);
  words.reset();
  Groups<Pos> groups = collect(state, buckets, Ranks::none);
  if (context.report != nullptr) {
    context.report->set("unresolved_after_first_sort", groups.suffixes());
  }
  resolve_runs(state, text, plan, groups);
  return groups;
}

}  // namespace

template <Position Pos>
std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text) {
  require_memory(context, "suffix array", work_bytes<Pos>(text.size()));
  start_host_runtime(context.threads);
  const PackingPlan plan = plan_packing(text);
  State<Pos> state(text.size(), text.separators.size());
  Groups<Pos> groups = sort_by_first_symbols(context, text, plan, state);

  const PhaseTimer timer(context, "rounds");
  const Context sort_context = inner_context(context);
  std::uint64_t rounds = 0;
  for (auto depth = static_cast<std::uint64_t>(plan.symbols); !groups.empty(); depth *= 2) {
    show_progress(context, "rounds", text.size() - groups.suffixes(), text.size());
    sort_groups(sort_context, state, groups, depth);
    groups = collect(state, groups, Ranks::of_groups);
    ++rounds;
  }
  if (context.report != nullptr) context.report->set("rounds", rounds);
  return std::move(state.suffixes);
}

template std::vector<std::uint32_t> build_prefix_doubling(const Context&, const TextView&);
template std::vector<std::uint64_t> build_prefix_doubling(const Context&, const TextView&);

}  // namespace sortie::suffix_array::host
