// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/sort/links_bench.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/exchange/item_exchange.hpp"
#include "papers/rmg/gpu_links.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/devices.hpp"
#include "sortie/run_report.hpp"

namespace sortie::bench {
namespace {

using multisort::DeviceGroup;
using multisort::ItemExchange;
namespace plan = multisort::plan;

constexpr int host = -1;

struct Copy {
  int from;
  int to;
};

/// A buffer to send from and one to receive in, on each device and, unless devices are to be apart,
/// for each device on the host.
class Links {
 public:
  /// \param apart  devices have no access to each other's memory, unless another object of this
  ///               process has given it to them
  Links(const Context& context, const LinksOptions& options, bool apart)
      : bytes_(options.bytes),
        direct_(spread_over_gpus(context, options.devices),
                apart ? Transport::staged : Transport::automatic),
        staged_(spread_over_gpus(context, options.devices), Transport::staged),
        exchange_(staged_) {
    for (std::size_t d = 0; d < direct_.size(); ++d) {
      const CurrentDevice current = direct_.current(d);
      for (auto* buffers : {&sent_, &received_}) buffers->emplace_back(bytes_, direct_.stream(d));
      check_cuda(
          cudaMemsetAsync(sent_[d].data(), static_cast<int>(0x20 + d), bytes_, direct_.stream(d)));
      if (apart) continue;
      for (auto* buffers : {&host_sent_, &host_received_}) buffers->emplace_back(bytes_);
      std::fill_n(host_sent_[d].data(), bytes_, std::byte{0x11});
    }
    direct_.synchronise();
  }

  [[nodiscard]] int devices() const { return static_cast<int>(direct_.size()); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Whether the copies are between two GPUs.
  [[nodiscard]] bool between_gpus(const std::vector<Copy>& copies) const {
    const auto& [from, to] = copies[0];
    return from != host && to != host &&
           direct_.ordinal(static_cast<std::size_t>(from)) !=
               direct_.ordinal(static_cast<std::size_t>(to));
  }

  /// Fills the targets with zeros.
  void prepare(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
      const CurrentDevice current = owner(copy.to == host ? copy.from : copy.to);
      check_cuda(cudaMemset(target(copy), 0, bytes_));
      check_cuda(cudaStreamSynchronize(nullptr));
    }
  }

  void copy_directly(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
      const auto d = static_cast<std::size_t>(copy.from == host ? copy.to : copy.from);
      const CurrentDevice current = direct_.current(d);
      check_cuda(cudaMemcpyAsync(target(copy), source(copy), bytes_, cudaMemcpyDefault,
                                 copy.from == host ? direct_.stream_in(d) : direct_.stream_out(d)));
    }
    direct_.synchronise();
  }

  void copy_by_runtime(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
      const auto from = static_cast<std::size_t>(copy.from);
      const int from_gpu = direct_.ordinal(from);
      const int to_gpu = direct_.ordinal(static_cast<std::size_t>(copy.to));
      const CurrentDevice current = direct_.current(from);
      check_cuda(cudaMemcpyPeerAsync(target(copy), to_gpu, source(copy), from_gpu, bytes_,
                                     direct_.stream_out(from)));
    }
    direct_.synchronise();
  }

  void copy_staged(const std::vector<Copy>& copies) {
    std::vector<std::vector<plan::Transfer>> by_source(staged_.size());
    for (const Copy& copy : copies)
      by_source[static_cast<std::size_t>(copy.from)].push_back(
          {static_cast<std::size_t>(copy.from), static_cast<std::size_t>(copy.to), 0, 0, bytes_});
    std::vector<RawItems> from;
    std::vector<RawItems> to;
    for (std::size_t d = 0; d < staged_.size(); ++d) {
      from.push_back({sent_[d].data(), nullptr});
      to.push_back({received_[d].data(), nullptr});
    }
    exchange_(by_source, 1, 0, from, to);
    staged_.synchronise();
  }

  /// Whether the last byte of each copy arrived.
  [[nodiscard]] bool arrived(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
      std::byte sent{1};
      std::byte received{2};
      const std::uint64_t last = bytes_ - 1;
      const auto read = [&](std::byte& to, const std::byte* from, int device) {
        const CurrentDevice current = owner(device);
        check_cuda(cudaMemcpy(&to, from + last, 1, cudaMemcpyDefault));
      };
      read(sent, source(copy), copy.from == host ? copy.to : copy.from);
      read(received, target(copy), copy.to == host ? copy.from : copy.to);
      if (sent != received) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] CurrentDevice owner(int device) const {
    return direct_.current(static_cast<std::size_t>(device));
  }
  [[nodiscard]] std::byte* source(const Copy& copy) {
    return copy.from == host ? host_sent_[static_cast<std::size_t>(copy.to)].data()
                             : sent_[static_cast<std::size_t>(copy.from)].data();
  }
  [[nodiscard]] std::byte* target(const Copy& copy) {
    return copy.to == host ? host_received_[static_cast<std::size_t>(copy.from)].data()
                           : received_[static_cast<std::size_t>(copy.to)].data();
  }

