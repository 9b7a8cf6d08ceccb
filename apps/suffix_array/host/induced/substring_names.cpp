// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/induced/substring_names.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "apps/suffix_array/host/induced/name_table.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/host/radix_pass.hpp"
#include "sortie/sort.hpp"

namespace sortie::suffix_array::host {
namespace {

constexpr std::uint32_t long_name = 0xffffffff;               ///< of a substring without key
constexpr std::uint64_t odd_multiplier = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio

std::uint64_t hash_of_key(std::uint64_t key) {
  key *= odd_multiplier;
  return (key ^ key >> 29) * odd_multiplier;
}
std::uint64_t hash_of_key(DoubleWord key) {
  return hash_of_key(static_cast<std::uint64_t>(key) ^
                     hash_of_key(static_cast<std::uint64_t>(key >> 64)));
}

/// Keys of substrings of bytes: eight bytes, or up to seven, then ones, then 255 - length in the lowest byte.
/// Of two substrings one of which begins with the other, the longer one has the smaller key.
class ByteKeys {
 public:
  using Key = std::uint64_t;
  static constexpr int key_bits = 64;

  explicit ByteKeys(const SymbolString<std::uint8_t>& string) : string_(string) {}

  /// Not if the eighth symbol can be taken for a length.
  [[nodiscard]] bool has_key(std::uint32_t begin, std::uint32_t length) const {
    return length < longest || (length == longest && (first_bytes(begin) & 255) < greatest_eighth);
  }
  [[nodiscard]] Key key(std::uint32_t begin, std::uint32_t length) const {
    const Key first = first_bytes(begin);
    if (length == longest) return first;
    return ((first | ~Key{0} >> (8 * length)) & ~Key{255}) | (255 - length);
  }
  /// That of a longer substring, or of one with a separator, which zeros follow: not greater than keys with
  /// the same symbols.
  [[nodiscard]] Key key_of_long(std::uint32_t begin, std::uint32_t length) const {
    std::uint32_t count = std::min(length, longest);
    const std::uint8_t* const symbols = string_.symbols.data() + begin;
    if (string_.has_separators)
      count = static_cast<std::uint32_t>(std::find(symbols, symbols + count, 0) - symbols);
    const Key first = first_bytes(begin);
    if (count == 0) return 0;
    if (count < longest) return first & ~(~Key{0} >> (8 * count));
    return (first & ~Key{255}) | std::min(first & 255, greatest_eighth);
  }

 private:
  static constexpr std::uint32_t longest = 8;
  /// Stands for all symbols from it on, and is less than the lowest byte of a key of seven.
  static constexpr Key greatest_eighth = 255 - longest;

  [[nodiscard]] Key first_bytes(std::uint32_t begin) const {
    Key word = 0;
    const std::uint32_t left = string_.size() - begin;
    std::memcpy(&word, string_.symbols.data() + begin, std::min<std::uint32_t>(left, sizeof(word)));
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    return word;
  }

  const SymbolString<std::uint8_t>& string_;
};

/// Keys of substrings of names: as many as fit two words of 64 bits, then ones, which are no symbol.
class NameKeys {
 public:
  using Key = DoubleWord;

  explicit NameKeys(const SymbolString<std::uint32_t>& string)
      : string_(string),
        symbol_bits_(std::bit_width(string.alphabet)),
        half_(std::min<std::uint32_t>(64 / symbol_bits_, symbols_after_names / 2)),
        longest(2 * half_),
        key_bits(static_cast<int>(longest) * symbol_bits_) {
    ones_after_[longest] = 0;
    for (std::uint32_t length = longest; length-- > 0;)
      ones_after_[length] =
          ones_after_[length + 1] << symbol_bits_ | ((Key{1} << symbol_bits_) - 1);
  }

  [[nodiscard]] bool has_key(std::uint32_t, std::uint32_t length) const {
    return length <= longest;
  }
  /// Two words that do not depend on each other, and need no shifts of 128 bits.
  [[nodiscard]] Key key(std::uint32_t begin, std::uint32_t length) const {
    const std::uint32_t* const symbols = string_.symbols.data() + begin;
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    for (std::uint32_t i = 0; i < half_; ++i) {
      high = high << symbol_bits_ | symbols[i];
      low = low << symbol_bits_ | symbols[half_ + i];
    }
    return (Key{high} << (static_cast<int>(half_) * symbol_bits_) | low) | ones_after_[length];
  }
  [[nodiscard]] Key key_of_long(std::uint32_t begin, std::uint32_t length) const {
    Key key = 0;
    for (std::uint32_t i = 0; i < longest; ++i)
      key = key << symbol_bits_ | (i < length ? string_.symbols[begin + i] : 0);
    return key;
  }

