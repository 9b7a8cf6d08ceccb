// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cluster/fault_hook.hpp"
#include "sortie/cluster.hpp"
#include "sortie/error.hpp"

namespace sortie::test {

/// Runs a test body on ranks. In a program that MPI has started, once on its ranks; else on 1, 2, 3,
/// 4, 5, 7, 8, 13 and 16 ranks of this process.
void on_ranks(const std::function<void(cluster::Ranks&)>& body);

/// The same on fewer numbers of ranks of this process: 1, 3 and 8. For bodies that take long.
void on_few_ranks(const std::function<void(cluster::Ranks&)>& body);

/// The ranks on which a test injects the fault of its phase number `phase`: the first, the middle
/// and the last one. Of many processes that share few cores, one of these, another for the next
/// phase.
[[nodiscard]] inline std::vector<int> failing_ranks(const cluster::Ranks& ranks,
                                                    std::size_t phase) {
  const std::vector<int> all = {0, ranks.size() / 2, ranks.size() - 1};
  if (ranks.transport() == "threads" || ranks.size() < 8) return all;
  return {all[phase % all.size()]};
}

/// The message of the error that `work` throws; "none" if it throws none.
[[nodiscard]] inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

/// While it lives, the work of a phase of one rank throws "injected". Construction and end are
/// collective.
class Fault {
 public:
  Fault(cluster::Ranks& ranks, int failing, const std::string& phase) : ranks_(ranks) {
    set([=](int rank, std::string_view name) {
      if (rank == failing && name == phase) throw Error(ErrorKind::output, "injected");
    });
  }
  ~Fault() { set({}); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

 private:
  /// Ranks of one process share the hook, and one sets it; processes have one each.
  void set(const cluster::FaultHook& hook) {
    static_cast<void>(ranks_.sum(0));
    if (ranks_.rank() == 0 || ranks_.transport() != "threads") cluster::set_fault_hook(hook);
    static_cast<void>(ranks_.sum(0));
  }

  cluster::Ranks& ranks_;
};

}  // namespace sortie::test