  std::uint64_t bytes_;
  DeviceGroup direct_;
  DeviceGroup staged_;
  ItemExchange exchange_;
  std::vector<DeviceBuffer<std::byte>> sent_;
  std::vector<DeviceBuffer<std::byte>> received_;
  std::vector<PinnedBuffer<std::byte>> host_sent_;
  std::vector<PinnedBuffer<std::byte>> host_received_;
};

std::string name_of(int place) {
  return place == host ? "host" : fmt::format("device {}", place);
}

/// The sets of copies, in the order of the paper's figure 2.
std::vector<std::pair<std::string, std::vector<Copy>>> cases_of(int devices) {
  std::vector<std::pair<std::string, std::vector<Copy>>> cases;
  const auto add_link = [&](int a, int b) {
    cases.push_back({fmt::format("{} to {}", name_of(a), name_of(b)), {{a, b}}});
    cases.push_back({fmt::format("{} to {}", name_of(b), name_of(a)), {{b, a}}});
    cases.push_back(
        {fmt::format("{} and {}, both ways", name_of(a), name_of(b)), {{a, b}, {b, a}}});
  };
  std::vector<Copy> all_in;
  std::vector<Copy> all_out;
  for (int d = 0; d < devices; ++d) {
    add_link(host, d);
    all_in.push_back({host, d});
    all_out.push_back({d, host});
  }
  if (devices > 1) {
    cases.push_back({"host to all devices", all_in});
    cases.push_back({"all devices to host", all_out});
    all_in.insert(all_in.end(), all_out.begin(), all_out.end());
    cases.push_back({"host and all devices, both ways", all_in});
  }
  for (int a = 0; a < devices; ++a) {
    cases.push_back({fmt::format("{} to itself", name_of(a)), {{a, a}}});
    for (int b = a + 1; b < devices; ++b) add_link(a, b);
  }
  return cases;
}

/// Sets the figures that tell how the GPUs are linked.
void report_links(RunReport& report) {
  const papers::GpuLinks links = papers::links_of_gpus();
  const std::size_t gpus = links.peer_rank.size();
  std::string text;
  std::string sets;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    std::string ranks;
    for (std::size_t other = 0; other < gpus; ++other) {
      const int rank = links.peer_rank[gpu][other];
      ranks += other == gpu                     ? " -"
               : rank == papers::no_peer_access ? " none"
                                                : fmt::format(" {}", rank);
    }
    text += fmt::format("{}GPU {}: root port {}, NUMA node {}, ranks{}", gpu == 0 ? "" : "; ", gpu,
                        links.host_link[gpu], links.numa_node[gpu], ranks);
    sets += fmt::format("{}{}", gpu == 0 ? "" : "; ",
                        fmt::join(papers::choose_gpus(links, 0, static_cast<int>(gpu + 1)), " "));
  }
  report.set("links", text);
  report.set("gpus_by_links", sets);
}

/// Appends the rows of all sets of copies; of devices apart, those between GPUs.
void measure_links(const Context& context, const LinksOptions& options, bool apart,
                   const RowSink& sink, std::vector<Row>& all) {
  Links links(context, options, apart);
  for (const auto& [name, copies] : cases_of(links.devices())) {
    const bool between_gpus = links.between_gpus(copies);
    if (apart && !between_gpus) continue;
    std::vector<Method> methods;
    const auto add = [&](const char* method, void (Links::*copy)(const std::vector<Copy>&)) {
      Row row;
      row.case_name = name;
      row.method = method;
      row.backend = "cuda";
      row.items = links.bytes() * copies.size();
      row.unit = "GB/s";
      methods.push_back({.row = std::move(row),
                         .prepare = [&] { links.prepare(copies); },
                         .run = [&links, &copies = copies, copy] { (links.*copy)(copies); },
                         .check = [&] { return links.arrived(copies); }});
    };
    if (apart) {
      add("runtime", &Links::copy_by_runtime);
    } else {
      add("direct", &Links::copy_directly);
      if (copies[0].from != host && copies[0].to != host && copies[0].from != copies[0].to)
        add("staged", &Links::copy_staged);
    }
    std::vector<Row> rows = measure(std::move(methods), options.repetitions);
    if (sink) sink(rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
}

}  // namespace

std::vector<Row> links_on_cuda(const Context& context, const LinksOptions& options,
                               const RowSink& sink) {
  const DeviceScope scope(context);
  if (context.report != nullptr) report_links(*context.report);
  std::vector<Row> all;
  const std::vector<int> gpus = spread_over_gpus(context, options.devices);
  // Before the GPUs are given access to each other's memory, for the rest of the process.
  if (std::set(gpus.begin(), gpus.end()).size() > 1)
    measure_links(context, options, true, sink, all);
  measure_links(context, options, false, sink, all);
  return all;
}

}  // namespace sortie::bench
