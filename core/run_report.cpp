// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/devices.hpp"
#include "sortie/run_report.hpp"
#include "sortie/version.hpp"
#include "version_config.hpp"

namespace sortie {

std::string_view version() {
  return SORTIE_VERSION_STRING;
}

std::string_view commit() {
  return SORTIE_COMMIT_STRING;
}

namespace {

using Json = nlohmann::ordered_json;

/// Pending phases are resolved when their number reaches this limit, which bounds the memory they
/// hold in a long-running loop.
constexpr std::size_t most_pending = 1024;

std::string host_name() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

Json gpu_json(int device) {
  for (const auto& info : cuda_devices()) {
    if (info.ordinal != device) continue;
    return {{"device", info.ordinal},
            {"name", info.name},
            {"compute_capability", fmt::format("{}.{}", info.compute_major, info.compute_minor)},
            {"multiprocessors", info.multiprocessors},
            {"memory_bytes", info.memory_total},
            {"driver", cuda_driver_version()},
            {"cuda_toolkit", cuda_toolkit_version()}};
  }
  return nullptr;
}

}  // namespace

std::size_t RunReport::phase_named(std::string_view name) {
  const std::string within = open_.empty() ? std::string() : phases_[open_.back()].path();
  const auto phase = std::ranges::find_if(
      phases_, [&](const Phase& known) { return known.name == name && known.within == within; });
  const auto index = static_cast<std::size_t>(phase - phases_.begin());
  if (phase == phases_.end()) phases_.push_back({std::string(name), 0, 0, within});
  return index;
}

std::size_t RunReport::open_phase(std::string_view name) {
  open_.push_back(phase_named(name));
  return open_.back();
}

void RunReport::close_phase(std::size_t phase, double seconds, std::uint64_t bytes) {
  const auto last = std::find(open_.rbegin(), open_.rend(), phase);
  if (last != open_.rend()) open_.erase(std::next(last).base());
  phases_[phase].seconds += seconds;
  phases_[phase].bytes += bytes;
}

void RunReport::add_phase(std::string_view name, double seconds, std::uint64_t bytes) {
  Phase& phase = phases_[phase_named(name)];
  phase.seconds += seconds;
  phase.bytes += bytes;
}

void RunReport::add_pending_phase(std::string_view name, std::function<double()> seconds) {
  if (pending_.size() == most_pending) static_cast<void>(phases());
  pending_.push_back({phase_named(name), std::move(seconds)});
}

const std::vector<RunReport::Phase>& RunReport::phases() const {
  for (const Pending& pending : std::exchange(pending_, {}))
    phases_[pending.phase].seconds += pending.seconds();
  return phases_;
}

void RunReport::set(std::string_view key, Value value) {
  const auto figure = std::ranges::find(
      figures_, key, [](const auto& known) { return std::string_view(known.first); });
  if (figure == figures_.end())
    figures_.emplace_back(key, std::move(value));
  else
    figure->second = std::move(value);
}

double RunReport::seconds_since_start() const {
  return seconds_since(start_);
}

std::string RunReport::to_json(const std::vector<std::string>& command,
                               const Context& context) const {
  const Backend backend = resolve_backend(context);
  const bool on_gpu = backend == Backend::cuda;
  const int threads = host_threads() > 0 ? host_threads() : context.threads;

  Json phases = Json::array();
  for (const auto& phase : this->phases()) {
    phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}, {"bytes", phase.bytes}});
    if (!phase.within.empty()) phases.back()["within"] = phase.within;
  }
  Json figures = Json::object();
  for (const auto& [key, value] : figures_)
    std::visit([&figures, &key = key](const auto& held) { figures[key] = held; }, value);

  const Json report = {
      {"program", "sortie"},
      {"version", version()},
      {"commit", commit()},
      {"command", command},
      {"machine",
       {{"hostname", host_name()},
        {"cpu", cpu_model()},
        {"cores", std::thread::hardware_concurrency()}}},
      {"backend", name(backend)},
      {"gpu", on_gpu ? gpu_json(context.device) : Json(nullptr)},
      {"host_runtime", host_runtime_version()},
      {"threads", threads},
      {"wall_seconds", seconds_since_start()},
      {"cpu_seconds", process_cpu_seconds()},
      {"peak_host_bytes", peak_host_memory()},
      {"peak_device_bytes", on_gpu ? peak_device_memory(context.device) : 0},
      {"phases", phases},
      {"figures", figures},
  };
  // File names may contain bytes that are not UTF-8. They are replaced instead of rejected.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sortie
