// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace sortie::test
