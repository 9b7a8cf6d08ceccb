// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "sortie/key_types.hpp"
#include "tests/reference/sort.hpp"

/// Records of files, and their order.
namespace sortie::test {

/// The records of `bytes` in order, by a stable sort of whole records.
template <class Key>
std::string in_order(const std::string& bytes, std::size_t record_bytes, Order order) {
  std::vector<std::string> records;
  for (std::size_t begin = 0; begin < bytes.size(); begin += record_bytes)
    records.push_back(bytes.substr(begin, record_bytes));
  const auto key = [](const std::string& record) {
    Key value;
    std::memcpy(&value, record.data(), sizeof value);
    return value;
  };
  std::stable_sort(records.begin(), records.end(), [&](const auto& a, const auto& b) {
    return multisort::reference::before(key(a), key(b), order);
  });
  std::string result;
  for (const std::string& record : records) result += record;
  return result;
}

/// Bytes of records whose keys are drawn from `values` values, over all bits.
inline std::string random_records(std::uint64_t n, std::size_t record_bytes, std::size_t key_bytes,
                                  std::uint64_t values) {
  Random random(values);
  std::string bytes(n * record_bytes, '\0');
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t key = Random(5, random.below(values)).next();
    std::memcpy(bytes.data() + i * record_bytes, &key, key_bytes);
    std::memcpy(bytes.data() + i * record_bytes + key_bytes, &i,
                std::min<std::size_t>(record_bytes - key_bytes, sizeof i));
  }
  return bytes;
}

}  // namespace sortie::test