 private:
  const SymbolString<std::uint32_t>& string_;
  int symbol_bits_;
  std::uint32_t half_;  ///< symbols of a word
  std::array<Key, symbols_after_names + 1> ones_after_{};

 public:
  const std::uint32_t longest;  ///< symbols of a key
  const int key_bits;
};

/// Substring `index`, longer than a key. Its hash tells most others apart.
struct LongKey {
  std::uint64_t hash = 0;
  std::uint32_t index = 0;
};

template <class Symbol>
class SubstringNamer {
 public:
  SubstringNamer(const SymbolString<Symbol>& string, std::span<const LmsSuffix> lms,
                 std::span<std::uint32_t> names, ScratchStack& scratch)
      : string_(string), lms_(lms), names_(names), scratch_(scratch), keys_(string) {}

  std::uint32_t run(const HostContext& context) {
    const ScratchStack::Scope scope(scratch_);
    NameTable<Key> table(scratch_, lms_.size() / 64, 0);
    number_short(table);
    const std::uint32_t long_begin = table.size();
    const LongNames long_names = number_long(long_begin);
    const auto names_of = scratch_.take<std::uint32_t>(long_begin + long_names.indices.size());
    const auto keys = scratch_.take<Key>(std::uint64_t{long_begin} + long_names.substrings.size());
    for_each_index(0, names_of.size(), [=](std::uint64_t i) { names_of[i] = 0; });
    const std::uint32_t short_names =
        table.for_each([=](std::uint32_t index, std::uint32_t number, const Key& key) {
          names_of[number] = index;
          keys[index] = key;
        });
    for_each_index(0, long_names.indices.size(), [&](std::uint64_t i) {
      names_of[long_begin + i] = short_names + long_names.indices[i];
    });
    const std::vector<std::uint32_t>& long_ones = long_names.substrings;
    for_each_index(0, long_ones.size(), [&](std::uint64_t i) {
      keys[short_names + i] = keys_.key_of_long(lms_[long_ones[i]].position, length(long_ones[i]));
    });
    const auto distinct = static_cast<std::uint32_t>(short_names + long_ones.size());
    rank(context, keys.first(distinct), short_names, long_ones, names_of);
    return distinct;
  }

 private:
  using Keys = std::conditional_t<std::is_same_v<Symbol, std::uint8_t>, ByteKeys, NameKeys>;
  using Key = typename Keys::Key;

  /// Distinct substrings without keys.
  struct LongNames {
    std::vector<std::uint32_t> substrings;  ///< one of each kind
    std::vector<std::uint32_t> indices;     ///< by their numbers: which of these
  };

  static constexpr std::uint64_t batch = 32;        ///< keys whose entries are prefetched
  static constexpr std::uint64_t task = 16 * 1024;  ///< substrings

  [[nodiscard]] bool is_last(std::uint32_t index) const { return index + 1 == lms_.size(); }
  /// Symbols of a substring, the first one of the next LMS suffix included.
  [[nodiscard]] std::uint32_t length(std::uint32_t index) const {
    return (is_last(index) ? string_.size() : lms_[index + 1].position + 1) - lms_[index].position;
  }
  [[nodiscard]] bool is_unique(std::uint32_t index) const {
    if (is_last(index)) return true;
    return string_.has_separators && (string_.symbols[lms_[index].position] == 0 ||
                                      string_.symbols[lms_[index + 1].position] == 0);
  }

  void number_short(NameTable<Key>& table) {
    // As many at a time as the table can take if all are new. Threads wait for each other after each time, so
    // for several of them the table is larger than its keys need.
    constexpr std::uint64_t most_at_a_time = 1 << 18;
    for (std::uint64_t begin = 0; begin < lms_.size();) {
      const std::uint64_t left = lms_.size() - begin;
      std::uint64_t least = std::max<std::uint64_t>(table.entries() / 8, 2 * worker_threads());
      if (worker_threads() > 1) least = std::max(least, std::min(left / 8, most_at_a_time));
      if (table.places_left() < least)
        table.grow(scratch_, std::max(expected_keys(table, begin), 2 * least),
                   [](const Key& key) { return hash_of_key(key); });
      const std::uint64_t end =
          std::min<std::uint64_t>(lms_.size(), begin + table.places_left() - worker_threads());
      for_each_range(end - begin, task_size(end - begin),
                     [&](std::uint64_t first, std::uint64_t last) {
                       number_range(table, begin + first, begin + last);
                     });
      begin = end;
    }
  }

