// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace sortie::test {

/// A fault that tests/support/fault_injector.cpp injects into a run of the program.
struct Injection {
  std::string call;  ///< name of the system call, as the injector has it; empty: no fault
  std::string kind;  ///< as the injector has it
  int value = 0;     ///< errno, or the number of the signal
  int number = 0;    ///< the call that gets the fault, from 1
};

/// The fault as "write: No space left on device".
[[nodiscard]] std::string describe(const Injection& injection);

/// What became of a run with a fault.
struct InjectedRun {
  Result result;
  std::map<std::string, int> calls;  ///< number of calls that count, by name
  bool injected = false;             ///< the call was reached
};

/// Where calls count, and how the program is started there.
struct InjectionSetting {
  std::string folder;            ///< absolute, without symbolic links
  std::string in = "/dev/null";  ///< file to be standard input
  bool nameless = true;          ///< false: the file system has no files without a name
};

/// Runs `sortie` with a fault.
[[nodiscard]] InjectedRun run_with(const Injection& injection, const InjectionSetting& setting,
                                   const std::vector<std::string>& arguments);

/// Whether the injector takes effect in the program: not if it is linked statically, or built with
/// a sanitizer, which has to be loaded first.
[[nodiscard]] bool can_inject();

}  // namespace sortie::test
