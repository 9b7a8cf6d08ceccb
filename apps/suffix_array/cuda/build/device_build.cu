// SPDX-License-Identifier: Apache-2.0

// Prefix doubling on a GPU, from device memory to device memory: build_on_device.
//
// Steps:
//   1. Map the first symbols of every suffix to the number of a leaf in a tree over common letters
//      (prefix_code.hpp; 15 bases in 31 bits) and sort by these numbers. Texts of more than 2^28
//      symbols use 40 bits, 19 bases. Texts of many letters are sorted by 63 bits of codes instead
//      (context_code.hpp), and compared by these in the rounds. Of these texts, steps 1 to 4 sort
//      the suffixes of minimizers alone, and a last sort gives the order of all (minimizers.hpp).
//      Tokens of 2 or 4 bytes have codes too, by their frequencies (token_text.hpp).
//   2. Sort large groups that start with a run of one letter (gaps of N) or of a short period by
//      the length of the run (runs.cu); not where codes are compared. Suffixes that are still
//      equal are ordered by what follows the run, in step 4.
//   3. Rounds over the groups of equal suffixes, each a segment: the next 64 bits of the packed
//      text (symbol_stream.cuh; 21 bases) are the keys, or 32 bits if memory would be short.
//      Suffixes that are alone in their group drop out. Rounds end when one leaves more than half
//      of its suffixes, or after four.
//   4. Long repeats remain. Each suffix takes the rank of a sample a few symbols ahead, chosen by
//      the symbols in between (samples.cu). Samples, 4 to 11 % of these suffixes for DNA, are
//      sorted by prefix doubling with steps from sample to sample (samples.hpp).
//
// Memory for n symbols of b bits, of which the first sort leaves m in groups (lists are allocated
// for n, before m is known):
//
//   | name                        | elements  | type         | lifetime                        |
//   |-----------------------------|-----------|--------------|---------------------------------|
//   | keys, their alternate       | n each    | 4 (8) bytes  | sort; one of them until groups  |
//   | codes (coded_text.hpp)      | n         | 2.1 bytes,   | whole call; keys have 8 bytes   |
//   |                             |           | and the code | then                            |
//   | suffix array                | n         | Index        | whole call (positions first)    |
//   | its alternate               | n         | Index        | sort                            |
//   | packed text, rare letters   | b n, n    | bits         | groups, rounds                  |
//   | items, slots of the list    | n each    | Index        | groups, first round; then fewer |
//   | heads                       | n         | uint8_t      | as the list                     |
//   | offsets                     | n / 2     | Index        | as the list                     |
//   | keys, their alternate       | m each    | 8 or 4 bytes | rounds                          |
//   | items' alternate            | m         | Index        | rounds                          |
//   | large groups as one array   | l <= m    | 24 or 32 b.  | a sort, if memory is not short  |
//   | runs; samples               |           |              | suffix_groups.hpp; samples.hpp  |
//   | minimizers: set, distances  | n         | 1.25 bytes   | whole call, with codes          |
//
// With minimizers, all but the codes, the packed text and the arrays of the last sort (as those of
// the first one) have an entry for each minimizer. With 32-bit positions that is 16 bytes a symbol
// in the first sort (24 beyond 2^28 symbols, 28 with codes), 20 in groups, and 13.5 + 21 m / n in
// the first round, whose keys have 32 bits where 64 would exceed most_bytes_a_symbol (sizes.hpp).
// No text exceeds that: on an H200, the texts of the tests took 19.3 to 31.5 bytes, and 3.1 * 10^9
// bases, 44 times a chromosome with mutations, 30.7. The text itself is one byte more.
//
// Sources: Hou, Liu, Wang, Feng: Fast Segmented Sort on GPUs (ICS 2017), section 5.1; Manber, Myers
// (SIAM J. Comput. 1993); Larsson, Sadakane (Theoretical Computer Science 387, 2007). Samples
// chosen by their context: Roberts et al. (Bioinformatics 2004); that they suffice for sorting:
// Kempa, Kociumaka: String Synchronizing Sets (STOC 2019).
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "apps/suffix_array/cuda/build/suffix_groups.hpp"
#include "apps/suffix_array/cuda/host_copies.hpp"
#include "apps/suffix_array/cuda/samples/minimizers.hpp"
#include "apps/suffix_array/cuda/samples/samples.hpp"
#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "apps/suffix_array/cuda/text/token_text.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/cuda/device_radix_sort.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Longest text whose first sort uses 32-bit keys, 15 DNA symbols. They would leave most suffixes
/// of longer texts in groups (n / 4^15 in a random text of n bases), so a fifth pass of the radix
/// sort over keys of 40 bits, for 19 symbols, costs less than a round.
constexpr std::uint64_t longest_with_short_keys = std::uint64_t{1} << 28;

