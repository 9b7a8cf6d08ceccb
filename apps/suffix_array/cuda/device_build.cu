#include "sortie/apps/suffix_array/cuda/device_build.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sortie/apps/suffix_array/cuda/device_phase.hpp"
#include "sortie/apps/suffix_array/cuda/first_sort.hpp"
#include "sortie/apps/suffix_array/cuda/for_each_item.cuh"
#include "sortie/apps/suffix_array/cuda/pack.hpp"
#include "sortie/apps/suffix_array/cuda/refine.hpp"
#include "sortie/apps/suffix_array/cuda/runs.hpp"
#include "sortie/apps/suffix_array/cuda/samples.hpp"
#include "sortie/apps/suffix_array/cuda/sizes.hpp"
#include "sortie/apps/suffix_array/cuda/suffix_groups.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Longest text whose first sort looks at 32 bits, 15 DNA symbols. Longer ones would leave most
/// suffixes in groups (a random text of n bases n / 4^15 of them), so that a fifth pass of the
/// radix sort over wider keys, for 19 symbols, costs less than a round.
constexpr std::uint64_t longest_with_short_keys = std::uint64_t{1} << 28;
constexpr int short_key_bits = 32;
constexpr int long_key_bits = 40;

/// A round that leaves more than this share of its suffixes, in percent, is the last that compares
/// text: long repeats are the samples' work.
constexpr std::uint64_t percent_of_progress = 50;
/// Rounds that compare text, at most, where samples can take over.
constexpr std::uint64_t most_text_rounds = 4;

// The key of member j: the symbols of the text from the first on that it has not been compared by.
//
// That symbol is at most one behind the end of the record: a suffix whose record ends before is in
// no group, because FirstSortItems and GroupItems make groups of their own of suffixes whose keys
// contain an end.
template <class Key, class Index>
struct WriteWindows {
  SymbolStream text;
  const Index* positions;
  std::uint64_t depth;  ///< symbols compared since the first sort
  Key* keys;

  __device__ void operator()(Index j) const {
    const std::uint64_t position = positions[j];
    keys[j] =
        text.window<Key>(position + depth + static_cast<std::uint64_t>(text.first_depth(position)));
  }
};

void require(std::uint64_t budget, std::string_view what, std::uint64_t bytes) {
  if (bytes > budget) throw out_of_memory_error(what, bytes, budget);
}

/// One construction. The steps run in the order of their declaration.
template <class Index>
class Construction {
 public:
  Construction(const Context& context, const DeviceText& text)
      : context_(context),
        text_(text),
        size_(text.symbols.size()),
        budget_(device_memory_budget(context)) {}

  /// \tparam Key  of the first sort
  template <class Key>
  void sort_by_first_symbols(int bits);
  void resolve_groups();

  [[nodiscard]] DeviceBuffer<Index> take_suffix_array() { return std::move(suffix_array_); }

 private:
  /// Bytes that a round takes in all, with what is held.
  template <class Key>
  [[nodiscard]] std::uint64_t bytes_of_text_round() const;
  template <class Key>
  void run_text_round();
  void report_progress() const;
  /// Bytes held by what is no list of suffixes.
  [[nodiscard]] std::uint64_t bytes_held() const;

  const Context& context_;
  const DeviceText& text_;
  std::uint64_t size_;
  std::uint64_t budget_;
  PackedText packed_;
  DeviceBuffer<Index> suffix_array_;
  LongRuns<Index> runs_;
  SuffixGroups<Index> list_;
  std::uint64_t text_depth_ = 0;  ///< symbols compared since the first sort
};

template <class Index>
template <class Key>
void Construction<Index>::sort_by_first_symbols(int bits) {
  const cudaStream_t stream = context_.stream;
  DevicePhase packing(context_, "pack", size_ * (2 + sizeof(Key) + sizeof(Index)));
  DeviceBuffer<Key> keys(size_, stream);
  suffix_array_ = {size_, stream};
  const DeviceBuffer<std::uint32_t> separator_bits = mark_separators(text_, stream);
  const PrefixCode code = plan_first_sort(text_, separator_bits.data(), bits, stream);
  write_first_keys(text_, separator_bits.data(), code, keys.data(), suffix_array_.data(), stream);
  packing.finish();

  const std::uint64_t passes = (static_cast<std::uint64_t>(code.key_bits) + 7) / 8;
  DevicePhase sorting(context_, "sort", 2 * passes * size_ * (sizeof(Key) + sizeof(Index)));
  {
    DeviceBuffer<Key> keys_alternate(size_, stream);
    DeviceBuffer<Index> positions_alternate(size_, stream);
    sort_by_key(keys, keys_alternate, suffix_array_, positions_alternate, code.key_bits, stream);
  }
  sorting.finish();

  DevicePhase grouping(context_, "groups", size_ * (sizeof(Key) + sizeof(Index)));
  packed_ = pack_text(text_, separator_bits.data(), code, stream);
  runs_ = sort_long_runs(code, packed_.stream, keys, suffix_array_, budget_,
                         bytes_held() + keys.bytes(), stream);
  list_ = first_groups(keys, suffix_array_, size_ - runs_.groups.members, stream);
  grouping.finish();
  if (context_.report != nullptr) {
    context_.report->set("unresolved_after_first_sort", list_.members + runs_.groups.members);
  }
  report_progress();
}

