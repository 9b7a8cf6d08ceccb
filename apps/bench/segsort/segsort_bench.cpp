// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/segsort_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>

#include "apps/bench/sort/host_copy.hpp"
#include "apps/bench/sort/sort_bench.hpp"
#include "baselines/segment_key_type.hpp"
#include "core/host_runtime.hpp"
#include "primitives/payload.hpp"
#include "sortie/error.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::bench {
namespace {

constexpr std::uint64_t default_items_on_host = std::uint64_t{1} << 22;

constexpr std::array all_algorithms = {SegsortAlgorithm::sortie, SegsortAlgorithm::std_sort};

using Bytes = std::vector<std::byte>;

// The input shared by all methods, and the arrays that a method sorts.
struct Workload {
  const Context& context;
  const SegmentCase& segments;
  const SegsortOptions& options;
  Bytes input_keys;
  Bytes input_values;
  Bytes keys;
  Bytes values;

  [[nodiscard]] Row row(std::string method) const {
    Row row;
    row.case_name = segments.name;
    row.method = std::move(method);
    row.backend = "host";
    row.items = segments.items();
    row.unit = options.value_bytes == 0 ? "Gkeys/s" : "Gpairs/s";
    return row;
  }

  void restore() {
    keys = input_keys;
    values = input_values;
  }

  [[nodiscard]] bool is_sorted() const {
    return is_sorted_result(segments, options.key, input_keys.data(), keys.data(), values.data(),
                            options.value_bytes);
  }
};

Method sortie_method(Workload& work) {
  Method method;
  method.row = work.row(std::string(name(SegsortAlgorithm::sortie)));
  method.prepare = [&work] { work.restore(); };
  method.run = [&work] {
    Context host = work.context;
    host.backend = Backend::host;
    const std::span<const std::uint64_t> offsets = work.segments.offsets;
    segsort::sort(host,
                  {work.keys.data(), work.options.key, work.segments.items(), work.values.data(),
                   work.options.value_bytes, segsort::erase(offsets.first(offsets.size() - 1)),
                   segsort::erase(offsets.subspan(1)), SegmentedSortOptions{}});
  };
  method.check = [&work] { return work.is_sorted(); };
  return method;
}

template <class Key, class Value>
struct Pair {
  Key key;
  [[no_unique_address]] Value value;
  friend bool operator<(const Pair& a, const Pair& b) { return a.key < b.key; }
};

// std::sort requires pairs of key and value; the conversion to pairs and back is not timed.
template <class Key, class Value>
Method std_sort_method(Workload& work) {
  using Item = Pair<Key, Value>;
  auto items = std::make_shared<std::vector<Item>>();
  Method method;
  method.row = work.row(std::string(name(SegsortAlgorithm::std_sort)));
  method.row.baseline = true;
  method.prepare = [&work, items] {
    items->resize(work.segments.items());
    for (std::size_t i = 0; i < items->size(); ++i) {
      std::memcpy(&(*items)[i].key, work.input_keys.data() + i * sizeof(Key), sizeof(Key));
      if constexpr (!std::is_same_v<Value, NoValue>) {
        std::memcpy(&(*items)[i].value, work.input_values.data() + i * sizeof(Value),
                    sizeof(Value));
      }
    }
  };
  method.run = [&work, items] {
    const std::vector<std::uint64_t>& offsets = work.segments.offsets;
    for (std::size_t segment = 0; segment + 1 < offsets.size(); ++segment) {
      std::sort(items->data() + offsets[segment], items->data() + offsets[segment + 1]);
    }
  };
  method.check = [&work, items] {
    work.restore();
    for (std::size_t i = 0; i < items->size(); ++i) {
      std::memcpy(work.keys.data() + i * sizeof(Key), &(*items)[i].key, sizeof(Key));
      if constexpr (!std::is_same_v<Value, NoValue>) {
        std::memcpy(work.values.data() + i * sizeof(Value), &(*items)[i].value, sizeof(Value));
      }
    }
    return work.is_sorted();
  };
  return method;
}

Method method_of(SegsortAlgorithm algorithm, Workload& work) {
  if (algorithm == SegsortAlgorithm::sortie) return sortie_method(work);
  return with_segment_key_type(work.options.key, [&]<class Key>(Key) {
    return with_value_bytes(work.options.value_bytes,
                            [&]<class Value>(Value) { return std_sort_method<Key, Value>(work); });
  });
}

// The requested algorithms without duplicates, in the given order; all if none is requested.
std::vector<SegsortAlgorithm> algorithms_of(const SegsortOptions& options) {
  std::vector<SegsortAlgorithm> chosen;
  for (const SegsortAlgorithm algorithm : options.algorithms) {
    if (std::find(chosen.begin(), chosen.end(), algorithm) == chosen.end())
      chosen.push_back(algorithm);
  }
  if (chosen.empty()) chosen.assign(all_algorithms.begin(), all_algorithms.end());
  return chosen;
}

}  // namespace

