// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sortie/context.hpp"

/// Measures the candidate kernels of segmented sort and chooses, for the present GPU, which team
/// sorts which segment lengths. All measurements use pairs of u32 and u32.
namespace sortie::bench {

/// Enough to fill the largest GPU many times: with fewer items, the incomplete last wave of blocks
/// would distort the times.
constexpr std::uint64_t default_items_of_tuning = std::uint64_t{1} << 27;

/// Maximum number of block classes: the limit of the library.
constexpr std::size_t most_block_classes = 10;

struct TuneOptions {
  std::uint64_t items = default_items_of_tuning;
  int repetitions = 5;
  std::uint64_t seed = 1;
};

/// Shape of a team of warps that sorts one segment in its tile.
struct TileShape {
  int warps = 0;
  int items = 0;        ///< items per thread
  int block_warps = 0;  ///< warps of the block that the team shares with equal teams

  [[nodiscard]] constexpr std::uint64_t capacity() const {
    return std::uint64_t{32} * static_cast<std::uint64_t>(warps) *
           static_cast<std::uint64_t>(items);
  }
  bool operator==(const TileShape&) const = default;
};

/// The measurement of one kernel on segments of one length.
struct KernelTime {
  std::uint64_t length = 0;  ///< of every segment
  double seconds = 0;        ///< median; 0 without a result
  bool agrees = false;       ///< the result was checked and is right
  std::string fault;         ///< error in the result
  std::string failure;       ///< reason for a missing result

  [[nodiscard]] bool is_wrong() const { return failure.empty() && !agrees; }
  /// 10^9 pairs per second; 0 without a result.
  [[nodiscard]] double rate(std::uint64_t items) const;
};

/// The measurement of a candidate: either the batch kernel, in which each warp sorts many short
/// segments together (`shape` all 0), or the batch kernel, which then only lists the segments,
/// followed by a kernel in which a team of the given shape sorts each segment.
struct CandidateTime : KernelTime {
  TileShape shape;

  [[nodiscard]] bool is_batch() const { return shape == TileShape{}; }
};

/// The choice of kernels: batches up to longest_in_warp, then the first block, in order of
/// capacity, that is large enough for the segment.
struct BlockTable {
  std::uint64_t longest_in_warp = 0;
  std::vector<TileShape> shapes;
  double seconds = 0;  ///< summed over the lengths of the tuning
};

/// The result of a tuning run.
struct Tuning {
  std::uint64_t items = 0;
  std::vector<CandidateTime> times;  ///< in order of length; batches before blocks
  BlockTable present;                ///< the table compiled into the library
  BlockTable chosen;

  /// The fastest correct candidate for a length; null if there is none.
  [[nodiscard]] const CandidateTime* best(std::uint64_t length) const;
};

/// Lengths at which teams are measured: the capacity of each shape, 3/4 of each capacity, and two
/// smaller lengths. At shorter lengths only batches are measured.
[[nodiscard]] std::vector<std::uint64_t> tuning_lengths(std::span<const TileShape> shapes);

/// The time of a tile does not depend on the number of items in it. Therefore a shape is not
/// measured at lengths of which it would hold more than this many segments: the time there follows
/// from that at its shortest measured length.
constexpr std::uint64_t most_segments_a_tile = 8;

/// Seconds of a shape, measured or derived as described above; infinite if the length exceeds its
/// capacity or there is no correct result.
[[nodiscard]] double seconds_of(std::span<const CandidateTime> times, const TileShape& shape,
                                std::uint64_t length);

/// Seconds of a table summed over all lengths at which blocks were measured.
[[nodiscard]] double summed_seconds(std::span<const CandidateTime> times, const BlockTable& table);

/// Chooses at most most_block_classes shapes greedily: starts with the best single shape whose
/// capacity suffices for every length, then repeatedly adds the shape that reduces the summed
/// seconds most; it replaces a shape of the same capacity. Repeats this for every possible
/// longest_in_warp and returns the best table. `shapes` is empty if no shape suffices for all
/// lengths.
[[nodiscard]] BlockTable choose_table(std::span<const CandidateTime> times);

/// Measures all candidates and chooses a table. About 10 s on an H200.
/// \throws Error (unavailable) the backend is not CUDA
[[nodiscard]] Tuning tune(const Context& context, const TuneOptions& options);

/// The CUDA part of tune(); does not fill `chosen` and the seconds of `present`.
[[nodiscard]] Tuning tune_on_cuda(const Context& context, const TuneOptions& options);

/// Text for the terminal: one line per length with the rate of every candidate, then the tables.
[[nodiscard]] std::string tuning_table(const Tuning& tuning);
/// A JSON object: `items`, `key`, `value`, `times`, `best`, `present`, `chosen`.
[[nodiscard]] std::string tuning_json(const Tuning& tuning);
/// The chosen table as C++ definitions for segsort/cuda/policy.cuh, with the measured rates.
/// \param origin  program and GPU, for the comment
[[nodiscard]] std::string tuning_header(const Tuning& tuning, const std::string& origin);

}  // namespace sortie::bench
