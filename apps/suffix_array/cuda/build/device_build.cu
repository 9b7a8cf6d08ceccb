// SPDX-License-Identifier: Apache-2.0

// Prefix doubling on a GPU, from device memory to device memory: build_on_device. And from host
// memory to host memory: build_prefix_doubling, which builds in ranges (ranges/range_build.cu) where
// build_on_device does not fit.
//
// Steps:
//   1. Map the first symbols of every suffix to the number of a leaf in a tree over common letters
//      (prefix_code.hpp; 15 bases in 31 bits) and sort by these numbers. Texts of more than 2^28
//      symbols use 40 bits, 19 bases.
//   2. Sort large groups that start with a run of one letter (gaps of N) by the length of the run
//      (runs.cu). Suffixes that are still equal are ordered by what follows the run, in step 4.
//   3. Rounds over the groups of equal suffixes, each a segment: the next 64 bits of the packed
//      text (symbol_stream.cuh; 21 bases) are the keys, or 32 bits if memory would be short.
//      Suffixes that are alone in their group drop out. Rounds end when one leaves more than half
//      of its suffixes, or after four.
//   4. Long repeats remain. Each suffix takes the rank of a sample a few symbols ahead, chosen by
//      the symbols in between (sampling.cuh). Samples, 4 to 11 % of these suffixes for DNA, are
//      sorted by prefix doubling with steps from sample to sample (samples.hpp).
//
// Memory for n symbols of b bits, of which the first sort leaves m in groups (lists are allocated
// for n, before m is known):
//
//   | name                        | elements  | type         | lifetime                        |
//   |-----------------------------|-----------|--------------|---------------------------------|
//   | keys, their alternate       | n each    | 4 (8) bytes  | sort; one of them until groups  |
//   | suffix array                | n         | Index        | whole call (positions first)    |
//   | its alternate               | n         | Index        | sort                            |
//   | packed text, rare letters   | b n, n    | bits         | groups, rounds                  |
//   | items, slots of the list    | n each    | Index        | groups, first round; then fewer |
//   | heads                       | n         | uint8_t      | as the list                     |
//   | offsets                     | n / 2     | Index        | as the list                     |
//   | keys, their alternate       | m each    | 8 or 4 bytes | rounds                          |
//   | items' alternate            | m         | Index        | rounds                          |
//   | runs                        |           |              | see runs.hpp                    |
//   | samples                     |           |              | see samples.hpp                 |
//
// With 32-bit positions that is 16 bytes a symbol in the first sort (24 beyond 2^28 symbols), 20 in
// groups, and 13.5 + 21 m / n in the first round, whose keys have 32 bits where 64 would exceed
// most_bytes_a_symbol (sizes.hpp). No text exceeds that: on an H200, the texts of the tests took
// 19.3 to 31.5 bytes, and 3.1 * 10^9 bases, 44 times a chromosome with mutations, 30.7. The text
// itself is one byte more.
//
// Sources: Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs (ICS 2017), section 5.1; Manber, Myers
// (SIAM J. Comput. 1993); Larsson, Sadakane (Theoretical Computer Science 387, 2007). Samples
// chosen by their context: Roberts et al. (Bioinformatics 2004); that they suffice for sorting:
// Kempa, Kociumaka: String Synchronizing Sets (STOC 2019).
#include <algorithm>
#include <future>
#include <string>
#include <string_view>
#include <utility>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/cuda/build/first_sort.hpp"
#include "apps/suffix_array/cuda/build/runs.hpp"
#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/host_copies.hpp"
#include "apps/suffix_array/cuda/ranges/range_build.hpp"
#include "apps/suffix_array/cuda/samples/samples.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Longest text whose first sort uses 32-bit keys, 15 DNA symbols. They would leave most suffixes
/// of longer texts in groups (n / 4^15 in a random text of n bases), so a fifth pass of the radix
/// sort over wider keys, for 19 symbols, costs less than a round.
constexpr std::uint64_t longest_with_short_keys = std::uint64_t{1} << 28;
constexpr int short_key_bits = 32;
constexpr int long_key_bits = 40;

/// The last round that compares text is the first that leaves more than this share of its suffixes,
/// in percent; samples resolve the rest.
constexpr std::uint64_t percent_of_progress = 50;
/// Most rounds that compare text before samples take over.
constexpr std::uint64_t most_text_rounds = 4;

