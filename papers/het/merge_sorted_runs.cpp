// SPDX-License-Identifier: Apache-2.0
#include "papers/het/het_sort.hpp"

#include <memory>

#include "multisort/backends.hpp"
#include "multisort/host/merge_runs.hpp"
#include "multisort/plan/multi_sequence.hpp"
#include "primitives/host/items.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/key_codec.hpp"
#include "primitives/payload.hpp"

namespace sortie::papers {

using namespace multisort;

namespace {

template <class Key, class Value>
std::function<void()> prepare(const Context& context, const Request& request,
                              const std::vector<std::uint64_t>& run_sizes) {
  const Items<Key, Value> items{static_cast<Key*>(request.keys),
                                has_values<Value> ? static_cast<Value*>(request.values) : nullptr};
  const std::uint64_t n = request.num_items;
  const KeyCodec<Key> codec(kind_of(request.key_type), request.options.order);
  Context on_host = context;
  on_host.memory_budget = 0;  // that is of the GPUs
  const std::size_t threads = start_devices(on_host, 0);
  const std::vector<std::uint64_t> shares = EqualShares{n, threads}.sizes();
  const std::vector<std::uint64_t> begins = begins_of(shares);
  if (run_sizes.size() == 1) {
    return [=] {
      for_each_task(threads,
                    [&](std::size_t t) { codec.decode(items.keys + begins[t], shares[t]); });
    };
  }
  const auto scratch =
      std::make_shared<ItemStorage<Key, Value>>(on_host, n, "the merge of sorted chunks");
  return [=] {
    const std::vector<std::uint64_t> run_begins = begins_of(run_sizes);
    const auto read = [&](std::size_t run, std::uint64_t position) {
      return items.keys[run_begins[run] + position];
    };
    const auto splits = plan::split_for_destinations(run_sizes, shares, read, std::less<Key>{});
    for_each_task(threads, [&](std::size_t t) {
      std::vector<Run<Key, Value>> runs;
      for (std::size_t run = 0; run < run_sizes.size(); ++run)
        runs.push_back(
            {items.from(run_begins[run] + splits[t][run]), splits[t + 1][run] - splits[t][run]});
      merge_runs(std::move(runs), scratch->items().from(begins[t]));
    });
    for_each_task(threads, [&](std::size_t t) {
      const Items<Key, Value> part = items.from(begins[t]);
      copy_items(scratch->items().from(begins[t]), shares[t], part);
      codec.decode(part.keys, shares[t]);
    });
  };
}

}  // namespace

std::function<void()> prepare_merge(const Context& context, const Request& request,
                                    const std::vector<std::uint64_t>& run_sizes) {
  std::function<void()> merge;
  with_key_word(key_bytes(request.key_type), [&]<class Word>(Word) {
    with_value_bytes(request.value_bytes, [&]<class Value>(Value) {
      if constexpr (has_values<Value>) {
        merge = prepare<Word, Opaque<Value>>(context, request, run_sizes);
      } else {
        merge = prepare<Word, NoValue>(context, request, run_sizes);
      }
    });
  });
  return merge;
}

}  // namespace sortie::papers
