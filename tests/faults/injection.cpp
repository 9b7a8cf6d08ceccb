// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/injection.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "tests/support/sanitizers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::test {

std::string describe(const Injection& injection) {
  if (injection.kind == "short") return injection.call + ": half of the bytes";
  if (injection.kind == "nothing") return injection.call + ": no bytes";
  const char* const reason =
      injection.kind == "signal" ? ::strsignal(injection.value) : std::strerror(injection.value);
  return fmt::format("{}: {}{}", injection.call, reason,
                     injection.kind == "lasting" ? ", lasting" : "");
}

InjectedRun run_with(const Injection& injection, const InjectionSetting& setting,
                     const std::vector<std::string>& arguments) {
  const TemporaryFolder logs;
  const std::string log = logs.write("log", "");
  Streams streams;
  streams.in = setting.in;
  streams.environment = {"LD_PRELOAD=" SORTIE_FAULT_INJECTOR,
                         "SORTIE_FAULT_FOLDER=" + setting.folder,
                         "SORTIE_FAULT_LOG=" + log,
                         "SORTIE_FAULT_CALL=" + injection.call,
                         "SORTIE_FAULT_KIND=" + injection.kind,
                         fmt::format("SORTIE_FAULT_VALUE={}", injection.value),
                         fmt::format("SORTIE_FAULT_NUMBER={}", injection.number)};
  if (!setting.nameless) streams.environment.emplace_back("SORTIE_FAULT_NO_TMPFILE=1");
  InjectedRun done;
  done.result = run(arguments, streams);
  for (const std::string& line : lines(content_of(log))) {
    ++done.calls[line.substr(0, line.find(' '))];
    if (line.ends_with('!')) done.injected = true;
  }
  return done;
}

bool can_inject() {
  if (SORTIE_TEST_SANITIZED) return false;
  const TemporaryFolder folder;
  const std::string input = folder.write("keys", "abcd");
  const std::string path = std::filesystem::canonical(folder.path("")).string();
  return !run_with({}, {.folder = path}, {"sort", input, "--type", "u8"}).calls.empty();
}

}  // namespace sortie::test
