// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sortie/burrows_wheeler.hpp"
#include "sortie/cluster_suffix_array.hpp"
#include "sortie/lcp.hpp"
#include "sortie/suffix_array.hpp"
#include "tests/suffix_array/texts.hpp"

namespace sortie::test {

inline const Context on_host = [] {
  Context context;
  context.backend = Backend::host;
  return context;
}();

/// What one machine gives.
template <suffix_array::Position Pos>
cluster::SuffixArrayShare<Pos> on_one_machine(cluster::Ranks& ranks, const NamedText& text) {
  cluster::SuffixArrayShare<Pos> expected;
  ranks.together("reference", [&] {
    expected.suffixes = suffix_array::build<Pos>(on_host, text.view());
    expected.lcp = suffix_array::lcp_array<Pos>(on_host, text.view(), expected.suffixes);
    expected.bwt =
        suffix_array::burrows_wheeler_transform<Pos>(on_host, text.view(), expected.suffixes);
  });
  return expected;
}

template <class T>
std::vector<T> part(const std::vector<T>& all, std::uint64_t begin, std::uint64_t end) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin),
          all.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Builds on ranks, with all arrays and checks, and compares. Only rank 0 has the text.
template <suffix_array::Position Pos>
void expect_equal_array(cluster::Ranks& ranks, const NamedText& text,
                        const Context& context = on_host) {
  SCOPED_TRACE(text.name + " on " + std::to_string(ranks.size()) + " ranks");
  const cluster::SuffixArrayShare<Pos> expected = on_one_machine<Pos>(ranks, text);
  const suffix_array::TextView view = ranks.rank() == 0 ? text.view() : suffix_array::TextView();
  const cluster::SuffixArrayShare<Pos> found = cluster::build_suffix_array<Pos>(
      ranks, context, view, {.lcp = true, .bwt = true, .check = true});
  const std::uint64_t size = text.symbols.size();
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  const auto count = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t begin = rank * size / count;
  const std::uint64_t end = (rank + 1) * size / count;
  if (size > 0) {
    EXPECT_EQ(found.begin, begin);
  }
  EXPECT_EQ(found.suffixes, part(expected.suffixes, begin, end));
  EXPECT_EQ(found.lcp, part(expected.lcp, begin, end));
  EXPECT_EQ(found.bwt, part(expected.bwt, begin, end));
}

}  // namespace sortie::test