/// Fewest letters of a text that is sorted by codes. DNA and other small alphabets have shorter
/// keys, which hold as many symbols.
constexpr int least_letters_of_codes = 32;
/// Most pairs of equal letters in such a text: only the other way sorts runs by their lengths.
constexpr double most_runs_of_codes = 0.3;
/// Bits of the keys of codes.
constexpr int coded_key_bits = 64;

/// Texts of at most so many distinct tokens are sorted as texts of bytes.
constexpr std::uint64_t most_byte_tokens = 256;

/// The last round that compares text is the first that leaves more than this share of its suffixes,
/// in percent; samples resolve the rest.
constexpr std::uint64_t percent_of_progress = 50;
/// Most rounds that compare text before samples take over.
constexpr std::uint64_t most_text_rounds = 4;

/// Multiplies all positions by the bytes of a symbol.
template <class Index>
void scale(DeviceBuffer<Index>& positions, unsigned by, cudaStream_t stream) {
  const auto multiply = [positions = positions.data(), by] __device__(Index i) {
    positions[i] *= by;
  };
  for_each_item<Index>(positions.size(), multiply, stream);
}

/// One construction. The steps run in the order of their declaration. The context and the text must
/// outlive the object.
template <class Index>
class Construction {
 public:
  Construction(const DeviceContext& context, const DeviceText& text)
      : context_(context), text_(text), size_(text.symbols.size()) {}
  /// For the suffixes of tokens. Positions are numbers of tokens, but those of the result bytes.
  Construction(const DeviceContext& context, std::uint64_t tokens, unsigned token_bytes)
      : context_(context), text_{}, size_(tokens), symbol_bytes_(token_bytes) {}

  void sort_by_first_symbols() {
    WaitingPhase packing(context_, "pack");
    marked_ = mark_separators(text_, context_.stream);
    const TextReader text = marked_;
    const bool is_short = size_ <= longest_with_short_keys;
    const PrefixCode letters = plan_first_sort(text, is_short ? 32 : 40, context_.stream);
    const int number_bits = std::bit_width(text_.separators.size());
    if (letters.sigma >= least_letters_of_codes && number_bits <= most_number_bits) {
      const ContextCode code = plan_context_code(text, letters, context_.stream);
      if (bytes_of_coded_sort(code, letters) <= aim() && code.share_of_runs <= most_runs_of_codes) {
        return sort_by_codes(text, letters, code, packing);
      }
    }
    is_short ? sort_by_prefixes<std::uint32_t>(text, letters, packing)
             : sort_by_prefixes<std::uint64_t>(text, letters, packing);
  }

  void sort_by_first_tokens(RankedTokens tokens) {
    WaitingPhase packing(context_, "pack");
    marked_ = {{nullptr, nullptr, size_}, {}};
    coded_ = code_tokens(tokens, context_.stream);
    packed_ = hash_tokens(tokens, context_.stream);
    tokens = {};
    require(budget_, "the suffix array of tokens",
            bytes_held() + size_ * 2 * (sizeof(std::uint64_t) + sizeof(Index)));
    sort_coded(marked_, packing);
  }

