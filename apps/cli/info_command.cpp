// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <libdeflate.h>
#include <xxhash.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <chrono>
#include <nlohmann/json.hpp>

#include "apps/cli/command.hpp"
#include "apps/cli/ranks/rank_program.hpp"
#include "apps/suffix_array/construction.hpp"
#include "cluster/device_exchange.hpp"
#include "core/files/stream_decoder.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/devices.hpp"
#include "sortie/sort.hpp"
#include "sortie/spgemm.hpp"
#include "sortie/version.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoCommand {
  CommonOptions common;
};

Json libraries() {
  Json list = {
      {"host runtime", host_runtime_version()},
      {"zlib", zlibVersion()},
      {"libdeflate", LIBDEFLATE_VERSION_STRING},
      {"libzstd", zstd_version()},
      {"xxHash",
       fmt::format("{}.{}.{}", XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE)},
      {"fmt",
       fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                    NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"CLI11", CLI11_VERSION},
      {"Eigen",
       fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)}};
  list["MPI"] = SORTIE_MPI_VERSIONS;
  if (job_ranks() != nullptr) {
    const std::string why = job_ranks()->why_no_device_pieces();
    list["CUDA-aware MPI"] = why.empty() ? "yes, " + job_ranks()->transport() : "no: " + why;
  }
  if (built_with_cuda()) {
    list["CUDA toolkit"] = cuda_toolkit_version();
    const std::string driver = cuda_driver_version();
    list["CUDA driver"] = driver.empty() ? "none" : driver;
    list["NCCL"] = cluster::nccl_description();
  }
  return list;
}

Json devices() {
  Json list = Json::array();
  for (const DeviceInfo& device : cuda_devices()) {
    list.push_back(
        {{"device", device.ordinal},
         {"name", device.name},
         {"compute_capability", fmt::format("{}.{}", device.compute_major, device.compute_minor)},
         {"multiprocessors", device.multiprocessors},
         {"memory_bytes", device.memory_total},
         {"memory_free_bytes", device.memory_free}});
  }
  return list;
}

Json algorithms(Backend backend) {
  Json list = {{"spgemm", Json::array()}, {"suffix-array", Json::array()}};
  for (const auto algorithm : spgemm::algorithms(backend))
    list["spgemm"].push_back(name(algorithm));
  for (const auto& algorithm : suffix_array::algorithms_on(backend))
    list["suffix-array"].push_back(algorithm.name);
  for (const auto algorithm : sort_algorithms(backend)) list["sort"].push_back(name(algorithm));
  return list;
}

Json information() {
  // The first call that needs a device starts the driver.
  const auto start = std::chrono::steady_clock::now();
  Json found_devices = devices();
  const double driver_start = seconds_since(start);
  Json backends = Json::object();
  backends["host"] = algorithms(Backend::host);
  if (!cuda_devices().empty()) backends["cuda"] = algorithms(Backend::cuda);
  return {{"program", "sortie"},
          {"version", version()},
          {"commit", commit()},
          {"backends", std::move(backends)},
          {"built_with_cuda", built_with_cuda()},
          {"why_no_cuda", why_no_cuda()},
          {"devices", std::move(found_devices)},
          {"driver_start_seconds", driver_start},
          {"host_memory_free_bytes", host_memory_available()},
          {"libraries", libraries()}};
}

std::string for_people(const Json& information) {
  std::string text = program_version() + "\n\nbackends\n";
  for (const auto& [backend, applications] : information["backends"].items()) {
    for (const auto& [application, list] : applications.items()) {
      text += fmt::format("  {:<5} {:<13} {}\n", backend, application,
                          fmt::join(list.get<std::vector<std::string>>(), ", "));
    }
  }
  const std::string reason = information["why_no_cuda"];
  if (!reason.empty()) text += fmt::format("  cuda  not available: {}\n", reason);
  for (const Json& device : information["devices"]) {
    text += fmt::format("\nCUDA device {}\n  {}, compute capability {}, {} multiprocessors, {}\n",
                        device["device"].get<int>(), device["name"].get<std::string>(),
                        device["compute_capability"].get<std::string>(),
                        device["multiprocessors"].get<int>(),
                        format_bytes(device["memory_bytes"].get<std::uint64_t>()));
  }
  if (!information["devices"].empty()) {
    text += fmt::format("\nCUDA driver started in {:.3f} s\n",
                        information["driver_start_seconds"].get<double>());
  }
  text += "\nlibraries\n";
  for (const auto& [library, library_version] : information["libraries"].items()) {
    text += fmt::format("  {:<14} {}\n", library, library_version.get<std::string>());
  }
  return text;
}

void run_info(Job& job, const InfoCommand& command) {
  const Json found = information();
  if (command.common.json.empty()) {
    job.print(for_people(found));
  } else {
    job.set_json([found] { return found.dump(2) + "\n"; });
  }
}

}  // namespace

Command add_info_command(CLI::App& program) {
  auto command = std::make_shared<InfoCommand>();
  CLI::App* parser =
      program.add_subcommand("info", "Show version, backends, devices and libraries");
  add_version_option(*parser);
  parser
      ->add_option("--json", command->common.json,
                   "Write JSON to this file (default: standard output)")
      ->expected(0, 1)
      ->default_str("-");
  command->common.quiet = true;
  return make_command(parser, command, run_info);
}

}  // namespace sortie::cli
