#include "sortie/apps/suffix_array/host/runs.hpp"

#include <algorithm>
#include <iterator>

namespace sortie::suffix_array::host {
namespace {

/// A maximal run of one letter.
struct Run {
  std::uint64_t end;     ///< position after the run
  std::uint64_t length;  ///< letters, at least as many as a word has symbols
  std::uint64_t rest;    ///< rank of the suffix at `end`
};

/// The maximal runs behind a run group, in order of position. The positions of the group ascend, so
/// a run is a stretch of consecutive ones, the last of which still sees `symbols` letters of it.
template <Position Pos>
std::vector<Run> find_runs(const State<Pos>& state, std::uint64_t begin, std::uint64_t end,
                           std::uint64_t symbols) {
  std::vector<Run> runs;
  std::uint64_t first = begin;
  for (std::uint64_t slot = begin; slot < end; ++slot) {
    const std::uint64_t position = state.suffixes[slot];
    if (slot + 1 < end && state.suffixes[slot + 1] == position + 1) continue;
    runs.push_back({position + symbols, slot - first + symbols, state.ranks[position + symbols]});
    first = slot + 1;
  }
  return runs;
}

/// Writes the suffixes c^length + rest of all `runs` (sorted by rest) to the slots from `slot` on.
template <Position Pos>
void place(State<Pos>& state, std::span<const Run> runs, std::uint64_t length, std::uint64_t slot) {
  for (std::size_t i = 0; i < runs.size(); ++i, ++slot) {
    const bool same = i > 0 && runs[i].rest == runs[i - 1].rest;
    state.suffixes[slot] = static_cast<Pos>(runs[i].end - length);
    state.keys[slot] = same ? state.keys[slot - 1] : state.rank_of_slot(slot);
  }
}

template <Position Pos>
void resolve_group(State<Pos>& state, std::uint64_t begin, std::uint64_t end,
                   std::uint64_t symbols) {
  std::vector<Run> runs = find_runs(state, begin, end, symbols);
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run& a, const Run& b) { return a.rest < b.rest; });
  // A rest does not start with the letter of the run, so it lies on one side of the whole group.
  const auto middle = std::partition_point(runs.begin(), runs.end(), [&](const Run& run) {
    return run.rest < state.rank_of_slot(begin);
  });
  std::vector<Run> above(middle, runs.end());
  std::vector<Run> below(runs.begin(), middle);
  for (std::uint64_t length = symbols; !below.empty(); ++length) {
    place<Pos>(state, below, length, begin);
    begin += below.size();
    std::erase_if(below, [=](const Run& run) { return run.length == length; });
  }
  for (std::uint64_t length = symbols; !above.empty(); ++length) {
    end -= above.size();
    place<Pos>(state, above, length, end);
    std::erase_if(above, [=](const Run& run) { return run.length == length; });
  }
}

/// Moves the run groups from `groups`, which are in order of their words, to the result.
template <Position Pos>
Groups<Pos> take_run_groups(const State<Pos>& state, const TextView& text, const PackingPlan& plan,
                            Groups<Pos>& groups) {
  const auto word_of = [&](Pos begin) { return pack_word(plan, text, state.suffixes[begin]); };
  Groups<Pos> runs;
  for (int code = 1; code <= plan.sigma; ++code) {
    const std::uint64_t run_word = plan.run_word(static_cast<std::uint64_t>(code));
    const auto begin =
        std::partition_point(groups.begins.begin(), groups.begins.end(),
                             [&](Pos candidate) { return word_of(candidate) < run_word; });
    if (begin == groups.begins.end() || word_of(*begin) != run_word) continue;
    const auto end = groups.ends.begin() + (begin - groups.begins.begin());
    runs.begins.push_back(*begin);
    runs.ends.push_back(*end);
    groups.begins.erase(begin);
    groups.ends.erase(end);
  }
  return runs;
}

template <Position Pos>
std::vector<Pos> merged(const std::vector<Pos>& a, const std::vector<Pos>& b) {
  std::vector<Pos> both;
  both.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace

template <Position Pos>
void resolve_runs(State<Pos>& state, const TextView& text, const PackingPlan& plan,
                  Groups<Pos>& groups) {
  const Groups<Pos> runs = take_run_groups(state, text, plan, groups);
  for (std::uint64_t i = 0; i < runs.size(); ++i) {
    resolve_group(state, runs.begins[i], runs.ends[i], static_cast<std::uint64_t>(plan.symbols));
  }
  const Groups<Pos> left = collect(state, runs, Ranks::of_groups);
  // Groups do not overlap, so begins and ends have the same order.
  groups.begins = merged(groups.begins, left.begins);
  groups.ends = merged(groups.ends, left.ends);
}

template void resolve_runs(State<std::uint32_t>&, const TextView&, const PackingPlan&,
                           Groups<std::uint32_t>&);
template void resolve_runs(State<std::uint64_t>&, const TextView&, const PackingPlan&,
                           Groups<std::uint64_t>&);

}  // namespace sortie::suffix_array::host
