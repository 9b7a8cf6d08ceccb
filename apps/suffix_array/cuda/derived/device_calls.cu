// SPDX-License-Identifier: Apache-2.0

// Inverse, Burrows-Wheeler transform, document array, queries and check of a suffix array in device
// memory: gathers, scatters and binary searches of single items. The same from host memory to host
// memory, and the LCP array (device_lcp.cu): copies around the calls on device memory.
#include <limits>
#include <string>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/cuda/host_copies.hpp"
#include "apps/suffix_array/cuda/scan.cuh"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array::cuda {
namespace {

void require_no_fault(const DeviceBuffer<unsigned long long>& first_fault, std::uint64_t size) {
  unsigned long long fault = 0;
  first_fault.copy_to({&fault, 1});
  check_cuda(cudaStreamSynchronize(first_fault.stream()));
  if (fault >= size) return;
  throw Error(ErrorKind::check, "suffix array, entry " + std::to_string(fault) +
                                    ": found a position that is outside the text, occurs twice, "
                                    "or whose suffix is less than the previous one");
}

/// The index in `positions` of the first hit of each pattern, and after them the total.
DeviceBuffer<std::uint64_t> begins_of_hits(const DeviceBuffer<EntryRange>& ranges,
                                           std::uint64_t most_hits, cudaStream_t stream) {
  const std::uint64_t items = ranges.size() + 1;
  if (items > std::uint64_t{std::numeric_limits<std::int32_t>::max()}) {
    throw Error(ErrorKind::usage, "suffix array query: found " + std::to_string(ranges.size()) +
                                      " patterns, expected at most 2147483646 at once on a GPU");
  }
  DeviceBuffer<std::uint64_t> begins(items, stream);
  const auto count_hits = [ranges = ranges.data(), most_hits,
                           begins = begins.data()] __device__(std::uint64_t i) {
    const std::uint64_t count = i == 0 ? 0 : ranges[i - 1].end - ranges[i - 1].begin;
    begins[i] = count < most_hits ? count : most_hits;
  };
  for_each_item<std::uint64_t>(items, count_hits, stream);
  inclusive_sum(begins.data(), items, stream);
  return begins;
}

}  // namespace

template <Position Index>
DeviceBuffer<Index> inverse_on_device(const Context& context, std::span<const Index> suffixes,
                                      CUstream_st* stream) {
  const DeviceCall call(context, stream);
  if (suffixes.empty()) return {};
  require(call, "the inverse suffix array", suffixes.size_bytes());
  WaitingPhase phase(call, "inverse", 2 * suffixes.size_bytes());
  DeviceBuffer<Index> ranks(suffixes.size(), stream);
  const auto write_rank = [suffixes = suffixes.data(), ranks = ranks.data()] __device__(Index i) {
    ranks[suffixes[i]] = i;
  };
  for_each_item<Index>(suffixes.size(), write_rank, stream);
  phase.stop();
  return ranks;
}

template <Position Index>
DeviceBuffer<std::uint8_t> burrows_wheeler_on_device(const Context& context, const DeviceText& text,
                                                     std::span<const Index> suffixes,
                                                     CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  if (size == 0) return {};
  require(call, "the Burrows-Wheeler transform", size);
  WaitingPhase phase(call, "bwt", size * (2 + sizeof(Index)));
  DeviceBuffer<std::uint8_t> transform(size, stream);
  // Thread j owns `gathered` entries from gathered * j on: it has that many random reads in flight at
  // a time and writes one word, a warp 128 consecutive bytes.
  constexpr int gathered = 4;
  const auto gather = [symbols = text.symbols.data(), size, suffixes = suffixes.data(),
                       transform = transform.data()] __device__(std::uint64_t j) {
    const auto symbol_before = [&](std::uint64_t i) {
      const std::uint64_t position = suffixes[i];
      return symbols[(position == 0 ? size : position) - 1];
    };
    const std::uint64_t first = gathered * j;
    if (first + gathered <= size) {
      *reinterpret_cast<uchar4*>(transform + first) =
          uchar4{symbol_before(first), symbol_before(first + 1), symbol_before(first + 2),
                 symbol_before(first + 3)};
      return;
    }
    for (std::uint64_t i = first; i < size; ++i) transform[i] = symbol_before(i);
  };
  for_each_item<std::uint64_t>((size + gathered - 1) / gathered, gather, stream);
  phase.stop();
  return transform;
}

template <Position Index>
DeviceBuffer<std::uint32_t> documents_on_device(const Context& context,
                                                std::span<const Index> suffixes,
                                                std::span<const std::uint64_t> record_begins,
                                                CUstream_st* stream) {
  const DeviceCall call(context, stream);
  if (suffixes.empty()) return {};
  const std::uint64_t wanted = suffixes.size() * sizeof(std::uint32_t);
  require(call, "the document array", wanted);
  WaitingPhase phase(call, "documents", suffixes.size_bytes() + wanted);
  DeviceBuffer<std::uint32_t> documents(suffixes.size(), stream);
  // The first steps of all searches read the same begins, which stay in L1.
  const auto find_record = [suffixes = suffixes.data(), begins = record_begins.data(),
                            records = record_begins.size(),
                            documents = documents.data()] __device__(std::uint64_t i) {
    documents[i] = record_at(begins, records, suffixes[i]);
  };
  for_each_item<std::uint64_t>(suffixes.size(), find_record, stream);
  phase.stop();
  return documents;
}

