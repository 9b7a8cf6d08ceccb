// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sortie/error.hpp"

namespace sortie::test {

/// Expects `call` to throw an Error of `kind` whose message matches `message`, a gmock matcher or
/// the exact text.
template <class Call, class Message>
void expect_error(Call&& call, ErrorKind kind, const Message& message) {
  try {
    call();
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(std::string(error.what()), message);
  }
}

/// The message of the error that `call` throws, which has to be of that kind.
inline std::string error_message(ErrorKind kind, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

}  // namespace sortie::test
