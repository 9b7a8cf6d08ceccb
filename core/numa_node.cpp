// SPDX-License-Identifier: Apache-2.0
#include "core/numa_node.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

namespace sortie {

namespace {

/// Prefers the node for new pages of this thread; or, with a negative one, has no preference.
bool prefer_node(int node) {
  constexpr unsigned long bits = 8 * sizeof(unsigned long);
  if (node >= static_cast<int>(bits)) return false;
  const unsigned long nodes = node < 0 ? 0 : 1UL << node;
  const int policy = node < 0 ? MPOL_DEFAULT : MPOL_PREFERRED;
  return syscall(SYS_set_mempolicy, policy, node < 0 ? nullptr : &nodes, bits) == 0;
}

bool has_default_policy() {
  int policy = MPOL_DEFAULT;
  return syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL) == 0 &&
         policy == MPOL_DEFAULT;
}

}  // namespace

std::optional<cpu_set_t> parse_cpu_list(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  cpu_set_t set;
  CPU_ZERO(&set);
  const auto number = [&](int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || value >= CPU_SETSIZE) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  for (;;) {
    int first = 0;
    if (!number(first)) return std::nullopt;
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!number(last) || last < first) return std::nullopt;
    }
    for (int cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, &set);
    if (text.empty()) return set;
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
}

OnNumaNode::OnNumaNode(int node) {
  if (node < 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  std::ifstream file(fmt::format("/sys/devices/system/node/node{}/cpulist", node));
  std::string text;
  if (!std::getline(file, text)) return;
  const std::optional<cpu_set_t> of_node = parse_cpu_list(text);
  if (!of_node) return;
  cpu_set_t allowed;
  CPU_AND(&allowed, &before_, &*of_node);
  if (CPU_COUNT(&allowed) == 0 || sched_setaffinity(0, sizeof allowed, &allowed) != 0) return;
  is_bound_ = true;
  // A policy that the process has already, as by numactl, stays.
  has_policy_ = has_default_policy() && prefer_node(node);
}

OnNumaNode::~OnNumaNode() {
  if (has_policy_) prefer_node(-1);
  if (is_bound_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace sortie