// The inverse, then every entry against the previous one: Burkhardt, Karkkainen (CPM 2003),
// section 8.
template <Position Index>
void check_on_device(const Context& context, const DeviceText& text,
                     std::span<const Index> suffixes, CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  if (suffixes.size() != size) {
    throw Error(ErrorKind::check, "suffix array: found " + std::to_string(suffixes.size()) +
                                      " entries, expected " + std::to_string(size));
  }
  if (size == 0) return;
  require(call, "the check of a suffix array", size * sizeof(Index) + size / 8);

  const MarkedText marked = mark_separators(text, stream);
  DeviceBuffer<Index> slots(size, stream);
  DeviceBuffer<unsigned long long> first_fault(1, stream);  // the lowest wrong entry
  check_cuda(cudaMemsetAsync(first_fault.data(), 0xff, first_fault.bytes(), stream));
  const auto invert = [suffixes = suffixes.data(), size, slots = slots.data(),
                       fault = first_fault.data()] __device__(Index slot) {
    const Index position = suffixes[slot];
    if (position < size) {
      slots[position] = slot;
    } else {
      atomicMin(fault, static_cast<unsigned long long>(slot));
    }
  };
  for_each_item<Index>(size, invert, stream);
  require_no_fault(first_fault, size);
  // Compares each entry with the previous one: all positions are in the text now.
  // The slots of positions that do not occur stay uninitialised. The check fails whatever they
  // contain, because another position then occurs twice.
  const auto compare_neighbours = [text = static_cast<const TextReader&>(marked),
                                   separators = text.separators.size(), suffixes = suffixes.data(),
                                   slots = slots.data(),
                                   fault = first_fault.data()] __device__(Index slot) {
    // The first symbol as a number: ends of records sort before letters.
    const auto first_symbol = [&](std::uint64_t position) {
      return text.is_letter(position) ? 1 + text.symbols[position] : 0;
    };
    // The rank of the bare end of the text lies after all separators, which hold the first slots.
    const auto rank = [&](std::uint64_t position) {
      return position == text.size ? 2 * separators : 2 * std::uint64_t{slots[position]} + 1;
    };
    const auto in_order = [&](std::uint64_t left, std::uint64_t right) {
      const int left_symbol = first_symbol(left);
      const int right_symbol = first_symbol(right);
      if (left_symbol != right_symbol) return left_symbol < right_symbol;
      return left_symbol == 0 ? left < right : rank(left + 1) < rank(right + 1);
    };
    const Index position = suffixes[slot];
    // If a position occurs twice, its inverse is only one of its slots.
    const bool once = slots[position] == slot;
    if (!once || (slot > 0 && !in_order(suffixes[slot - 1], position))) {
      atomicMin(fault, static_cast<unsigned long long>(slot));
    }
  };
  for_each_item<Index>(size, compare_neighbours, stream);
  require_no_fault(first_fault, size);
}

template <Position Index>
DeviceBuffer<EntryRange> find_on_device(const Context& context, const DeviceText& text,
                                        std::span<const Index> suffixes,
                                        const PatternView& patterns, CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  require(call, "the suffix array query", patterns.size() * sizeof(EntryRange) + size / 8);
  WaitingPhase phase(call, "query", patterns.letters.size());
  const MarkedText marked = mark_separators(text, stream);
  DeviceBuffer<EntryRange> ranges(patterns.size(), stream);
  const PatternSearch<Index> search(text.symbols.data(), suffixes.data(),
                                    RecordEnds{marked.separator_bits, size});
  // The reads are at random addresses, so the number of resident threads decides the speed: the
  // search uses few registers.
  const auto find_pattern = [search, letters = patterns.letters.data(),
                             begins = patterns.begins.data(),
                             ranges = ranges.data()] __device__(std::uint64_t i) {
    ranges[i] = search(letters + begins[i], begins[i + 1] - begins[i]);
  };
  for_each_item<std::uint64_t>(patterns.size(), find_pattern, stream);
  phase.stop();
  return ranges;
}

