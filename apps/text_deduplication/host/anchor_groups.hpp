// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/text_deduplication/duplicate_marks.hpp"
#include "apps/text_deduplication/host/anchors.hpp"

namespace sortie::texts::host {

/// An anchor and its bytes: `at` is the address of its k-gram, from which all bytes of its windows
/// can be read.
struct Member {
  const std::uint8_t* at = nullptr;
  Anchor anchor;
};

/// Decides which windows of anchors with equal hashes are equal, by comparing their bytes, and
/// marks them. One object for each thread.
class AnchorGroups {
 public:
  /// \param other_begin  offset of the other corpus, if there is one
  AnchorGroups(const AnchorShape& shape, const DeduplicationOptions& options,
               std::uint64_t other_begin, DuplicateMarks& marks)
      : shape_(shape),
        keep_(options.keep),
        has_other_(options.has_other_corpus()),
        other_begin_(other_begin),
        marks_(marks) {}

  /// Marks the windows of one group. Members may be in any order, are changed, and may be of
  /// different k-grams whose hashes collide.
  ///
  /// In each round, all members are compared with the first one by position. Common bytes to the
  /// left and to the right give the offsets at which their windows are equal; these are done. What
  /// remains is compared in the next round. If few members of a large group match, the offsets are
  /// halved: windows of one half have more bytes in common, whose hashes divide the group. At a
  /// single offset, all bytes are hashed. So m members take O(m log(offsets)) hashes and
  /// comparisons, however often a k-gram occurs.
  void mark(std::vector<Member>& members);

  /// Adds the figures to those of the marks. Not thread-safe.
  void finish() { marks_.add_figures(figures_); }

 private:
  void divide(std::vector<Member>& members, std::uint32_t least, std::uint32_t most);
  void divide_half(std::span<const Member> members, std::uint32_t least, std::uint32_t most);
  /// One round. Returns the number of members with matches; `members` keeps what remains.
  std::uint64_t match_first(std::vector<Member>& members);
  void mark_matches(const Anchor& first);
  /// Windows of `first` at the offsets [least, most] have as many copies.
  void add_first_windows(const Anchor& first, std::uint32_t least, std::uint32_t most,
                         std::uint64_t copies);

  AnchorShape shape_;
  Keep keep_;
  bool has_other_;
  std::uint64_t other_begin_;
  DuplicateMarks& marks_;
  DuplicateMarks figures_;
  std::vector<Anchor> matches_;       ///< with the windows that equal those of the first member
  std::vector<std::int64_t> copies_;  ///< differences, by offset
  std::vector<std::int64_t> others_;  ///< of those in the other corpus
};

}  // namespace sortie::texts::host