  /// \return the suffix array
  DeviceBuffer<Index> resolve_groups() {
    WaitingPhase phase(context_, "rounds");
    std::uint64_t text_rounds = 0;
    bool progress = true;
    while (list_.members != 0 && progress && text_rounds < most_text_rounds) {
      const std::uint64_t before = list_.members;
      // If 64-bit keys would take too much memory, 32-bit keys compare half as many symbols.
      const bool wide = bytes_of_text_round(sizeof(std::uint64_t)) <= aim();
      const std::uint64_t bytes =
          bytes_of_text_round(wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
      require(budget_, "the rounds of prefix doubling", bytes);
      const std::uint64_t spare = aim() > bytes ? aim() - bytes : 0;
      if (coded_.words.size() != 0) {
        const auto compare =
            wide ? compare_codes<std::uint64_t, Index> : compare_codes<std::uint32_t, Index>;
        compare(coded_.view(), depth_, list_, suffix_array_, spare, context_.stream);
      } else {
        const auto compare =
            wide ? compare_windows<std::uint64_t, Index> : compare_windows<std::uint32_t, Index>;
        compare(packed_.stream, depth_, list_, suffix_array_, spare, context_.stream);
      }
      progress = list_.members * 100 <= before * percent_of_progress;
      ++text_rounds;
      report_progress();
    }
    std::uint64_t sample_rounds = 0;
    if (list_.members + runs_.groups.members != 0) {
      const std::uint64_t held = bytes_held();
      sample_rounds = finish_by_samples(
          packed_.stream, std::move(runs_), std::move(list_), depth_, suffix_array_, budget_, held,
          coded_, {size_, minimizers_.choice, minimizers_.set.set()}, context_.stream);
      list_ = {};
      runs_ = {};
      report_progress();
    }
    phase.stop();
    if (minimizers_.count != 0) {
      sort_all();
    } else if (symbol_bytes_ != 1) {
      scale(suffix_array_, symbol_bytes_, context_.stream);
    }
    if (context_.report != nullptr) {
      context_.report->set("rounds", text_rounds + sample_rounds);
      context_.report->set("sample_rounds", sample_rounds);
    }
    return std::move(suffix_array_);
  }

 private:
  /// \tparam Key  type of the keys
  template <class Key>
  void sort_by_prefixes(const TextReader& text, const PrefixCode& code, WaitingPhase& packing) {
    const cudaStream_t stream = context_.stream;
    DeviceBuffer<Key> keys(size_, stream);
    suffix_array_ = {size_, stream};
    write_first_keys(text, code, keys.data(), suffix_array_.data(), stream);
    packing.stop();
    sort(keys, code.key_bits);
    WaitingPhase grouping(context_, "groups", size_ * (sizeof(Key) + sizeof(Index)));
    packed_ = pack_text(text, code, stream);
    runs_ = sort_long_runs(packed_.stream, keys, suffix_array_, budget_,
                           bytes_held() + keys.bytes(), stream);
    group(keys);
  }

  void sort_by_codes(const TextReader& text, const PrefixCode& letters, const ContextCode& code,
                     WaitingPhase& packing) {
    const cudaStream_t stream = context_.stream;
    coded_ = code_text(text, text_.separators.size(), letters, code, stream);
    packed_ = pack_text(text, letters, stream);
    sort_coded(text, packing);
  }

  /// Sorts by the codes of a text that is coded and packed.
  void sort_coded(const TextReader& text, WaitingPhase& packing) {
    const cudaStream_t stream = context_.stream;
    packing.stop();
    WaitingPhase choosing(context_, "minimizers");
    minimizers_ =
        choose_minimizers<Index>(text, packed_.stream, coded_, aim(), bytes_held(), stream);
    const std::uint64_t count = minimizers_.count != 0 ? minimizers_.count : size_;
    DeviceBuffer<std::uint64_t> keys(count, stream);
    suffix_array_ = {count, stream};
    if (minimizers_.count != 0) {
      write_minimizer_keys(text, coded_, minimizers_, coded_key_bits, keys.data(),
                           suffix_array_.data(), stream);
    } else {
      write_coded_keys(text, coded_, coded_key_bits, keys.data(), suffix_array_.data(), stream);
    }
    choosing.stop();
    sort(keys, coded_key_bits);
    WaitingPhase grouping(context_, "groups", count * (sizeof(std::uint64_t) + sizeof(Index)));
    group(keys);
    depth_ = coded_key_bits - 1;
  }

  /// From the order of the minimizers that of all suffixes.
  void sort_all() {
    packed_ = {};
    const WaitingPhase phase(context_, "sort all",
                             17 * size_ * (sizeof(std::uint64_t) + sizeof(Index)));
    suffix_array_ = sort_by_minimizers(TextReader(marked_), coded_, minimizers_,
                                       std::move(suffix_array_), symbol_bytes_, context_.stream);
  }

  template <class Key>
  void sort(DeviceBuffer<Key>& keys, int bits) {
    const std::uint64_t passes = (static_cast<std::uint64_t>(bits) + 7) / 8;
    const WaitingPhase phase(context_, "sort",
                             2 * passes * keys.size() * (sizeof(Key) + sizeof(Index)));
    sort_by_key(keys, suffix_array_, bits, context_.stream);
  }

  template <class Key>
  void group(const DeviceBuffer<Key>& keys) {
    list_ = first_groups(keys, suffix_array_, keys.size() - runs_.groups.members, context_.stream);
    if (context_.report != nullptr) {
      context_.report->set("unresolved_after_first_sort", list_.members + runs_.groups.members);
    }
    report_progress();
  }

  /// Bytes that a construction should not exceed.
  [[nodiscard]] std::uint64_t aim() const {
    return std::min(budget_, size_ * most_bytes_a_symbol<Index>);
  }

  /// Bytes of the first sort by codes, which the lists of groups do not exceed.
  [[nodiscard]] std::uint64_t bytes_of_coded_sort(const ContextCode& code,
                                                  const PrefixCode& letters) const {
    const auto sixteenths = static_cast<std::uint64_t>(2 * code.bits_a_letter) + 4 +
                            2 * static_cast<std::uint64_t>(symbol_bits(letters) + 1);
    return size_ * 2 * (sizeof(std::uint64_t) + sizeof(Index)) + 2 * size_ +
           size_ / 16 * sixteenths;
  }

  /// Bytes that a round takes in total, including what is held.
  /// \param key  bytes of a key
  [[nodiscard]] std::uint64_t bytes_of_text_round(std::uint64_t key) const {
    // Scratch of the segmented sort: less than a byte an item, plus a constant.
    constexpr std::uint64_t constant_scratch = 1 << 20;
    const std::uint64_t sort_entry = 2 * key + sizeof(Index) + 1;
    const std::uint64_t refine_entry = key + SuffixGroups<Index>::bytes_a_member;
    return bytes_held() + list_.items.bytes() + list_.slots.bytes() + list_.heads.bytes() +
           list_.large_begins.bytes() + list_.large_ends.bytes() +
           list_.members * std::max(sort_entry, refine_entry) + constant_scratch;
  }

  void report_progress() const {
    if (context_.progress) {
      context_.progress("rounds", size_ - list_.members - runs_.groups.members, size_);
    }
  }

  /// Bytes held apart from the lists of suffixes.
  [[nodiscard]] std::uint64_t bytes_held() const {
    return suffix_array_.bytes() + packed_.words.bytes() + packed_.rare.bytes() +
           packed_.rare_blocks.bytes() + coded_.bytes() + minimizers_.bytes() +
           runs_.groups.members * (SuffixGroups<Index>::bytes_a_member + sizeof(Index));
  }

  const DeviceContext& context_;
  const DeviceText text_;
  const std::uint64_t size_;
  const unsigned symbol_bytes_ = 1;  ///< unit of the positions of the result
  const std::uint64_t budget_ = device_memory_budget(context_);
  PackedText packed_;
  MarkedText marked_{};
  CodedTextBuffer coded_;
  Minimizers<Index> minimizers_;
  DeviceBuffer<Index> suffix_array_;  ///< of the minimizers, if these are used, until sort_all()
  LongRuns<Index> runs_;
  SuffixGroups<Index> list_;
  /// Symbols compared since the first sort, or bits of codes compared in all.
  std::uint64_t depth_ = 0;
};

}  // namespace