template <Position Index>
DeviceOccurrences<Index> locate_on_device(const Context& context, const DeviceText& text,
                                          std::span<const Index> suffixes,
                                          const PatternView& patterns, std::uint64_t most_hits,
                                          CUstream_st* stream) {
  const DeviceCall call(context, stream);
  DeviceOccurrences<Index> found;
  found.ranges = find_on_device(context, text, suffixes, patterns, stream);
  WaitingPhase phase(call, "locate");
  found.begins = begins_of_hits(found.ranges, most_hits, stream);
  std::uint64_t total = 0;
  check_cuda(cudaMemcpyAsync(&total, found.begins.data() + patterns.size(), sizeof(total),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  require(call, "the positions that a suffix array query found",
          found.ranges.bytes() + found.begins.bytes() + total * sizeof(Index));
  phase.set_bytes(2 * total * sizeof(Index));
  found.positions = {total, stream};
  // The threads of a warp mostly have the same few patterns, so their binary searches read
  // neighbouring words, which the caches hold.
  const auto gather = [suffixes = suffixes.data(), ranges = found.ranges.data(),
                       begins = found.begins.data(), patterns = patterns.size(),
                       positions = found.positions.data()] __device__(std::uint64_t j) {
    const std::uint32_t pattern = record_at(begins, patterns, j);
    positions[j] = suffixes[ranges[pattern].begin + (j - begins[pattern])];
  };
  for_each_item<std::uint64_t>(total, gather, stream);
  phase.stop();
  return found;
}

// From host memory to host memory.
template <Position Pos>
std::vector<Pos> build_tokens(const Context& context, std::span<const std::uint8_t> bytes,
                              int token_bytes) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the suffix array of tokens", {bytes, {}}, {});
  return to_host(call,
                 build_tokens_on_device<Pos>(beside(context, inputs.bytes()), inputs.text().symbols,
                                             token_bytes, call.stream));
}

template <Position Pos>
std::vector<Pos> invert(const Context& context, std::span<const Pos> suffixes) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the inverse suffix array", {}, suffixes);
  return to_host(
      call, inverse_on_device<Pos>(beside(context, inputs.bytes()), inputs.array(), call.stream));
}

template <Position Pos>
std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                           std::span<const Pos> suffixes) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the LCP array", text, suffixes);
  return to_host(call, lcp_on_device<Pos>(beside(context, inputs.bytes()), inputs.text(),
                                          inputs.array(), call.stream));
}

template <Position Pos>
std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context, const TextView& text,
                                                    std::span<const Pos> suffixes) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the Burrows-Wheeler transform", text, suffixes);
  return to_host(call, burrows_wheeler_on_device<Pos>(beside(context, inputs.bytes()),
                                                      inputs.text(), inputs.array(), call.stream));
}

template <Position Pos>
std::vector<std::uint32_t> document_array(const Context& context, std::span<const Pos> suffixes,
                                          std::span<const std::uint64_t> record_begins) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the document array", {}, suffixes);
  const DeviceBuffer<std::uint64_t> begins(record_begins, call.stream);
  return to_host(
      call, documents_on_device<Pos>(beside(context, inputs.bytes() + begins.bytes()),
                                     inputs.array(), {begins.data(), begins.size()}, call.stream));
}

template <Position Pos>
std::vector<EntryRange> find(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes, const PatternView& patterns) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the suffix array query", text, suffixes);
  const DeviceBuffer<std::uint8_t> letters(patterns.letters, call.stream);
  const DeviceBuffer<std::uint64_t> begins(patterns.begins, call.stream);
  const PatternView on_device{{letters.data(), letters.size()}, {begins.data(), begins.size()}};
  return to_host(
      call, find_on_device<Pos>(context, inputs.text(), inputs.array(), on_device, call.stream));
}

template <Position Pos>
Occurrences<Pos> locate(const Context& context, const TextView& text, std::span<const Pos> suffixes,
                        const PatternView& patterns, std::uint64_t most_hits) {
  const DeviceCall call(context);
  const Inputs<Pos> inputs(call, "the suffix array query", text, suffixes);
  const DeviceBuffer<std::uint8_t> letters(patterns.letters, call.stream);
  const DeviceBuffer<std::uint64_t> begins(patterns.begins, call.stream);
  const PatternView on_device{{letters.data(), letters.size()}, {begins.data(), begins.size()}};
  DeviceOccurrences<Pos> found;
  EventPair timer;
  const double seconds = timer.time(call.stream, [&] {
    found = locate_on_device<Pos>(context, inputs.text(), inputs.array(), on_device, most_hits,
                                  call.stream);
  });
  if (context.report != nullptr) context.report->set("device_search_seconds", seconds);
  return {to_host(call, found.ranges), to_host(call, found.begins), to_host(call, found.positions)};
}

SORTIE_FOR_BOTH_POSITIONS(inverse_on_device);
SORTIE_FOR_BOTH_POSITIONS(burrows_wheeler_on_device);
SORTIE_FOR_BOTH_POSITIONS(documents_on_device);
SORTIE_FOR_BOTH_POSITIONS(check_on_device);
SORTIE_FOR_BOTH_POSITIONS(find_on_device);
SORTIE_FOR_BOTH_POSITIONS(locate_on_device);
SORTIE_FOR_BOTH_POSITIONS(build_tokens);
SORTIE_FOR_BOTH_POSITIONS(invert);
SORTIE_FOR_BOTH_POSITIONS(lcp_array);
SORTIE_FOR_BOTH_POSITIONS(burrows_wheeler_transform);
SORTIE_FOR_BOTH_POSITIONS(document_array);
SORTIE_FOR_BOTH_POSITIONS(find);
SORTIE_FOR_BOTH_POSITIONS(locate);

}  // namespace sortie::suffix_array::cuda
