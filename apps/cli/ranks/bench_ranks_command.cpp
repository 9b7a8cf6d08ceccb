// SPDX-License-Identifier: Apache-2.0
//
// `sortie bench ranks`: the rates of a machine and its network, for the plans of --dry-run.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/bench/timing.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "cluster/cost_model.hpp"
#include "core/files/whole_file.hpp"
#include "core/host_memory.hpp"
#include "core/random.hpp"
#include "matrices/generators.hpp"
#include "sequences/generators.hpp"
#include "sortie/error.hpp"
#include "sortie/sort.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::cli {
namespace {

using cluster::RankModel;
using cluster::Ranks;

constexpr int repetitions = 5;
constexpr int collective_calls = 200;                               ///< in one measurement
constexpr std::uint64_t exchanged_bytes = std::uint64_t{32} << 20;  ///< to the next rank

struct BenchRanksCommand {
  CommonOptions common;
  std::string output;
};

/// Median seconds of `work`, which every rank runs at the same time; the longest on any rank.
double seconds_on_all(Ranks& ranks, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int round = 0; round < repetitions; ++round) {
    static_cast<void>(ranks.sum(0));  // all begin together
    const double taken = bench::timed_seconds(work);
    seconds.push_back(1e-9 *
                      static_cast<double>(ranks.greatest(static_cast<std::uint64_t>(1e9 * taken))));
  }
  return bench::median(std::move(seconds));
}

/// Seconds of a small collective call for each of the log2(P) steps that it takes.
double latency_of(Ranks& ranks) {
  int steps = 0;
  while ((1 << steps) < ranks.size()) ++steps;
  const double seconds = seconds_on_all(ranks, [&] {
    for (int call = 0; call < collective_calls; ++call) static_cast<void>(ranks.sum(1));
  });
  return seconds / collective_calls / std::max(1, steps);
}

/// The rank that each one sends to.
using Partners = std::vector<int>;

/// The machine of each rank, by the hash of its name.
std::vector<std::uint64_t> machines_of(Ranks& ranks) {
  char name[256] = {};
  static_cast<void>(::gethostname(name, sizeof(name) - 1));
  return ranks.gather(std::uint64_t{std::hash<std::string_view>()(name)});
}

/// The next rank of the same machine; of the last one, the first.
Partners next_on_machine(const std::vector<std::uint64_t>& machines) {
  Partners partners(machines.size());
  for (std::size_t rank = 0; rank < machines.size(); ++rank) {
    std::size_t next = (rank + 1) % machines.size();
    while (machines[next] != machines[rank]) next = (next + 1) % machines.size();
    partners[rank] = static_cast<int>(next);
  }
  return partners;
}

/// The next rank of another machine that no rank before sends to; itself if there is none.
Partners next_on_network(const std::vector<std::uint64_t>& machines) {
  const std::size_t size = machines.size();
  Partners partners(size);
  std::vector<bool> is_taken(size);
  for (std::size_t rank = 0; rank < size; ++rank) {
    partners[rank] = static_cast<int>(rank);
    for (std::size_t step = 1; step < size; ++step) {
      const std::size_t other = (rank + step) % size;
      if (is_taken[other] || machines[other] == machines[rank]) continue;
      is_taken[other] = true;
      partners[rank] = static_cast<int>(other);
      break;
    }
  }
  return partners;
}

/// Bytes a second of ranks that send to their partners, all at once.
double rate_of_exchange(Ranks& ranks, const Partners& partners) {
  std::vector<std::byte> out;
  std::vector<std::byte> in;
  ranks.together("allocate", [&] {
    out.assign(exchanged_bytes, std::byte{1});
    in.resize(exchanged_bytes);
  });
  const int own = ranks.rank();
  std::vector<cluster::SendPiece> sent = {{partners[static_cast<std::size_t>(own)], out}};
  std::vector<cluster::ReceivePiece> received;
  for (std::size_t other = 0; other < partners.size(); ++other)
    if (partners[other] == own) received.push_back({static_cast<int>(other), in});
  const double seconds = seconds_on_all(ranks, [&] { ranks.exchange(sent, received); });
  return static_cast<double>(exchanged_bytes) / seconds;
}

/// Items a second of a rank's own work, while all ranks do the same.
double rate_of_work(Ranks& ranks, double items, const std::function<void()>& prepare,
                    const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int round = 0; round < repetitions; ++round) {
    double taken = 0;
    ranks.together("measure", [&] {
      prepare();
      taken = bench::timed_seconds(work);
    });
    seconds.push_back(1e-9 *
                      static_cast<double>(ranks.greatest(static_cast<std::uint64_t>(1e9 * taken))));
  }
  return items / bench::median(std::move(seconds));
}