template <class Index>
void Construction<Index>::resolve_groups() {
  DevicePhase phase(context_, "rounds");
  std::uint64_t text_rounds = 0;
  bool progress = true;
  while (list_.members != 0) {
    if (!progress || text_rounds == most_text_rounds) break;
    const std::uint64_t before = list_.members;
    // Where 64-bit keys would take too much, 32-bit ones see half as many symbols.
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
  phase.finish();
  if (context_.report != nullptr) {
    context_.report->set("rounds", text_rounds + sample_rounds);
    context_.report->set("sample_rounds", sample_rounds);
  }
}

template <class Index>
template <class Key>
std::uint64_t Construction<Index>::bytes_of_text_round() const {
  // Scratch of the segmented sort: less than a byte an item, and a constant.
  constexpr std::uint64_t constant_scratch = 1 << 20;
  const std::uint64_t sort_entry = 2 * sizeof(Key) + sizeof(Index) + 1;
  const std::uint64_t refine_entry = sizeof(Key) + SuffixGroups<Index>::bytes_a_member;
  return bytes_held() + list_.items.bytes() + list_.slots.bytes() + list_.heads.bytes() +
         list_.large_begins.bytes() + list_.large_ends.bytes() +
         list_.members * std::max(sort_entry, refine_entry) + constant_scratch;
}

template <class Index>
template <class Key>
void Construction<Index>::run_text_round() {
  require(budget_, "the rounds of prefix doubling", bytes_of_text_round<Key>());
  list_.offsets.reset();  // large groups are listed
  const std::uint64_t members = list_.members;
  const SymbolStream& text = packed_.stream;
  DeviceBuffer<Key> keys(members, context_.stream);
  for_each_item<Index>(members,
                       WriteWindows<Key, Index>{text, list_.items.data(), text_depth_, keys.data()},
                       context_.stream);
  sort_groups(list_, keys, context_.stream);
  refine_suffixes(list_, keys, static_cast<Key>(text.last_symbol_mask()), suffix_array_,
                  context_.stream);
  text_depth_ += static_cast<std::uint64_t>(text.window_symbols(8 * sizeof(Key)));
}

template <class Index>
std::uint64_t Construction<Index>::bytes_held() const {
  return suffix_array_.bytes() + packed_.words.bytes() + packed_.rare.bytes() +
         packed_.rare_blocks.bytes() +
         runs_.groups.members * (SuffixGroups<Index>::bytes_a_member + sizeof(Index));
}

template <class Index>
void Construction<Index>::report_progress() const {
  if (context_.progress) {
    context_.progress("rounds", size_ - list_.members - runs_.groups.members, size_);
  }
}

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
DeviceBuffer<Index> build_on_device(const Context& context, const DeviceText& text) {
  const std::uint64_t size = text.symbols.size();
  if (size > max_symbols<Index>) {
    throw Error(ErrorKind::usage, "suffix array: found a text of " + std::to_string(size) +
                                      " symbols, expected at most " +
                                      std::to_string(max_symbols<Index>) + " for " +
                                      std::to_string(8 * sizeof(Index)) + "-bit positions");
  }
  if (size == 0) return {};
  require(device_memory_budget(context), "the first sort of prefix doubling",
          bytes_before_rounds<Index>(size));

  Construction<Index> construction(context, text);
  if (size <= longest_with_short_keys) {
    construction.template sort_by_first_symbols<std::uint32_t>(short_key_bits);
  } else {
    construction.template sort_by_first_symbols<std::uint64_t>(long_key_bits);
  }
  construction.resolve_groups();
  return construction.take_suffix_array();
}

template std::uint64_t bytes_before_rounds<std::uint32_t>(std::uint64_t);
template std::uint64_t bytes_before_rounds<std::uint64_t>(std::uint64_t);
template DeviceBuffer<std::uint32_t> build_on_device(const Context&, const DeviceText&);
template DeviceBuffer<std::uint64_t> build_on_device(const Context&, const DeviceText&);

}  // namespace sortie::suffix_array::cuda