  /// As many keys for each substring as among the first ones, which is rather too many.
  [[nodiscard]] std::uint64_t expected_keys(const NameTable<Key>& table,
                                            std::uint64_t first_ones) const {
    return first_ones == 0 ? 0 : table.size() * lms_.size() / first_ones;
  }

  void number_range(NameTable<Key>& table, std::uint64_t begin, std::uint64_t end) {
    std::array<Key, batch> keys;
    std::array<std::uint64_t, batch> hashes;
    typename NameTable<Key>::Numbers numbers;
    for (std::uint64_t first = begin; first < end; first += batch) {
      const std::uint64_t count = std::min(batch, end - first);
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::uint32_t>(first + i);
        const std::uint32_t symbols = length(index);
        names_[index] = long_name;
        if (!keys_.has_key(lms_[index].position, symbols) || is_unique(index)) continue;
        names_[index] = 0;
        keys[i] = keys_.key(lms_[index].position, symbols);
        hashes[i] = hash_of_key(keys[i]);
        table.prefetch(hashes[i]);
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        if (names_[first + i] == long_name) continue;
        names_[first + i] = table.find_or_add(keys[i], hashes[i], numbers,
                                              [&](const Key& key) { return key == keys[i]; });
      }
    }
  }

  /// Numbers the substrings without keys from `first` on.
  LongNames number_long(std::uint32_t first) {
    const std::vector<std::uint32_t> all = without_number();
    const ScratchStack::Scope scope(scratch_);
    NameTable<LongKey> table(scratch_, 2 * all.size(), first);
    std::vector<std::uint64_t> hashes(all.size());
    for_each_index(0, all.size(), [this, &all, &hashes](std::uint64_t i) {
      hashes[i] = hash_of_key(XXH3_64bits(string_.symbols.data() + lms_[all[i]].position,
                                          length(all[i]) * sizeof(Symbol)));
    });
    for_each_range(all.size(), task_size(all.size()), [&](std::uint64_t begin, std::uint64_t end) {
      typename NameTable<LongKey>::Numbers numbers;
      for (std::uint64_t i = begin; i < end; ++i) {
        const LongKey key{hashes[i], all[i]};
        names_[all[i]] = table.find_or_add(key, key.hash, numbers, [&](const LongKey& other) {
          return other.hash == key.hash && is_same(key.index, other.index);
        });
      }
    });
    LongNames result{std::vector<std::uint32_t>(all.size()),
                     std::vector<std::uint32_t>(table.size())};
    result.substrings.resize(
        table.for_each([&](std::uint32_t index, std::uint32_t number, const LongKey& key) {
          result.substrings[index] = key.index;
          result.indices[number - first] = index;
        }));
    return result;
  }

  /// Items of a task, so that each thread has several.
  static std::uint64_t task_size(std::uint64_t items) {
    return std::clamp<std::uint64_t>(items / (8 * worker_threads()), batch, task);
  }

  /// The substrings that have no number yet, in ascending order.
  [[nodiscard]] std::vector<std::uint32_t> without_number() const {
    const EqualShares shares = thread_shares(names_.size());
    std::vector<std::vector<std::uint32_t>> found(shares.count);
    for_each_share(shares, [&](std::uint64_t share, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t index = begin; index < end; ++index)
        if (names_[index] == long_name) found[share].push_back(static_cast<std::uint32_t>(index));
    });
    std::vector<std::uint32_t> all = std::move(found[0]);
    for (std::uint64_t share = 1; share < shares.count; ++share)
      all.insert(all.end(), found[share].begin(), found[share].end());
    return all;
  }

  [[nodiscard]] bool is_same(std::uint32_t a, std::uint32_t b) const {
    if (is_unique(a) || is_unique(b) || length(a) != length(b)) return false;
    const auto at = [this](std::uint32_t index) {
      return string_.symbols.begin() + lms_[index].position;
    };
    return std::equal(at(a), at(a) + length(a), at(b));
  }

