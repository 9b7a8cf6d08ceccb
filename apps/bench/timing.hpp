#pragma once

#include <functional>
#include <vector>

namespace sortie::bench {

/// Wall seconds of one call.
[[nodiscard]] double timed_seconds(const std::function<void()>& work);

/// The value in the middle, the mean of the two in the middle for an even count, 0 of nothing.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace sortie::bench
