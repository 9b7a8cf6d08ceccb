#pragma once

#include "sortie/apps/suffix_array/host/groups.hpp"
#include "sortie/apps/suffix_array/packing.hpp"

namespace sortie::suffix_array::host {

/// Orders the groups of suffixes that start with a run of one letter, as gaps of N or a text of one
/// letter have them, without doubling through the run.
///
/// In such a group (at most one a letter) a suffix is c^l followed by a rest that does not start
/// with c. Rests below c make shorter runs smaller, rests above c make longer runs smaller, and
/// within one length the order is that of the rests, the same for every length that a run contains.
/// So the maximal runs are sorted once by their rests, and the slots are filled length by length.
///
/// \param groups  what collect() returned after the first sort; the run groups among them are
///                replaced by what is left of them (equal length, rests with equal words)
/// Sequential; O(suffixes in run groups + runs log runs). Extra memory: 24 bytes a maximal run.
template <Position Pos>
void resolve_runs(State<Pos>& state, const TextView& text, const PackingPlan& plan,
                  Groups<Pos>& groups);

}  // namespace sortie::suffix_array::host
