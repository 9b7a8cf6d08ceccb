// SPDX-License-Identifier: Apache-2.0
//
// Sorts over ranks of keys of each width, without values and with values of 4 or 8 bytes.
#include "apps/sort/ranks/bucket_sort.hpp"
#include "apps/sort/ranks/device_sort.hpp"
#include "apps/sort/ranks/share_sort.hpp"
#include "multisort/host/merge_runs.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"
#include "sortie/sort.hpp"

namespace sortie::sorting {
namespace {

constexpr std::uint64_t codec_range = std::uint64_t{1} << 16;  ///< keys that a task encodes

template <class Key, class Value>
class KeySteps {
 public:
  KeySteps(const Context& context, const cluster::detail::KeyShare& share)
      : context_(context), share_(share), codec_(kind_of(share.type), share.options.order) {}

  [[nodiscard]] ShareSteps steps() const {
    ShareSteps steps;
    steps.items = share_.items;
    steps.arrays.push_back(share_.key_array);
    if constexpr (has_values<Value>) steps.arrays.push_back(share_.value_array);
    steps.sort_copies = has_values<Value> || share_.options.algorithm == SortAlgorithm::merge;
    const KeySteps mine = *this;
    steps.sort = [mine] { mine.sort(); };
    steps.sorted = [mine] {
      const Key* const keys = mine.keys();
      return cluster::sorted_items(
          mine.share_.items, [keys](std::uint64_t i) { return keys[i]; }, std::less<Key>{});
    };
    steps.merge = [mine](std::span<const std::uint64_t> begins, std::span<std::byte* const> from,
                         std::span<void* const> to) { mine.merge(begins, from, to); };
    steps.restore = [mine](std::span<void* const> arrays, std::uint64_t n) {
      mine.restore(static_cast<Key*>(arrays[0]), n);
    };
    steps.restore_alone = [mine] {
      if (!mine.codec_.is_identity()) mine.codec_.decode(mine.keys(), mine.share_.items);
    };
    return steps;
  }

 private:
  using Range = Items<Key, Value>;

  [[nodiscard]] Key* keys() const { return static_cast<Key*>(share_.key_array.data); }

  template <class Pointer>
  [[nodiscard]] static Range range(std::span<Pointer* const> arrays) {
    Range items;
    items.keys = static_cast<Key*>(static_cast<void*>(arrays[0]));
    if constexpr (has_values<Value>)
      items.values = static_cast<Value*>(static_cast<void*>(arrays[1]));
    return items;
  }

  void sort() const {
    // Equal keys alone cannot be told apart.
    const SortOptions options = own_sort_options(context_, share_.options, has_values<Value>);
    multisort::sort(context_, {share_.key_array.data, share_.type, share_.items,
                               share_.value_array.data, share_.value_bytes, options});
    if (codec_.is_identity()) return;
    for_each_range(share_.items, codec_range, [&](std::uint64_t begin, std::uint64_t end) {
      codec_.encode(keys() + begin, end - begin);
    });
  }

  void merge(std::span<const std::uint64_t> begins, std::span<std::byte* const> from,
             std::span<void* const> to) const {
    const Range items = range(from);
    const Range out = range(to);
    std::vector<multisort::Run<Key, Value>> runs;
    for (std::size_t run = 0; run + 1 < begins.size(); ++run)
      runs.push_back({items.from(begins[run]), begins[run + 1] - begins[run]});
    cluster::merge_parts<Key, Value>(runs, out);
  }

  void restore(Key* keys, std::uint64_t n) const {
    if (codec_.is_identity()) return;
    for_each_range(n, codec_range, [&](std::uint64_t begin, std::uint64_t end) {
      codec_.decode(keys + begin, end - begin);
    });
  }

  const Context& context_;
  const cluster::detail::KeyShare& share_;
  KeyCodec<Key> codec_;
};

}  // namespace

ShareSteps key_steps(const Context& context, const cluster::detail::KeyShare& share) {
  return with_key_word(key_bytes(share.type), [&]<class Key>(Key) {
    switch (share.value_bytes) {
      case 0:
        return KeySteps<Key, NoValue>(context, share).steps();
      case 4:
        return KeySteps<Key, Opaque<std::uint32_t>>(context, share).steps();
      default:
        return KeySteps<Key, Opaque<std::uint64_t>>(context, share).steps();
    }
  });
}

void sort_keys(cluster::Ranks& ranks, const Context& context,
               const cluster::detail::KeyShare& share) {
  if (sort_by_buckets(ranks, context, share)) return;
#ifdef SORTIE_HAVE_CUDA
  if (sort_on_devices(ranks, context, share)) return;
#endif
  static_cast<void>(sort_share(ranks, context, key_steps(context, share)));
}

}  // namespace sortie::sorting
