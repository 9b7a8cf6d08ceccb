#include "sortie/core/run_report.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "sortie/core/devices.hpp"
#include "sortie/core/host_memory.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/version.hpp"

namespace sortie {

namespace {

using Json = nlohmann::ordered_json;

/// Pending phases are settled when there are so many: what they hold must not grow without end in
/// a loop that goes on for days.
constexpr std::size_t most_pending = 1024;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

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

Json machine_json() {
  return {{"hostname", host_name()},
          {"cpu", cpu_model()},
          {"cores", std::thread::hardware_concurrency()}};
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

RunReport::Phase& RunReport::phase_named(std::string_view name) {
  const auto phase = std::find_if(phases_.begin(), phases_.end(),
                                  [name](const Phase& known) { return known.name == name; });
  return phase == phases_.end() ? phases_.emplace_back(Phase{std::string(name), 0, 0}) : *phase;
}

void RunReport::add_phase(std::string_view name, double seconds, std::uint64_t bytes) {
  Phase& phase = phase_named(name);
  phase.seconds += seconds;
  phase.bytes += bytes;
}

void RunReport::add_pending_phase(std::string_view name, std::function<double()> seconds) {
  if (pending_.size() == most_pending) static_cast<void>(phases());
  const auto phase = static_cast<std::size_t>(&phase_named(name) - phases_.data());
  pending_.push_back({phase, std::move(seconds)});
}

const std::vector<RunReport::Phase>& RunReport::phases() const {
  for (const Pending& pending : std::exchange(pending_, {})) {
    phases_[pending.phase].seconds += pending.seconds();
  }
  return phases_;
}

void RunReport::set(std::string_view key, Value value) {
  const auto figure = std::find_if(figures_.begin(), figures_.end(),
                                   [key](const auto& known) { return known.first == key; });
  if (figure == figures_.end())
    figures_.emplace_back(key, std::move(value));
  else
    figure->second = std::move(value);
}

double RunReport::seconds_since_start() const {
  return seconds_between(start_, std::chrono::steady_clock::now());
}

double process_cpu_seconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

std::string RunReport::to_json(const std::vector<std::string>& command,
                               const Context& context) const {
  const Backend backend = resolve_backend(context);
  const bool on_gpu = backend == Backend::cuda;
  const int threads = host_threads() > 0 ? host_threads() : context.threads;

  Json phases = Json::array();
  for (const auto& phase : this->phases())
    phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}, {"bytes", phase.bytes}});
  Json figures = Json::object();
  for (const auto& [key, value] : figures_)
    std::visit([&figures, &key = key](const auto& held) { figures[key] = held; }, value);

  const Json report = {
      {"program", "sortie"},
      {"version", version()},
      {"commit", commit()},
      {"command", command},
      {"machine", machine_json()},
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
  // File names may hold bytes that are not UTF-8; they are replaced instead of refused.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

double PhaseTimer::stop() {
  const double seconds = seconds_between(start_, std::chrono::steady_clock::now());
  if (!stopped_ && report_ != nullptr) report_->add_phase(name_, seconds, bytes_);
  stopped_ = true;
  return seconds;
}

std::uint64_t extend_checksum(std::uint64_t seed, const void* data, std::size_t bytes) {
  constexpr std::uint64_t prime = 0x100000001b3ULL;
  const auto* const first = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) seed = (seed ^ first[i]) * prime;
  return seed;
}

std::string checksum(const void* data, std::size_t bytes) {
  return fmt::format("{:016x}", extend_checksum(checksum_seed, data, bytes));
}

}  // namespace sortie
