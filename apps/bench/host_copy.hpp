#pragma once

#include <cstddef>
#include <span>

namespace sortie::bench {

/// Copies with as many threads as the host runtime has: what is fastest that a sort could do.
/// \param to  at least as long as `from`, apart from it
void copy_by_threads(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace sortie::bench
