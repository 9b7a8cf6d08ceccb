// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "sortie/cluster.hpp"

namespace sortie::cluster {

/// Collective: the text of rank 0. \param text  on rank 0; not used on other ranks
[[nodiscard]] inline std::string broadcast_text(Ranks& ranks, std::string text) {
  std::uint64_t length = text.size();
  ranks.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  text.resize(length);
  ranks.broadcast(std::as_writable_bytes(std::span(text)), 0);
  return text;
}

}  // namespace sortie::cluster