/// One construction. The steps run in the order of their declaration. The context and the text must
/// outlive the object.
template <class Index>
class Construction {
 public:
  Construction(const DeviceContext& context, const DeviceText& text)
      : context_(context),
        text_(text),
        size_(text.symbols.size()),
        budget_(device_memory_budget(context)) {}

  /// \tparam Key  type of the keys of the first sort
  template <class Key>
  void sort_by_first_symbols(int bits) {
    const cudaStream_t stream = context_.stream;
    WaitingPhase packing(context_, "pack", size_ * (2 + sizeof(Key) + sizeof(Index)));
    DeviceBuffer<Key> keys(size_, stream);
    suffix_array_ = {size_, stream};
    const MarkedText marked = mark_separators(text_, stream);
    const PrefixCode code = plan_first_sort(marked, bits, stream);
    write_first_keys(marked, code, keys.data(), suffix_array_.data(), stream);
    packing.stop();

    const std::uint64_t passes = (static_cast<std::uint64_t>(code.key_bits) + 7) / 8;
    WaitingPhase sorting(context_, "sort", 2 * passes * size_ * (sizeof(Key) + sizeof(Index)));
    sort_by_key(keys, suffix_array_, code.key_bits, stream);
    sorting.stop();

    WaitingPhase grouping(context_, "groups", size_ * (sizeof(Key) + sizeof(Index)));
    packed_ = pack_text(marked, code, stream);
    runs_ = sort_long_runs(code, packed_.stream, keys, suffix_array_, budget_,
                           bytes_held() + keys.bytes(), stream);
    list_ = first_groups(keys, suffix_array_, size_ - runs_.groups.members, stream);
    grouping.stop();
    if (context_.report != nullptr) {
      context_.report->set("unresolved_after_first_sort", list_.members + runs_.groups.members);
    }
    report_progress();
  }

  /// \return the suffix array
  DeviceBuffer<Index> resolve_groups() {
    WaitingPhase phase(context_, "rounds");
    std::uint64_t text_rounds = 0;
    bool progress = true;
    while (list_.members != 0 && progress && text_rounds < most_text_rounds) {
      const std::uint64_t before = list_.members;
      // If 64-bit keys would take too much memory, 32-bit keys compare half as many symbols.
      const std::uint64_t aim = std::min(budget_, size_ * most_bytes_a_symbol<Index>);
      if (bytes_of_text_round<std::uint64_t>() <= aim) {
        run_text_round<std::uint64_t>();
      } else {
        run_text_round<std::uint32_t>();
      }
      progress = list_.members * 100 <= before * percent_of_progress;
      ++text_rounds;
      report_progress();
    }
    std::uint64_t sample_rounds = 0;
    if (list_.members + runs_.groups.members != 0) {
      const std::uint64_t held = bytes_held();
      sample_rounds = finish_by_samples(packed_.stream, std::move(runs_), std::move(list_),
                                        text_depth_, suffix_array_, budget_, held, context_.stream);
      list_ = {};
      runs_ = {};
      report_progress();
    }
    phase.stop();
    if (context_.report != nullptr) {
      context_.report->set("rounds", text_rounds + sample_rounds);
      context_.report->set("sample_rounds", sample_rounds);
    }
    return std::move(suffix_array_);
  }

 private:
  /// Bytes that a round takes in total, including what is held.
  template <class Key>
  [[nodiscard]] std::uint64_t bytes_of_text_round() const {
    // Scratch of the segmented sort: less than a byte an item, plus a constant.
    constexpr std::uint64_t constant_scratch = 1 << 20;
    const std::uint64_t sort_entry = 2 * sizeof(Key) + sizeof(Index) + 1;
    const std::uint64_t refine_entry = sizeof(Key) + SuffixGroups<Index>::bytes_a_member;
    return bytes_held() + list_.items.bytes() + list_.slots.bytes() + list_.heads.bytes() +
           list_.large_begins.bytes() + list_.large_ends.bytes() +
           list_.members * std::max(sort_entry, refine_entry) + constant_scratch;
  }

  template <class Key>
  void run_text_round() {
    require(budget_, "the rounds of prefix doubling", bytes_of_text_round<Key>());
    compare_windows<Key>(packed_.stream, text_depth_, list_, suffix_array_, context_.stream);
  }

