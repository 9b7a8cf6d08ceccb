// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/host_sort_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "apps/bench/segsort/segment_cases.hpp"
#include "apps/bench/sort/host_copy.hpp"
#include "apps/bench/sort/host_sort_data.hpp"
#include "baselines/sort/sort_peer.hpp"
#include "core/files/checksum.hpp"
#include "core/host_runtime.hpp"
#include "multisort/backends.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::bench {
namespace {

using Bytes = std::vector<std::byte>;

// The peers and the check support keys of 4 and 8 bytes. \throws Error (usage)
KeyType wide_key(KeyType key) {
  if (key_bytes(key) >= 4) return key;
  throw Error(ErrorKind::usage,
              fmt::format("bench sort: found keys of {} bits, expected 32 or 64 on the host",
                          key_bits(key)));
}

void refuse_options_of_gpus(const SortBenchOptions& options) {
  const char* found = nullptr;
  if (!options.devices.empty()) found = "a number of GPUs";
  if (options.transport != Transport::automatic) found = "a transport between GPUs";
  if (!options.rmg.empty()) found = "parts of rmg";
  if (options.host_to_host) found = "host to host";
  if (!options.with_cub) found = "without CUB";
  if (found == nullptr) return;
  throw Error(ErrorKind::usage,
              fmt::format("bench sort: found {}, expected no option for GPUs on the host", found));
}

// The input shared by all methods, and the arrays that a method sorts.
struct Workload {
  const Context& context;
  const SortCase& sort_case;
  const SortBenchOptions& options;
  KeyType key;
  Bytes input_keys;
  Bytes input_values;
  std::uint64_t input_checksum;
  Bytes keys;
  Bytes values;
  Bytes peer_items;

  Workload(const Context& of_context, const SortCase& of_case, const SortBenchOptions& of_options)
      : context(of_context),
        sort_case(of_case),
        options(of_options),
        key(wide_key(options.key)),
        input_keys(host_sort_keys(sort_case, key, options.items, options.seed)),
        input_values(options.value_bytes == 0 ? Bytes()
                                              : index_values(options.value_bytes, options.items)),
        input_checksum(checksum({input_keys, input_values, key, options.value_bytes})) {}

  [[nodiscard]] Row row(std::string method) const {
    Row row;
    row.case_name = sort_case.name;
    row.method = std::move(method);
    row.backend = "host";
    row.items = options.items;
    row.unit = options.value_bytes == 0 ? "Gkeys/s" : "Gpairs/s";
    return row;
  }

  void restore() {
    keys = input_keys;
    values = input_values;
  }

  [[nodiscard]] baselines::PeerItems as_peer_items() {
    peer_items.resize(options.items * baselines::peer_item_bytes(key, options.value_bytes));
    return {peer_items.data(), options.items, key, options.value_bytes};
  }

  // Checks `keys` and `values`. Returns true, or throws Error (check) with a description.
  [[nodiscard]] bool is_right(bool stable) const {
    const std::string fault =
        fault_of({keys, values, key, options.value_bytes}, input_checksum, stable);
    if (!fault.empty()) throw Error(ErrorKind::check, fault);
    return true;
  }
};

Method sortie_method(Workload& work, SortAlgorithm algorithm) {
  const auto sort = [&work, algorithm](RunReport* report) {
    Context host = work.context;
    host.backend = Backend::host;
    host.report = report;
    multisort::Request request{work.keys.data(),   work.options.key,         work.options.items,
                               work.values.data(), work.options.value_bytes, {}};
    request.options.algorithm = algorithm;
    multisort::sort(host, request);
  };
  Method method;
  method.row = work.row(fmt::format("sortie {}", name(algorithm)));
  method.prepare = [&work] { work.restore(); };
  method.run = [sort] { sort(nullptr); };
  // The options leave the order of equal keys to the radix sort; the merge sort always keeps it.
  method.check = [&work, algorithm] { return work.is_right(algorithm == SortAlgorithm::merge); };
  method.run_phases = [sort] {
    RunReport report;
    sort(&report);
    PhaseSeconds phases;
    for (const RunReport::Phase& phase : report.phases())
      phases.emplace_back(phase.name, phase.seconds);
    return phases;
  };
  return method;
}

// Runs `work`. Lack of memory becomes an Error, which ends this method only.
template <class Work>
void as_method(const std::string& name, const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory, name + ": found too little memory for its workspace");
  }
}

Method peer_method(Workload& work, const baselines::SortPeer& peer) {
  Method method;
  method.row = work.row(peer.name);
  method.row.baseline = true;
  method.prepare = [&work] {
    baselines::gather(work.input_keys, work.input_values, work.as_peer_items());
  };
  method.run = [&work, peer] {
    as_method(peer.name, [&] { peer.sort(work.as_peer_items(), host_threads()); });
  };
  method.check = [&work, peer] {
    work.restore();
    baselines::scatter(work.as_peer_items(), work.keys, work.values);
    return work.is_right(peer.stable);
  };
  return method;
}

std::vector<SortAlgorithm> algorithms_of(const SortBenchOptions& options) {
  if (!options.algorithms.empty() || !options.peers.empty()) return options.algorithms;
  const auto all = sort_algorithms(Backend::host);
  return {all.begin(), all.end()};
}

std::vector<Row> one_case(const Context& context, const SortCase& sort_case,
                          const SortBenchOptions& options) {
  Workload work(context, sort_case, options);
  std::vector<Method> methods;
  methods.push_back(copy_method(work));
  for (const SortAlgorithm algorithm : algorithms_of(options))
    methods.push_back(sortie_method(work, algorithm));
  for (const baselines::SortPeer& peer : baselines::sort_peers(options.value_bytes)) {
    const auto& chosen = options.peers;
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), peer.name) != chosen.end())
      methods.push_back(peer_method(work, peer));
  }
  return measure(std::move(methods), options.repetitions);
}

}  // namespace

bool is_sort_peer(const std::string& name) {
  const auto peers = baselines::sort_peers(0);
  return std::any_of(peers.begin(), peers.end(),
                     [&](const auto& peer) { return peer.name == name; });
}

std::vector<Row> sort_on_host(const Context& context, const SortBenchOptions& options,
                              const RowSink& sink) {
  refuse_options_of_gpus(options);
  const KeyType key = wide_key(options.key);
  if (options.value_bytes != 0) require_countable(options.value_bytes, options.items);
  Context host = context;
  host.backend = Backend::host;
  host.report = nullptr;  // the phases of several methods would be mixed
  for (const SortAlgorithm algorithm : algorithms_of(options))
    multisort::require_algorithm(host, algorithm);
  std::vector<SortCase> cases;
  const auto names = options.cases.empty() ? usual_sort_cases() : options.cases;
  for (const std::string& text : names) {
    cases.push_back(parse_sort_case(text));
    // Generates one key, so that an invalid parameter is reported before other cases are measured.
    static_cast<void>(host_sort_keys(cases.back(), key, 1, options.seed));
  }
  start_host_runtime(host.threads);
  std::vector<Row> all;
  for (const SortCase& sort_case : cases) {
    std::vector<Row> rows = one_case(host, sort_case, options);
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sortie::bench