  /// Whether a substring without key is less than another one.
  [[nodiscard]] bool is_less(std::uint32_t a, std::uint32_t b) const {
    const Symbol* const at = string_.symbols.data();
    const std::uint32_t shared = std::min(length(a), length(b));
    std::uint32_t equal = 0;
    // Substrings of short periods with mutations can have any length.
    constexpr std::uint32_t block = 64;
    while (!string_.has_separators && equal + block <= shared &&
           std::memcmp(at + lms_[a].position + equal, at + lms_[b].position + equal,
                       block * sizeof(Symbol)) == 0)
      equal += block;
    for (std::uint32_t i = equal; i < shared; ++i) {
      const Symbol in_a = at[lms_[a].position + i];
      const Symbol in_b = at[lms_[b].position + i];
      if (in_a != in_b) return in_a < in_b;
      if (string_.is_separator(in_a)) return lms_[a].position < lms_[b].position;
    }
    // The end of the string follows the last one.
    const auto end_is_less = [&](std::uint32_t other) {
      return !string_.is_separator(at[lms_[other].position + shared]);
    };
    if (is_last(a)) return end_is_less(b);
    if (is_last(b)) return !end_is_less(a);
    return length(a) > length(b);
  }

  /// Replaces numbers by ranks.
  /// \param keys      of the distinct substrings
  /// \param names_of  by number, the index of a key; receives its rank
  void rank(const HostContext& context, std::span<const Key> keys, std::uint32_t short_names,
            const std::vector<std::uint32_t>& long_ones, std::span<std::uint32_t> names_of) {
    const std::uint64_t distinct = keys.size();
    const auto heads = scratch_.take<std::uint64_t>(distinct);
    const auto order = scratch_.take<std::uint32_t>(distinct);
    const int low_bits = std::max(0, keys_.key_bits - 64);
    for_each_index(0, distinct, [=](std::uint64_t i) {
      heads[i] = static_cast<std::uint64_t>(keys[i] >> low_bits);
      order[i] = static_cast<std::uint32_t>(i);
    });
    Context sorting;
    sorting.backend = Backend::host;
    sorting.threads = context.threads;
    sortie::sort(sorting, heads, order);
    const auto less = [&](std::uint32_t a, std::uint32_t b) {
      if (keys[a] != keys[b]) return keys[a] < keys[b];
      if (a == b) return false;
      // A substring without key continues where one with the same key has ended.
      if (a < short_names || b < short_names) return b < short_names;
      return is_less(long_ones[a - short_names], long_ones[b - short_names]);
    };
    for_each_range(distinct, task_size(distinct), [&](std::uint64_t begin, std::uint64_t end) {
      // The range has the groups of equal heads that begin in it.
      const auto begins = [&](std::uint64_t i) {
        return i == 0 || i == distinct || heads[i - 1] != heads[i];
      };
      while (begin < end && !begins(begin)) ++begin;
      while (begin < end) {
        std::uint64_t next = begin + 1;
        while (!begins(next)) ++next;
        if (next - begin > 1) std::sort(order.begin() + begin, order.begin() + next, less);
        begin = next;
      }
    });
    const auto ranks = scratch_.take<std::uint32_t>(distinct);
    for_each_index(0, distinct,
                   [=](std::uint64_t i) { ranks[order[i]] = static_cast<std::uint32_t>(i); });
    for_each_index(0, names_of.size(),
                   [=](std::uint64_t number) { names_of[number] = ranks[names_of[number]]; });
    for_each_index(0, names_.size(),
                   [names = names_, names_of](std::uint64_t i) { names[i] = names_of[names[i]]; });
  }

  const SymbolString<Symbol>& string_;
  std::span<const LmsSuffix> lms_;
  std::span<std::uint32_t> names_;
  ScratchStack& scratch_;
  Keys keys_;
};

}  // namespace

template <class Symbol>
std::uint32_t name_substrings(const HostContext& context, const SymbolString<Symbol>& string,
                              std::span<const LmsSuffix> lms, std::span<std::uint32_t> names,
                              ScratchStack& scratch) {
  return SubstringNamer<Symbol>(string, lms, names, scratch).run(context);
}

template std::uint32_t name_substrings(const HostContext&, const SymbolString<std::uint8_t>&,
                                       std::span<const LmsSuffix>, std::span<std::uint32_t>,
                                       ScratchStack&);
template std::uint32_t name_substrings(const HostContext&, const SymbolString<std::uint32_t>&,
                                       std::span<const LmsSuffix>, std::span<std::uint32_t>,
                                       ScratchStack&);

}  // namespace sortie::suffix_array::host
