// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <optional>
#include <string_view>

namespace sortie {

/// The processors of a list as Linux writes them, such as "0-3,8,10-11\n"; nothing if the text is
/// malformed or names none.
[[nodiscard]] std::optional<cpu_set_t> parse_cpu_list(std::string_view text);

/// While it lives, the calling thread runs on the processors of a NUMA node and gets new pages there,
/// page-locked ones too, if there is room. For threads and staging buffers beside a GPU (Tanasic et
/// al., GPGPU 2013).
///
/// Does nothing where the node is unknown, none of its processors is allowed, or the system refuses;
/// so it can be used everywhere. Ends on the thread that it began on.
class OnNumaNode {
 public:
  /// \param node  number of the node; negative: unknown
  explicit OnNumaNode(int node);
  ~OnNumaNode();
  OnNumaNode(OnNumaNode&&) = delete;

  [[nodiscard]] bool is_bound() const { return is_bound_; }

 private:
  bool is_bound_ = false;
  bool has_policy_ = false;
  cpu_set_t before_{};
};

}  // namespace sortie
