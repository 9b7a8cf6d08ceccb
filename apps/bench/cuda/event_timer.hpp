#pragma once

#include "sortie/core/cuda/event_timer.hpp"

namespace sortie::bench {

using sortie::EventTimer;

}  // namespace sortie::bench
