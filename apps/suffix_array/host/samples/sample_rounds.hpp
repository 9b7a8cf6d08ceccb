// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Prefix doubling over samples, with steps from sample to sample in place of symbols: round i
/// sorts by the rank of the sample 2^i steps ahead. A first round separates runs of samples with
/// equal ranks, which periodic texts have, by their lengths.
///
/// \param ranks  ranks of all samples, by number: equal for samples that are not separated yet, and
///               the gap to the next rank is at least the number of these; on return, all ranks are
///               distinct
/// \param steps  by number, the number of the next sample, at an equal distance for equal ranks;
///               any number for samples of unique rank. Overwritten.
/// \return number of rounds
///
/// A round reads all ranks before it changes any, so it does not depend on the order of groups, nor
/// on the number of threads. Complexity: O(s log s) for s samples, and
/// O(u log r) for u samples of equal ranks and repeats of r steps. Memory: 2 P bytes a sample and 5
/// P for a sample of equal rank, with positions of P bytes.
template <Position Pos>
std::uint64_t double_steps(std::span<Pos> ranks, std::span<Pos> steps);

}  // namespace sortie::suffix_array::host