  void report_progress() const {
    if (context_.progress) {
      context_.progress("rounds", size_ - list_.members - runs_.groups.members, size_);
    }
  }

  /// Bytes held apart from the lists of suffixes.
  [[nodiscard]] std::uint64_t bytes_held() const {
    return suffix_array_.bytes() + packed_.words.bytes() + packed_.rare.bytes() +
           packed_.rare_blocks.bytes() +
           runs_.groups.members * (SuffixGroups<Index>::bytes_a_member + sizeof(Index));
  }

  const DeviceContext& context_;
  const DeviceText& text_;
  std::uint64_t size_;
  std::uint64_t budget_;
  PackedText packed_;
  DeviceBuffer<Index> suffix_array_;
  LongRuns<Index> runs_;
  SuffixGroups<Index> list_;
  std::uint64_t text_depth_ = 0;  ///< symbols compared since the first sort
};

template <class Key, class Index>
std::uint64_t bytes_before_rounds_by(std::uint64_t symbols) {
  const std::uint64_t sort =
      symbols * 2 * (sizeof(Key) + sizeof(Index)) + sort_by_key_scratch<Key, Index>(symbols);
  // Packed text at 9 bits, with marks of rare letters and separators.
  const std::uint64_t text = symbols / 8 * 11;
  const std::uint64_t groups =
      symbols * (sizeof(Key) + sizeof(Index) + SuffixGroups<Index>::bytes_a_member) + text +
      refine_scratch<Index>(symbols);
  return std::max(sort, groups);
}

}  // namespace

template <Position Index>
std::uint64_t bytes_before_rounds(std::uint64_t symbols) {
  return symbols <= longest_with_short_keys ? bytes_before_rounds_by<std::uint32_t, Index>(symbols)
                                            : bytes_before_rounds_by<std::uint64_t, Index>(symbols);
}

template <Position Index>
DeviceBuffer<Index> build_on_device(const Context& context, const DeviceText& text,
                                    CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  if (size > max_symbols<Index>) {
    throw Error(ErrorKind::usage, "suffix array: found a text of " + std::to_string(size) +
                                      " symbols, expected at most " +
                                      std::to_string(max_symbols<Index>) + " for " +
                                      std::to_string(8 * sizeof(Index)) + "-bit positions");
  }
  if (size == 0) return {};
  require(call, "the first sort of prefix doubling", bytes_before_rounds<Index>(size));

  Construction<Index> construction(call, text);
  if (size <= longest_with_short_keys) {
    construction.template sort_by_first_symbols<std::uint32_t>(short_key_bits);
  } else {
    construction.template sort_by_first_symbols<std::uint64_t>(long_key_bits);
  }
  return construction.resolve_groups();
}

// From host memory to host memory: in one step if that fits, else in ranges.
namespace {

/// Converts positions to the width of the result. Widened on the device, where that costs nothing
/// compared with the copy, in memory that the construction has freed.
template <class Pos, class Index>
DeviceBuffer<Pos> with_width(DeviceBuffer<Index> positions, cudaStream_t stream) {
  if constexpr (sizeof(Pos) == sizeof(Index)) {
    return positions;
  } else {
    DeviceBuffer<Pos> wide(positions.size(), stream);
    const auto widen = [narrow = positions.data(), to = wide.data()] __device__(std::uint64_t i) {
      to[i] = narrow[i];
    };
    for_each_item<std::uint64_t>(wide.size(), widen, stream);
    return wide;
  }
}

/// Builds in one step, with positions of type Index on the device.
/// \throws Error (out_of_memory, device)
template <class Pos, class Index>
std::vector<Pos> build_at_once(const DeviceContext& context, const TextView& text) {
  const Inputs<Index> inputs(context, "the suffix array", text, {});
  DeviceBuffer<Index> positions =
      build_on_device<Index>(beside(context, inputs.bytes()), inputs.text(), context.stream);
  return to_host(context, with_width<Pos>(std::move(positions), context.stream));
}

/// Copies the ranges of a suffix array to the host, on a stream and a thread of its own: the copy
/// of a range overlaps the sort of the next. The page faults of the host's memory are parallel to
/// the sort, too.
///
/// Memory: the range that is being copied, and 8 MiB page-locked.
template <Position Pos>
class RangesToHost {
 public:
  /// \param symbols  symbols of the text: entries of the suffix array
  /// \throws Error (out_of_memory, device), std::bad_alloc
  RangesToHost(const DeviceContext& context, std::uint64_t symbols)
      : device_(context.device), work_stream_(context.stream), copier_(symbols * sizeof(Pos)) {
    suffixes_.reserve(symbols);
    check_cuda(cudaEventCreateWithFlags(&sorted_, cudaEventDisableTiming));
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    work_ = std::async(std::launch::async, [memory = suffixes_.data(), symbols] {
      touch_new_memory(memory, symbols * sizeof(Pos));
    });
  }
  ~RangesToHost() {
    // Waits for the thread, which uses the members that are destroyed next.
    if (work_.valid()) work_.wait();
    static_cast<void>(cudaStreamDestroy(stream_));
    static_cast<void>(cudaEventDestroy(sorted_));
  }
  RangesToHost(const RangesToHost&) = delete;
  RangesToHost& operator=(const RangesToHost&) = delete;