double sort_rate(Ranks& ranks, const Context& context) {
  constexpr std::uint64_t items = std::uint64_t{1} << 22;
  std::vector<std::uint64_t> keys;
  return rate_of_work(
      ranks, static_cast<double>(items),
      [&] {
        keys.resize(items);
        Random random(static_cast<std::uint64_t>(ranks.rank()));
        for (std::uint64_t& key : keys) key = random();
      },
      [&] { sort(context, std::span(keys)); });
}

double merge_rate(Ranks& ranks) {
  constexpr std::uint64_t items = std::uint64_t{1} << 22;
  std::vector<std::uint64_t> runs;
  std::vector<std::uint64_t> merged;
  ranks.together("generate", [&] {
    runs.resize(items);
    merged.resize(items);
    Random random(7);
    for (std::uint64_t& key : runs) key = random();
    std::sort(runs.begin(), runs.begin() + items / 2);
    std::sort(runs.begin() + items / 2, runs.end());
  });
  return rate_of_work(
      ranks, static_cast<double>(items), [] {},
      [&] {
        const auto middle = runs.begin() + items / 2;
        std::merge(runs.begin(), middle, middle, runs.end(), merged.begin());
      });
}

double product_rate(Ranks& ranks, const Context& context) {
  matrices::Csr<double> a;
  double products = 0;
  ranks.together("generate", [&] {
    a = matrices::rmat<double>(15, 8, 1);
    products = static_cast<double>(spgemm::count_products(a, a));
  });
  return rate_of_work(
      ranks, products, [] {}, [&] { static_cast<void>(spgemm::multiply(context, a, a)); });
}

double symbol_rate(Ranks& ranks, const Context& context) {
  constexpr std::uint64_t symbols = std::uint64_t{1} << 21;
  sequences::Text text;
  ranks.together("generate", [&] { text = sequences::repetitive_dna(symbols, 1); });
  return rate_of_work(
      ranks, static_cast<double>(symbols), [] {},
      [&] { static_cast<void>(suffix_array::build<std::uint64_t>(context, {text.symbols})); });
}

RankModel measure(Ranks& ranks, const Context& context) {
  RankModel model;
  model.ranks_on_machine = ranks.ranks_on_machine();
  model.latency_seconds = latency_of(ranks);
  const std::vector<std::uint64_t> machines = machines_of(ranks);
  const bool is_one = std::ranges::count(machines, machines.front()) == ranks.size();
  model.machine_rate = rate_of_exchange(ranks, next_on_machine(machines));
  model.network_rate =
      is_one ? model.machine_rate : rate_of_exchange(ranks, next_on_network(machines));
  model.work_rates = {{"merge", merge_rate(ranks)},
                      {"products", product_rate(ranks, context)},
                      {"sort", sort_rate(ranks, context)},
                      {"symbols", symbol_rate(ranks, context)}};
  return model;
}

void run(Job& job, const BenchRanksCommand& command) {
  Ranks* const ranks = job_ranks();
  together("output", [&] {
    if (is_reporting_rank()) job.announce_output(command.output);
  });
  Context context = job.context();
  context.report = nullptr;
  context.progress = {};
  RankModel model;
  if (ranks != nullptr) {
    model = measure(*ranks, context);
  } else {
    cluster::run_in_process(1, true, [&](Ranks& one) { model = measure(one, context); });
  }
  job.report().set("ranks", std::int64_t{ranks == nullptr ? 1 : ranks->size()});
  job.report().set("transport", ranks == nullptr ? "none" : ranks->transport());
  job.report().set("latency_seconds", model.latency_seconds);
  job.report().set("machine_bytes_per_second", model.machine_rate);
  job.report().set("network_bytes_per_second", model.network_rate);
  std::string text = fmt::format("latency {:.1f} us; {:.2f} GB/s within a machine, {:.2f} across",
                                 1e6 * model.latency_seconds, 1e-9 * model.machine_rate,
                                 1e-9 * model.network_rate);
  for (const auto& [work, rate] : model.work_rates) {
    job.report().set(work + "_per_second", rate);
    text += fmt::format("\n{}: {:.1f} million a second and rank", work, 1e-6 * rate);
  }
  together("write", [&] {
    if (!is_reporting_rank() || command.output.empty()) return;
    WholeFile file(command.output);
    file.write(model.to_json());
    file.commit();
  });
  job.summarize(command.output, text);
}

}  // namespace

Command add_bench_ranks_command(CLI::App& bench_parser) {
  auto command = std::make_shared<BenchRanksCommand>();
  CLI::App* parser = bench_parser.add_subcommand(
      "ranks", "Rates of this machine and its network, which --dry-run --model takes (by mpirun)");
  add_common_options(*parser, command->common);
  parser->add_option("-o,--output", command->output, "Write the model, a JSON file");
  Command added = make_command(parser, command, run);
  added.runs_on_ranks = true;
  return added;
}

}  // namespace sortie::cli