std::vector<Row> segsort_on_host(const Context& context, const SegmentCase& segments,
                                 const SegsortOptions& options) {
  start_host_runtime(context.threads);
  Workload work{context,
                segments,
                options,
                random_keys(options.key, segments.items(), options.seed),
                index_values(options.value_bytes, segments.items()),
                {},
                {}};
  std::vector<Method> methods;
  methods.push_back(copy_method(work));
  for (const SegsortAlgorithm algorithm : algorithms_of(options))
    methods.push_back(method_of(algorithm, work));
  return measure(std::move(methods), options.repetitions);
}

std::string method_name(SegsortPolicy policy) {
  return policy == SegsortPolicy::ics17 ? "sortie ics17" : "sortie";
}

std::string_view name(SegsortAlgorithm algorithm) {
  return algorithm == SegsortAlgorithm::std_sort ? "std::sort" : "sortie";
}

SegsortAlgorithm parse_segsort_algorithm(std::string_view text) {
  for (const SegsortAlgorithm algorithm : all_algorithms)
    if (text == name(algorithm)) return algorithm;
  throw Error(ErrorKind::usage,
              fmt::format("segsort algorithm: found {}, expected sortie or std::sort",
                          sortie::quoted(text)));
}

void require_algorithms(Backend backend, const std::vector<SegsortAlgorithm>& algorithms) {
  if (backend == Backend::host || algorithms.empty()) return;
  throw Error(ErrorKind::usage,
              fmt::format("segsort algorithm: found {} and the CUDA backend, which times all "
                          "methods, expected the host",
                          name(algorithms.front())));
}

void require_policies(Backend backend, const std::vector<SegsortPolicy>& policies) {
  const bool has_other =
      std::find(policies.begin(), policies.end(), SegsortPolicy::ics17) != policies.end();
  if (backend == Backend::cuda || !has_other) return;
  throw Error(ErrorKind::unavailable, "policy ics17: found the host backend, expected CUDA");
}

std::vector<Row> segsort(const Context& context, const SegsortOptions& options,
                         const RowSink& sink) {
  const Backend backend = resolve_backend(context);
  require_policies(backend, options.policies);
  require_algorithms(backend, options.algorithms);
  if (backend == Backend::host && !options.top_k.empty())
    throw Error(ErrorKind::unavailable, "top k: found the host backend, expected CUDA");
  SegsortOptions complete = options;
  if (complete.items == 0) {
    complete.items = backend == Backend::cuda ? default_items_on_cuda : default_items_on_host;
  }
  const auto names = options.cases.empty() ? segment_case_names() : options.cases;
  for (const std::string& name : names) static_cast<void>(parse_segment_case(name));
  for (const std::string& keys : complete.keys) {
    const bool is_plain = parse_sort_case(keys).kind == SortCase::Kind::uniform;
    if (!is_plain &&
        (backend == Backend::host || kind_of(complete.key) != KeyKind::unsigned_integer))
      throw Error(ErrorKind::usage,
                  fmt::format("keys: found {}, expected uniform, or unsigned keys on CUDA", keys));
  }
#ifdef SORTIE_HAVE_CUDA
  if (backend == Backend::cuda) return segsort_on_cuda(context, names, complete, sink);
#endif
  std::vector<Row> all;
  for (const std::string& name : names) {
    const SegmentCase segments = make_segment_case(name, complete.items, options.seed);
    std::vector<Row> rows = segsort_on_host(context, segments, complete);
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sortie::bench
