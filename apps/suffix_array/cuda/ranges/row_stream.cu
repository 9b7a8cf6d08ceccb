// SPDX-License-Identifier: Apache-2.0

// The rows of a suffix array, range by range: a thread of its own has the GPU sort a range and
// derive letters and samples; the caller's thread copies those of the range before to the host.
//
//     GPU      sort range 0 | sort range 1 | sort range 2 | ...
//     caller                | copy, visit 0 | copy, visit 1 | ...
//
// Positions stay on the device; a row takes 1 + 8 / sample_step bytes of the bus.
#include "apps/suffix_array/row_stream.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/cuda/ranges/ranges.hpp"
#include "core/background_task.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/cuda/launch.cuh"

namespace sortie::suffix_array::cuda {
namespace {

/// At least so many ranges overlap with the work on their rows, if they have so many suffixes.
constexpr std::uint64_t streamed_ranges = 6;
constexpr std::uint64_t least_streamed = std::uint64_t{1} << 22;

/// What is derived of a range, on the device.
struct RangeRows {
  DeviceBuffer<std::uint8_t> letters;
  DeviceBuffer<std::uint64_t> samples;
  std::vector<std::uint64_t> marks;  ///< of this range and those before, on the host
  double seconds = 0;                ///< of its sort
};

/// Derives the rows of a range. Waits for the stream.
/// \param by_code  letters by code of the packed text
/// \param marks    of all ranges
/// \param host_marks  page-locked memory for a copy of these, which is started before the sort has
///                    ended
template <Position Index>
RangeRows derive(const RowRequest& request, const SymbolStream& text, std::uint64_t symbols,
                 const std::uint8_t* by_code, const DeviceBuffer<Index>& suffixes,
                 std::uint64_t first, DeviceBuffer<std::uint64_t>& marks,
                 PinnedBuffer<std::uint64_t>& host_marks, cudaStream_t stream) {
  const std::uint64_t count = suffixes.size();
  const std::uint64_t skipped = request.samples_below(first);
  RangeRows rows{{count, stream}, {request.samples_below(first + count) - skipped, stream}, {}, 0};
  const auto write_row = [request, text, symbols, by_code, suffixes = suffixes.data(), first, count,
                          skipped, letters = rows.letters.data(), samples = rows.samples.data(),
                          marks = marks.data()] __device__(Index j) {
    const std::uint64_t position = suffixes[request.descending ? count - 1 - j : j];
    const std::uint64_t row = first + j;
    letters[j] = position == 0 ? request.first_letter : by_code[text.symbol(position - 1)];
    if (row % request.sample_step == request.sample_phase)
      samples[row / request.sample_step - skipped] = position;
    if (position == 0) marks[0] = row;
    if (symbols - position <= request.tail) marks[symbols - position] = row;
  };
  for_each_item<Index>(count, write_row, stream);
  marks.copy_to(host_marks.span());
  check_cuda(cudaStreamSynchronize(stream));
  rows.marks.assign(host_marks.span().begin(), host_marks.span().end());
  return rows;
}

template <Position Index>
class RowStream {
 public:
  RowStream(const DeviceContext& context, const TextView& text, const RowRequest& request,
            const RangePlan* plan)
      : context_(context),
        request_(request),
        symbols_(request.mirrored ? 2 * text.size() : text.size()),
        marks_(std::vector<std::uint64_t>(1 + request.tail, no_row), context.stream),
        host_marks_(1 + request.tail) {
    const auto kept = static_cast<int>(1 + 8 / request.sample_step + 1);
    RangeTextPacker<Index> packer(context, text, {}, kept, {},
                                  plan == nullptr ? std::nullopt : std::optional(*plan),
                                  request.mirrored);
    const LetterSet letters = packer.find_letters();
    std::vector<std::uint8_t> by_code(1);
    for (std::size_t letter = 0; letter < letters.size(); ++letter)
      if (letters[letter]) by_code.push_back(static_cast<std::uint8_t>(letter));
    letters_ = {by_code, context.stream};
    text_.emplace(packer.order_alone(context, letters));
    WaitingPhase cutting(context, "borders");
    const std::uint64_t most =
        plan != nullptr ? text_->plan.members
                        : std::min(text_->plan.members,
                                   std::max(least_streamed, symbols_ / streamed_ranges + 1));
    ranges_ = find_ranges(text_->order(), symbols_, most, context.stream);
    if (request.descending) std::ranges::reverse(ranges_);
    cutting.stop();
    check_cuda(cudaStreamSynchronize(context.stream));
  }

