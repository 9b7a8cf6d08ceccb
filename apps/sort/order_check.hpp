// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>

#include "core/random.hpp"
#include "primitives/host/items.hpp"
#include "primitives/key_codec.hpp"
#include "sortie/error.hpp"

namespace sortie::sorting {

/// An order-independent checksum of a multiset of records.
class Fingerprint {
 public:
  template <class Key, class Value>
  void add(Items<Key, Value> items, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      std::uint64_t record = mix(items.keys[i]);
      if constexpr (has_values<Value>) {
        std::uint64_t value = 0;
        std::memcpy(&value, items.values + i, sizeof(Value));
        record = mix(record + value);
      }
      sum_ += record;
    }
  }

  /// That of the records of both.
  Fingerprint& operator+=(const Fingerprint& other) {
    sum_ += other.sum_;
    return *this;
  }

  /// Its state: that of the records of both is the sum, modulo 2^64.
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;

 private:
  /// Simple changes of records change the sum of such numbers.
  static std::uint64_t mix(std::uint64_t z) { return Random(z).next(); }

  std::uint64_t sum_ = 0;
};

/// Calls body(items, n) for consecutive parts of `items`, with encoded copies of their keys.
template <class Key, class Value, class Body>
void for_encoded(const Items<Key, Value>& items, std::uint64_t n, const KeyCodec<Key>& codec,
                 const Body& body) {
  std::array<Key, 1024> keys;
  for (std::uint64_t begin = 0; begin < n; begin += keys.size()) {
    const std::uint64_t size = std::min<std::uint64_t>(keys.size(), n - begin);
    std::copy_n(items.keys + begin, size, keys.begin());
    codec.encode(keys.data(), size);
    Items<Key, Value> part = items.from(begin);
    part.keys = keys.data();
    body(part, size);
  }
}

/// Checks that the keys of consecutive blocks ascend, and computes the fingerprint of the records.
/// Keys are encoded: unsigned, in the requested order.
template <std::unsigned_integral Key, class Value>
class OrderCheck {
 public:
  /// \param first  number of the first record
  explicit OrderCheck(std::uint64_t first = 0) : first_(first), records_(first) {}

  /// \throws Error (check) names the first record out of order
  void add(Items<Key, Value> items, std::uint64_t n) {
    if (n > 0 && records_ == first_) least_ = last_ = items.keys[0];
    for (std::uint64_t i = 0; i < n; ++i) {
      if (items.keys[i] < last_) throw out_of_order(records_ + i);
      last_ = items.keys[i];
    }
    records_ += n;
    fingerprint_.add(items, n);
  }

  /// Adds the records that another check was given. \pre they follow those of this one
  /// \throws Error (check)
  void append(const OrderCheck& next) {
    if (next.records_ == next.first_) return;
    if (records_ == first_) least_ = next.least_;
    if (records_ > first_ && next.least_ < last_) throw out_of_order(next.first_);
    last_ = next.last_;
    records_ = next.records_;
    fingerprint_ += next.fingerprint_;
  }

  /// \throws Error (check) if the records are not those that were read
  void finish(const Fingerprint& read, std::uint64_t records) const {
    if (records_ == records && fingerprint_ == read) return;
    throw Error(ErrorKind::check,
                fmt::format("sort: found {} records that differ from the {} that were read",
                            records_, records));
  }

  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t records() const { return records_ - first_; }
  /// Keys of the first and the last record. \pre records() > 0
  [[nodiscard]] Key least() const { return least_; }
  [[nodiscard]] Key last() const { return last_; }
  [[nodiscard]] const Fingerprint& fingerprint() const { return fingerprint_; }

  [[nodiscard]] static Error out_of_order(std::uint64_t record) {
    return {ErrorKind::check,
            fmt::format("sort: record {}: found a key that precedes the previous one", record)};
  }

 private:
  std::uint64_t first_;
  std::uint64_t records_;  ///< number of the record after the last one
  Key least_ = 0;          ///< key of the first record
  Key last_ = 0;
  Fingerprint fingerprint_;
};

}  // namespace sortie::sorting
