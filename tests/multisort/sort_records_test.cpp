// SPDX-License-Identifier: Apache-2.0

// Records of any type by a comparator, against std::stable_sort.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "sortie/sort.hpp"
#include "sortie/sort_records.hpp"

namespace sortie::test {
namespace {

Context host_context() {
  Context context;
  context.backend = Backend::host;
  return context;
}

struct Employee {
  std::uint16_t department;
  std::int32_t wage;
  std::uint64_t number;
};
static_assert(sizeof(Employee) == 16);

/// By department, then by falling wage: an order that no single key has.
bool by_department_then_wage(const Employee& a, const Employee& b) {
  if (a.department != b.department) return a.department < b.department;
  return a.wage > b.wage;
}

std::vector<Employee> employees(std::uint64_t n) {
  Random random(3);
  std::vector<Employee> all(n);
  for (std::uint64_t i = 0; i < n; ++i)
    all[i] = {static_cast<std::uint16_t>(random.below(20)),
              static_cast<std::int32_t>(random.below(50)) - 25, i};
  return all;
}

TEST(SortRecords, ByAComparatorStablyOnEveryNumberOfDevices) {
  for (int devices = 1; devices <= 16; ++devices) {
    for (const std::uint64_t n : {0, 1, 2, 15, 16, 17, 33, 100, 4'099}) {
      std::vector<Employee> records = employees(n);
      std::vector<Employee> expected = records;
      sort_records(host_context(), std::span<Employee>(records), by_department_then_wage, devices);
      std::stable_sort(expected.begin(), expected.end(), by_department_then_wage);
      for (std::uint64_t i = 0; i < n; ++i)
        ASSERT_EQ(records[i].number, expected[i].number)
            << devices << " devices, " << n << " at " << i;
    }
  }
}

TEST(SortRecords, OfAnySizeAndAlignmentWithACapturingComparator) {
  struct Line {
    char text[27];
  };
  struct alignas(32) Wide {
    std::uint64_t key;
  };
  const std::size_t compared = 5;
  const auto before = [&](const Line& a, const Line& b) {
    return std::memcmp(a.text, b.text, compared) < 0;
  };
  Random random(4);
  std::vector<Line> lines(20'011);
  std::vector<Wide> wide(3'001);
  for (Line& line : lines)
    for (char& letter : line.text) letter = static_cast<char>('a' + random.below(3));
  for (Wide& one : wide) one.key = random();
  std::vector<Line> expected = lines;
  sort_records(host_context(), std::span<Line>(lines), before, 3);
  std::stable_sort(expected.begin(), expected.end(), before);
  EXPECT_EQ(std::memcmp(lines.data(), expected.data(), lines.size() * sizeof(Line)), 0);

  const auto by_key = [](const Wide& a, const Wide& b) { return a.key < b.key; };
  sort_records(host_context(), std::span<Wide>(wide), by_key);
  EXPECT_TRUE(std::is_sorted(wide.begin(), wide.end(), by_key));
}

TEST(SortRecords, EqualRecordsKeepTheirOrder) {
  std::vector<Employee> records = employees(10'007);
  sort_records(
      host_context(), std::span<Employee>(records),
      [](const Employee&, const Employee&) { return false; }, 7);
  for (std::uint64_t i = 0; i < records.size(); ++i) ASSERT_EQ(records[i].number, i);
}

}  // namespace
}  // namespace sortie::test