  /// Waits for the copy of the previous range and frees the range. Rethrows errors of the copy.
  void wait() {
    if (work_.valid()) work_.get();
    range_.reset();
  }
  /// Starts the copy of a range, ordered after the work that is on the context's stream now.
  /// \pre wait() was called since the last start()
  void start(DeviceBuffer<Pos> range) {
    range_ = std::move(range);
    check_cuda(cudaEventRecord(sorted_, work_stream_));
    check_cuda(cudaStreamWaitEvent(stream_, sorted_, 0));
    work_ = std::async(std::launch::async, [this] {
      check_cuda(cudaSetDevice(device_));
      copier_.copy(range_.data(), range_.bytes(), stream_, [this](auto chunk) {
        const Pos* const items = reinterpret_cast<const Pos*>(chunk.data());
        suffixes_.insert(suffixes_.end(), items, items + chunk.size() / sizeof(Pos));
      });
    });
  }
  /// All ranges, in the order of the calls of start().
  [[nodiscard]] std::vector<Pos> finish() {
    wait();
    return std::move(suffixes_);
  }

 private:
  int device_;
  cudaStream_t work_stream_;
  ChunkCopier copier_;
  std::vector<Pos> suffixes_;
  DeviceBuffer<Pos> range_;
  cudaEvent_t sorted_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::future<void> work_;
};

/// Builds one range after another; the copy of a range overlaps the sort of the next.
template <class Pos, class Index>
std::vector<Pos> build_by_ranges(const DeviceContext& context, const TextView& text) {
  RangesToHost<Pos> to_host(context, text.size());
  build_in_ranges<Index>(context, text, sizeof(Pos), [&](DeviceBuffer<Index> positions) {
    WaitingPhase copy_out(context, "copy out", positions.size() * sizeof(Pos));
    to_host.wait();
    to_host.start(with_width<Pos>(std::move(positions), context.stream));
    copy_out.stop();
  });
  const PhaseTimer copy_out(context, "copy out");
  return to_host.finish();
}

/// Builds in one step if that fits, else in ranges.
template <class Pos, class Index>
std::vector<Pos> build_by(const DeviceContext& context, const TextView& text) {
  // The rounds check their own memory.
  const std::uint64_t wanted = text.symbols.size_bytes() + text.separators.size_bytes() +
                               bytes_before_rounds<Index>(text.size());
  if (wanted <= device_memory_budget(context)) {
    try {
      return build_at_once<Pos, Index>(context, text);
    } catch (const Error& error) {
      // The rounds do not fit: the text has too many long repeats.
      if (error.kind() != ErrorKind::out_of_memory) throw;
    }
  }
  return build_by_ranges<Pos, Index>(context, text);
}

}  // namespace

template <Position Pos>
std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text) {
  const DeviceCall call(context);
  if (text.size() <= max_symbols<std::uint32_t>) return build_by<Pos, std::uint32_t>(call, text);
  if constexpr (sizeof(Pos) == sizeof(std::uint64_t)) {
    return build_by<Pos, std::uint64_t>(call, text);
  }
  throw Error(ErrorKind::usage,
              "suffix array: found more symbols than 32-bit positions can address");
}

SORTIE_INSTANTIATE_FOR_POSITIONS(bytes_before_rounds);
SORTIE_INSTANTIATE_FOR_POSITIONS(build_on_device);
SORTIE_INSTANTIATE_FOR_POSITIONS(build_prefix_doubling);

}  // namespace sortie::suffix_array::cuda
