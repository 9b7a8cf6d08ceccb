#pragma once
#include <cstdlib>
namespace sortie {
inline long variant(const char* name, long usual) {
  const char* v = std::getenv(name);
  return v == nullptr ? usual : std::atol(v);
}
}
