// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm {

namespace {

constexpr std::array<std::string_view, 4> own_names{"auto", "essc", "fused", "row-wise"};

/// The library's algorithms, and those of the program.
struct Algorithms {
  std::span<const Baseline> baselines;
  // Those in this build, in the order of algorithms().
  std::vector<Algorithm> on_host{Algorithm::essc, Algorithm::row_wise};
  std::vector<Algorithm> on_cuda{Algorithm::fused, Algorithm::essc};

  std::vector<Algorithm>& on(Backend backend) {
    return backend == Backend::host ? on_host : on_cuda;
  }
};

Algorithms& known() {
  static Algorithms algorithms;
  return algorithms;
}

/// The algorithm with this number, counted over the library's and the registered ones.
Algorithm numbered(std::size_t number) {
  return static_cast<Algorithm>(number);
}

bool runs_on(Backend backend, Algorithm algorithm) {
  if (algorithm == Algorithm::automatic) return true;
  const auto& list = known().on(backend);
  return std::find(list.begin(), list.end(), algorithm) != list.end();
}

}  // namespace

void register_baselines(std::span<const Baseline> baselines) {
  known() = {};
  known().baselines = baselines;
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    if (baselines[i].missing.empty())
      known().on(baselines[i].backend).push_back(numbered(own_names.size() + i));
  }
}

const Baseline* find_baseline(Algorithm algorithm) {
  const auto number = static_cast<std::size_t>(algorithm);
  if (number < own_names.size() || number - own_names.size() >= known().baselines.size())
    return nullptr;
  return &known().baselines[number - own_names.size()];
}

Backend choose_backend(const Context& context, Algorithm algorithm) {
  const Baseline* const baseline = find_baseline(algorithm);
  if (baseline != nullptr && !baseline->missing.empty()) {
    throw Error(ErrorKind::unavailable,
                fmt::format("SpGEMM: algorithm {} is not in this build: CMake found no {}",
                            baseline->name, baseline->missing));
  }
  const bool on_host = runs_on(Backend::host, algorithm);
  const bool on_cuda = runs_on(Backend::cuda, algorithm);
  Context wanted = context;
  if (context.backend == Backend::automatic && !on_cuda) wanted.backend = Backend::host;
  if (context.backend == Backend::automatic && !on_host) wanted.backend = Backend::cuda;
  const Backend backend = resolve_backend(wanted);
  if (backend == Backend::host ? !on_host : !on_cuda) {
    throw Error(ErrorKind::unavailable,
                fmt::format("SpGEMM: algorithm {} does not run on the backend {}", name(algorithm),
                            name(backend)));
  }
  return backend;
}

Error not_on_cuda(Algorithm algorithm) {
  std::string names;
  for (const Algorithm on_cuda : known().on_cuda)
    names += (names.empty() ? "" : ", ") + std::string(name(on_cuda));
  return {ErrorKind::unavailable,
          fmt::format("SpGEMM: found algorithm {}, expected one that runs on CUDA ({})",
                      name(algorithm), names)};
}

std::string_view name(Algorithm algorithm) {
  if (const Baseline* const baseline = find_baseline(algorithm)) return baseline->name;
  return own_names.at(static_cast<std::size_t>(algorithm));
}

std::string algorithm_names() {
  std::string names;
  for (std::size_t i = 0; i < own_names.size() + known().baselines.size(); ++i)
    names += (names.empty() ? "" : ", ") + std::string(name(numbered(i)));
  return names;
}

Algorithm parse_algorithm(std::string_view text) {
  for (std::size_t i = 0; i < own_names.size() + known().baselines.size(); ++i)
    if (name(numbered(i)) == text) return numbered(i);
  throw Error(ErrorKind::usage, fmt::format("algorithm: found {}, expected one of {}",
                                            sortie::quoted(text), algorithm_names()));
}

std::span<const Algorithm> algorithms(Backend backend) {
  if (backend == Backend::automatic) backend = resolve_backend(Context{});
  if (backend == Backend::host) return known().on_host;
  if (cuda_devices().empty()) return {};
  return known().on_cuda;
}

bool makes_chunks(Algorithm algorithm) {
  return find_baseline(algorithm) == nullptr;
}

}  // namespace sortie::spgemm