  void run(const VisitRowBlock& visit) {
    const std::uint64_t row_bytes = 1 + 8 / request_.sample_step + 1;
    // Two blocks: one arrives while the other is visited.
    const std::uint64_t block_rows = std::min(symbols_, row_stream_bytes / 2 / row_bytes);
    double seconds = 0;
    sort(0);
    // Pages are locked while the first range is sorted.
    std::array<HostBlock, 2> blocks = {HostBlock(block_rows, request_),
                                       HostBlock(block_rows, request_)};
    std::uint64_t done = 0;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      PhaseTimer waiting(context_, "ranges");
      sorting_->wait();
      waiting.stop();
      const RangeRows rows = std::move(sorted_);
      seconds += rows.seconds;
      const std::uint64_t begin = done;
      done += ranges_[i].members;
      if (i + 1 < ranges_.size()) sort(i + 1);
      const auto start_copy = [&](std::size_t number) {
        const std::uint64_t first = begin + number * block_rows;
        if (first < done)
          copy(rows, begin, first, std::min(done, first + block_rows), blocks[number % 2]);
      };
      PhaseTimer copy_first(context_, "copy out");
      start_copy(0);
      copy_first.stop();
      for (std::size_t number = 0; begin + number * block_rows < done; ++number) {
        PhaseTimer copy_out(context_, "copy out");
        check_cuda(cudaStreamSynchronize(copies_.get()));
        start_copy(number + 1);
        copy_out.stop();
        const PhaseTimer visiting(context_, "rows");
        visit(blocks[number % 2].block);
      }
      report_progress(context_, "ranges", done, symbols_);
    }
    if (context_.report == nullptr) return;
    context_.report->set("ranges", std::uint64_t{ranges_.size()});
    context_.report->set("range_seconds", seconds);
    context_.report->set("unresolved_after_first_sort", figures_.unresolved_after_first_sort);
    context_.report->set("compared", figures_.compared);
  }

 private:
  /// Page-locked memory for rows.
  struct HostBlock {
    HostBlock(std::uint64_t rows, const RowRequest& request)
        : letters(rows), samples(rows / request.sample_step + 1) {}
    PinnedBuffer<std::uint8_t> letters;
    PinnedBuffer<std::uint64_t> samples;
    RowBlock block;
  };

  /// Starts the copy of rows [first, end) of a range that begins with row `begin`.
  void copy(const RangeRows& rows, std::uint64_t begin, std::uint64_t first, std::uint64_t end,
            HostBlock& to) {
    const std::uint64_t sample = request_.samples_below(first);
    const auto letters = to.letters.span().first(end - first);
    const auto samples = to.samples.span().first(request_.samples_below(end) - sample);
    const auto start = [&](auto array, const auto* from) {
      if (!array.empty())
        check_cuda(cudaMemcpyAsync(array.data(), from, array.size_bytes(), cudaMemcpyDeviceToHost,
                                   copies_.get()));
    };
    start(letters, rows.letters.data() + (first - begin));
    start(samples, rows.samples.data() + (sample - request_.samples_below(begin)));
    to.block = {first, letters, samples, rows.marks};
  }

  /// Sorts range i on a thread of its own. The host waits for the device in it.
  void sort(std::size_t i) {
    sorting_.emplace([this, i] {
      const CurrentDevice current(context_.device);
      const auto start = std::chrono::steady_clock::now();
      const std::uint64_t first = next_row_;
      next_row_ += ranges_[i].members;
      sorted_ = derive(request_, text_->packed.stream, symbols_, letters_.data(),
                       sort_range(text_->order(), symbols_, ranges_[i], figures_, context_.stream),
                       first, marks_, host_marks_, context_.stream);
      sorted_.seconds = seconds_since(start);
    });
  }

  DeviceContext context_;
  RowRequest request_;
  std::uint64_t symbols_;
  std::optional<OrderedText<Index>> text_;
  std::vector<SuffixRange> ranges_;
  DeviceBuffer<std::uint8_t> letters_;  ///< by code of the packed text
  DeviceBuffer<std::uint64_t> marks_;
  PinnedBuffer<std::uint64_t> host_marks_;
  CudaStream copies_ = make_stream();
  RangeFigures figures_;
  std::uint64_t next_row_ = 0;  ///< of the range that is sorted next
  RangeRows sorted_;
  std::optional<BackgroundTask> sorting_;  ///< last: its end waits for the thread
};

}  // namespace

template <Position Index>
void stream_rows(const Context& context, const TextView& text, const RowRequest& request,
                 const VisitRowBlock& visit, const RangePlan* plan) {
  const DeviceCall call(context);
  RowStream<Index>(call, text, request, plan).run(visit);
}

SORTIE_FOR_BOTH_POSITIONS(stream_rows);

}  // namespace sortie::suffix_array::cuda
