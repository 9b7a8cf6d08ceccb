// SPDX-License-Identifier: Apache-2.0
#include "apps/text_deduplication/host/anchor_groups.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

namespace sortie::texts::host {
namespace {

std::uint64_t word_at(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

/// Number of bytes, at most `limit`, that are equal from `a` and `b` on.
std::uint64_t common_after(const std::uint8_t* a, const std::uint8_t* b, std::uint64_t limit) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t i = 0;
  for (; i + sizeof(std::uint64_t) <= limit; i += sizeof(std::uint64_t)) {
    const std::uint64_t differing = word_at(a + i) ^ word_at(b + i);
    if (differing != 0) return i + static_cast<std::uint64_t>(std::countr_zero(differing)) / 8;
  }
  while (i < limit && a[i] == b[i]) ++i;
  return i;
}

/// The same for the bytes before `a` and `b`, from the last one.
std::uint64_t common_before(const std::uint8_t* a, const std::uint8_t* b, std::uint64_t limit) {
  std::uint64_t i = 0;
  for (; i + sizeof(std::uint64_t) <= limit; i += sizeof(std::uint64_t)) {
    const std::uint64_t differing = word_at(a - i - 8) ^ word_at(b - i - 8);
    if (differing != 0) return i + static_cast<std::uint64_t>(std::countl_zero(differing)) / 8;
  }
  while (i < limit && *(a - i - 1) == *(b - i - 1)) ++i;
  return i;
}

bool is_before(const Member& a, const Member& b) {
  return std::tie(a.anchor.position, a.anchor.least) < std::tie(b.anchor.position, b.anchor.least);
}

/// The member without windows outside of the offsets [least, most].
Member clipped(Member member, std::uint32_t least, std::uint32_t most) {
  member.anchor.least = std::max(member.anchor.least, least);
  member.anchor.most = std::min(member.anchor.most, most);
  return member;
}
/// Sets the bits of the windows of an anchor at the offsets [least, most], from repeat `begin` on.
void set(OffsetBits& bits, const Anchor& anchor, std::uint32_t least, std::uint32_t most,
         std::uint64_t begin = 0) {
  const auto set_repeats = [&](std::uint64_t first, std::uint64_t last) {
    bits.set(anchor.position + first * anchor.period - most,
             anchor.position + last * anchor.period - least);
  };
  if (begin == anchor.repeats) return;
  if (most - least + 1 == anchor.period) return set_repeats(begin, anchor.repeats - 1);
  for (std::uint64_t i = begin; i < anchor.repeats; ++i) set_repeats(i, i);
}

}  // namespace

void AnchorGroups::mark(std::vector<Member>& members) {
  std::ranges::sort(members, is_before);
  divide(members, 0, static_cast<std::uint32_t>(shape_.offsets - 1));
}

void AnchorGroups::divide(std::vector<Member>& members, std::uint32_t least, std::uint32_t most) {
  // Up to this size, comparing all with all is faster than hashing.
  constexpr std::uint64_t large = 16;
  constexpr std::uint64_t few = 8;  // one match in as many members
  while (members.size() > 1 || (members.size() == 1 && members[0].anchor.repeats > 1)) {
    const std::uint64_t size = members.size();
    const std::uint64_t matched = match_first(members);
    if (size > large && matched < size / few && least < most) {
      const std::uint32_t middle = least + (most - least) / 2;
      divide_half(members, least, middle);
      divide_half(members, middle + 1, most);
      return;
    }
  }
}

void AnchorGroups::divide_half(std::span<const Member> members, std::uint32_t least,
                               std::uint32_t most) {
  struct Hashed {
    std::uint64_t hash;
    Member member;
  };
  std::vector<Hashed> hashed;
  for (const Member& member : members) {
    const Member part = clipped(member, least, most);
    if (!part.anchor.has_windows()) continue;
    // The bytes that all windows at these offsets have.
    hashed.push_back({hash_of(part.at - least, shape_.window - (most - least)), part});
  }
  std::ranges::sort(hashed, [](const Hashed& a, const Hashed& b) {
    return a.hash != b.hash ? a.hash < b.hash : is_before(a.member, b.member);
  });
  std::vector<Member> group;
  for (std::size_t begin = 0, end = 0; begin < hashed.size(); begin = end) {
    group.clear();
    while (end < hashed.size() && hashed[end].hash == hashed[begin].hash)
      group.push_back(hashed[end++].member);
    divide(group, least, most);
  }
}

std::uint64_t AnchorGroups::match_first(std::vector<Member>& members) {
  const Member first = members.front();
  matches_.clear();
  std::size_t kept = 0;
  const std::size_t size = members.size();
  for (std::size_t i = 1; i < size; ++i) {
    const Member member = members[i];
    const Anchor both = clipped(member, first.anchor.least, first.anchor.most).anchor;
    Anchor equal = both;
    if (both.has_windows() && first.at != member.at) {
      const std::uint64_t after = common_after(first.at, member.at, shape_.window - both.least);
      equal.least = std::max(both.least, static_cast<std::uint32_t>(shape_.window - after));
      if (equal.has_windows()) {
        const std::uint64_t before = common_before(first.at, member.at, both.most);
        equal.most = static_cast<std::uint32_t>(before);
      }
    }
    if (!equal.has_windows()) {
      members[kept++] = member;
      continue;
    }
    matches_.push_back(equal);
    // Windows at smaller and at greater offsets remain. Where both do, there are more members than
    // places before i, and one goes to the end.
    Member lower = member;
    Member upper = member;
    lower.anchor.most = equal.least - 1;
    upper.anchor.least = equal.most + 1;
    const bool has_lower = member.anchor.least < equal.least;
    const bool has_upper = equal.most < member.anchor.most;
    if (has_lower) members[kept++] = lower;
    if (has_upper && kept <= i) {
      members[kept++] = upper;
    } else if (has_upper) {
      members.push_back(upper);
    }
  }
  const bool appended = members.size() > size;
  members.erase(members.begin() + static_cast<std::ptrdiff_t>(kept),
                members.begin() + static_cast<std::ptrdiff_t>(size));
  if (appended) std::ranges::sort(members, is_before);
  if (!matches_.empty() || first.anchor.repeats > 1) mark_matches(first.anchor);
  return matches_.size();
}

void AnchorGroups::add_first_windows(const Anchor& first, std::uint32_t least, std::uint32_t most,
                                     std::uint64_t copies) {
  const std::uint64_t begin = first.position - most;
  const std::uint32_t windows = most - least + 1;
  figures_.first_windows.push_back({begin, copies, windows});
  figures_.duplicate_windows += copies * windows;
  figures_.copies[static_cast<std::size_t>(std::bit_width(copies)) - 1] += copies * windows;
}

void AnchorGroups::mark_matches(const Anchor& first) {
  if (!has_other_) {
    for (const Anchor& match : matches_) set(marks_.removed, match, match.least, match.most);
    set(marks_.removed, first, first.least, first.most, 1);
  }
  // Numbers of copies by offset, as differences to the offset before.
  const std::uint32_t width = first.most - first.least + 1;
  copies_.assign(width + 1, 0);
  others_.assign(width + 1, 0);
  for (const Anchor& match : matches_) {
    const auto repeats = static_cast<std::int64_t>(match.repeats);
    copies_[match.least - first.least] += repeats;
    copies_[match.most + 1 - first.least] -= repeats;
    if (!has_other_ || match.position < other_begin_) continue;
    others_[match.least - first.least] += repeats;
    others_[match.most + 1 - first.least] -= repeats;
  }
  auto copies = static_cast<std::int64_t>(first.repeats);
  std::int64_t others = first.position >= other_begin_ ? copies : 0;
  for (std::uint32_t begin = 0, end = 0; begin < width; begin = end) {
    copies += copies_[begin];
    others += others_[begin];
    end = begin + 1;
    while (end < width && copies_[end] == 0 && others_[end] == 0) ++end;
    if (copies == 1 || (has_other_ && (others == 0 || others == copies))) continue;
    const std::uint32_t least = first.least + begin;
    const std::uint32_t most = first.least + end - 1;
    add_first_windows(first, least, most, static_cast<std::uint64_t>(copies));
    if (!marks_.kept.empty()) marks_.kept.set(first.position - most, first.position - least);
    if (keep_ == Keep::none) set(marks_.removed, first, least, most);
    if (!has_other_) continue;
    for (const Anchor& match : matches_) {
      const std::uint32_t from = std::max(least, match.least);
      const std::uint32_t to = std::min(most, match.most);
      if (from <= to) set(marks_.removed, match, from, to);
    }
  }
}

}  // namespace sortie::texts::host
