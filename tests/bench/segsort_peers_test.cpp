// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "apps/bench/cuda/segsort_workload.hpp"
#include "baselines/segsort/cub.hpp"
#include "baselines/segsort/newer_cub.hpp"

namespace sortie::bench {
namespace {

// Every peer on every type that it is compiled for: what is wrong with the result, "" if nothing.
std::string fault_of(const TwoPhaseSort& sort, SegsortWorkload& work) {
  const TimedSort timed = time_sort(work, sort, {1, true});
  return timed.fault + timed.failure + (timed.agrees ? "" : " (does not agree)");
}

TEST(SegsortPeers, SortEveryShape) {
  for (const KeyType key : {KeyType::u8, KeyType::u16, KeyType::u32, KeyType::u64}) {
    const bool is_narrow = key_bytes(key) < 4;
    for (const int value_bytes : {0, 4, 8}) {
      if (is_narrow && value_bytes == 8) continue;
      SegsortWorkload work({100003, key, value_bytes, 1}, nullptr);
      for (const char* name : {"length 1", "length 2", "length 32", "length 65536", "one segment",
                               "power law a=1.6 max 50", "skew, half in huge"}) {
        work.set_segments(parse_segment_case(name));
        EXPECT_EQ(fault_of(baselines::cub_segmented_sort, work), "") << name << ' ' << value_bytes;
        EXPECT_EQ(fault_of(baselines::cub_radix_by_segment, work), "")
            << name << ' ' << value_bytes;
        if (!is_narrow && !baselines::newer_cub_version().empty()) {
          EXPECT_EQ(fault_of(baselines::newer_cub_segmented_sort, work), "") << name;
        }
        EXPECT_EQ(fault_of(sortie_sort(SegsortPolicy::tuned), work), "") << name;
        if (!is_narrow) {
          EXPECT_EQ(fault_of(sortie_sort(SegsortPolicy::ics17), work), "") << name;
        }
        if (work.request().num_segments == 1) {
          EXPECT_EQ(fault_of(baselines::cub_radix_sort, work), "") << name << ' ' << value_bytes;
          if (!baselines::newer_cub_version().empty()) {
            EXPECT_EQ(fault_of(baselines::newer_cub_radix_sort, work), "") << value_bytes;
          }
        }
      }
    }
  }
}

TEST(SegsortPeers, ASortThatDoesNothingIsFound) {
  SegsortWorkload work({1000, KeyType::u32, 4, 1}, nullptr);
  work.set_segments(parse_segment_case("length 10"));
  const auto nothing = [](void*, std::size_t& bytes, const segsort::DeviceRequest&, cudaStream_t) {
    bytes = 1;
    return cudaSuccess;
  };
  const TimedSort timed = time_sort(work, nothing, {5, false});
  EXPECT_FALSE(timed.agrees);
  EXPECT_TRUE(timed.seconds.empty());
  EXPECT_NE(timed.fault, "");
}

}  // namespace
}  // namespace sortie::bench
