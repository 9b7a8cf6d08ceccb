#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sortie/core/context.hpp"

/// Measures the kernels that the segmented sort may choose from, and makes the choice: which team
/// sorts a segment of which length, for the GPU at hand. Pairs of u32 and u32 throughout.
namespace sortie::bench {

/// Enough to fill the largest GPU many times: of fewer, what is left over at the end counts too
/// much.
constexpr std::uint64_t default_items_of_tuning = std::uint64_t{1} << 27;

/// Lists of block classes have this many at most: as many as the library has room for.
constexpr std::size_t most_block_classes = 10;

struct TuneOptions {
  std::uint64_t items = default_items_of_tuning;
  int repetitions = 5;
  std::uint64_t seed = 1;
};

/// Threads and registers of a team that sorts one segment in its tile.
struct TileShape {
  int warps = 0;
  int items = 0;        ///< of a thread
  int block_warps = 0;  ///< of the block that it shares with others of its kind

  [[nodiscard]] constexpr std::uint64_t capacity() const {
    return std::uint64_t{32} * static_cast<std::uint64_t>(warps) *
           static_cast<std::uint64_t>(items);
  }
  bool operator==(const TileShape&) const = default;
};

/// What came of running one kernel on segments of one length.
struct KernelTime {
  std::uint64_t length = 0;  ///< of every segment
  double seconds = 0;        ///< median; 0 without a result
  bool agrees = false;       ///< the result was checked and is right
  std::string fault;         ///< what is wrong with it
  std::string failure;       ///< why there is none

  [[nodiscard]] bool is_wrong() const { return failure.empty() && !agrees; }
  /// Giga-pairs a second; 0 without a result.
  [[nodiscard]] double rate(std::uint64_t items) const;
};

/// A candidate: the kernel in which warps sort many short segments together (`shape` all 0), or
/// that kernel, which then lists the segments, and a team of some shape for each.
struct CandidateTime : KernelTime {
  TileShape shape;

  [[nodiscard]] bool is_batch() const { return shape == TileShape{}; }
};

/// Which kernel serves which length: batches up to longest_in_warp, then the first of the blocks,
/// which stand in order of capacity, that holds it.
struct BlockTable {
  std::uint64_t longest_in_warp = 0;
  std::vector<TileShape> shapes;
  double seconds = 0;  ///< summed over the lengths of the tuning
};

/// All that a tuning found.
struct Tuning {
  std::uint64_t items = 0;
  std::vector<CandidateTime> times;  ///< in order of length; batches before blocks
  BlockTable present;                ///< what the library was compiled with
  BlockTable chosen;

  /// The fastest right candidate of a length; null where there is none.
  [[nodiscard]] const CandidateTime* best(std::uint64_t length) const;
};

/// Lengths at which teams are measured: each capacity that a shape has, and 3/4 of it, and two
/// below them. Below those batches are measured alone.
[[nodiscard]] std::vector<std::uint64_t> tuning_lengths(std::span<const TileShape> shapes);

/// A tile takes as long for a few items as for all it holds. So a shape is not measured where it
/// holds more than this many segments: its time there follows from that at its shortest length.
constexpr std::uint64_t most_segments_a_tile = 8;

/// Seconds of a shape, measured or concluded as said above; infinite where it does not hold the
/// length or has no right result.
[[nodiscard]] double seconds_of(std::span<const CandidateTime> times, const TileShape& shape,
                                std::uint64_t length);

/// Seconds of a table summed over all lengths at which blocks were measured.
[[nodiscard]] double summed_seconds(std::span<const CandidateTime> times, const BlockTable& table);

/// Chooses at most most_block_classes shapes, greedily: beginning with the best single one that
/// holds every length, always the one that lessens the summed seconds most, in place of one of the
/// same capacity if there is. This for every length at which the batches may end; the best is
/// returned. `shapes` is empty if no shape holds all lengths.
[[nodiscard]] BlockTable choose_table(std::span<const CandidateTime> times);

/// Measures all candidates and chooses from them. About 10 s on an H200.
/// \throws Error (unavailable) the backend is not CUDA
[[nodiscard]] Tuning tune(const Context& context, const TuneOptions& options);

/// The same, in builds with CUDA; `chosen` and the seconds of `present` are left to tune().
[[nodiscard]] Tuning tune_on_cuda(const Context& context, const TuneOptions& options);

/// For people: a line a length with the rate of every candidate, then the tables.
[[nodiscard]] std::string tuning_table(const Tuning& tuning);
/// A JSON object: `items`, `key`, `value`, `times`, `best`, `present`, `chosen`.
[[nodiscard]] std::string tuning_json(const Tuning& tuning);
/// The chosen table as the definitions of segsort/cuda/policy.cuh, with the rates that led to it.
/// \param origin  program and GPU, for the comment
[[nodiscard]] std::string tuning_header(const Tuning& tuning, const std::string& origin);

}  // namespace sortie::bench