template <Position Index>
std::uint64_t bytes_before_rounds(std::uint64_t symbols) {
  const std::uint64_t key =
      symbols <= longest_with_short_keys ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
  RadixBuffers none;
  std::size_t scratch = 0;
  check_cuda(device_radix_sort(nullptr, scratch, none, symbols, key, sizeof(Index), 0,
                               static_cast<int>(8 * key), nullptr));
  const std::uint64_t sort = symbols * 2 * (key + sizeof(Index)) + scratch;
  // Packed text at 9 bits, with marks of rare letters and separators.
  const std::uint64_t text = symbols / 8 * 11;
  const std::uint64_t groups =
      symbols * (key + sizeof(Index) + SuffixGroups<Index>::bytes_a_member) + text +
      refine_scratch<Index>(symbols);
  return std::max(sort, groups);
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
  construction.sort_by_first_symbols();
  return construction.resolve_groups();
}

template <Position Index>
DeviceBuffer<Index> build_tokens_on_device(const Context& context,
                                           std::span<const std::uint8_t> bytes, int token_bytes,
                                           CUstream_st* stream) {
  const DeviceCall call(context, stream);
  if (bytes.size() > max_symbols<Index>) {
    throw Error(ErrorKind::usage, "suffix array: found " + std::to_string(bytes.size()) +
                                      " bytes of tokens, expected at most " +
                                      std::to_string(max_symbols<Index>) + " for " +
                                      std::to_string(8 * sizeof(Index)) + "-bit positions");
  }
  if (bytes.empty()) return {};
  const auto width = static_cast<unsigned>(token_bytes);
  const std::uint64_t count = bytes.size() / width;
  // The ranks of tokens, and the arrays of the sort that finds them.
  require(call, "the ranks of tokens", count * (2 * sizeof(std::uint32_t) + 3 * sizeof(Index)));
  WaitingPhase ranking(call, "ranks");
  RankedTokens tokens = rank_tokens<Index>(bytes, token_bytes, stream);
  ranking.stop();
  if (tokens.distinct <= most_byte_tokens) {
    const DeviceBuffer<std::uint8_t> symbols = bytes_of_ranks(tokens, stream);
    tokens = {};
    DeviceBuffer<Index> suffixes = build_on_device<Index>(
        beside(context, symbols.bytes()), {{symbols.data(), symbols.size()}, {}}, stream);
    scale(suffixes, width, stream);
    return suffixes;
  }
  Construction<Index> construction(call, count, width);
  construction.sort_by_first_tokens(std::move(tokens));
  return construction.resolve_groups();
}

SORTIE_FOR_BOTH_POSITIONS(bytes_before_rounds);
SORTIE_FOR_BOTH_POSITIONS(build_tokens_on_device);
SORTIE_FOR_BOTH_POSITIONS(build_on_device);

}  // namespace sortie::suffix_array::cuda
