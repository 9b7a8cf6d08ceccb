// SPDX-License-Identifier: Apache-2.0
#include "texts/json_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sortie::texts {
namespace {

std::string parsed(std::string line, const std::string& field = "text") {
  JsonLineParser parser("file", field);
  const std::size_t size = line.size();
  line.append(json_padding, '#');
  try {
    return std::string(parser.parse(std::string_view(line).substr(0, size)).text);
  } catch (const JsonFault& fault) {
    return "found " + fault.found + ", expected " + fault.expected;
  }
}

std::string without(std::string_view raw, const std::vector<ByteRange>& ranges) {
  std::string left;
  append_without(raw, ranges, left);
  return left;
}

TEST(JsonLines, TheFieldIsUnescaped) {
  EXPECT_EQ(parsed(R"({"id":1,"text":"a\n\"\u00e9\ud83d\ude00","x":[{"text":2}]})"),
            "a\n\"\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(parsed(R"( { "te\u0078t" : "" } )"), "");
  EXPECT_EQ(parsed(R"({"a\"b":"c"})", "a\"b"), "c");
}

TEST(JsonLines, FaultsSayWhatWasFound) {
  EXPECT_EQ(parsed(R"({"txt":"a"})"),
            "found no field \"text\", expected a JSON object with this field");
  EXPECT_EQ(parsed(R"({"text":"a","text":"b"})"),
            "found more than one field \"text\", expected a JSON object with this field");
  EXPECT_EQ(parsed(R"({"text":12})"), "found a number as the field \"text\", expected a string");
  EXPECT_EQ(parsed(R"({"text":null})"), "found null as the field \"text\", expected a string");
  EXPECT_EQ(parsed(R"({"text":["a"]})"), "found an array as the field \"text\", expected a string");
  EXPECT_EQ(parsed(R"({"text":{}})"), "found an object as the field \"text\", expected a string");
  EXPECT_EQ(parsed(R"({"text":true})"),
            "found true or false as the field \"text\", expected a string");
  EXPECT_EQ(parsed(R"(["text"])"), "found an array, expected a JSON object");
  for (const char* broken :
       {R"({"text":"a")", R"({"text":"a"}})", R"({"text":"a","b":tru})", R"({"text":"a" "b":1})",
        R"({"text":"a",})", R"({"text":"\x"})", R"({"text":"\ud83d"})",
        R"({"text":"\ud83d\u0041"})", "{\"text\":\"a\nb\"}", R"({"text":"a)", "{", "x"})
    EXPECT_TRUE(parsed(broken).starts_with("found broken JSON (")) << broken << parsed(broken);
}

TEST(JsonLines, BytesThatAreNotUtf8AreKeptInStrings) {
  JsonLineParser parser("file", "text");
  std::string line = "{\"\xff\":\"\xfe\",\"text\":\"a\\n\xc3(\xed\xa0\x80\"}";
  const std::size_t size = line.size();
  line.append(json_padding, '\0');
  const auto document = parser.parse(std::string_view(line).substr(0, size));
  EXPECT_TRUE(document.invalid_utf8);
  EXPECT_EQ(document.text, "a\n\xc3(\xed\xa0\x80");
  EXPECT_TRUE(parsed("{\"text\":\"\xff\",\xff}").starts_with("found broken JSON"));
  EXPECT_TRUE(parsed("{\"text\":\xff}").starts_with("found broken JSON"));
  EXPECT_EQ(parsed("{\"text\":1,\"\xff\":2}"),
            "found no string as the field \"text\", expected a string");
}

TEST(JsonLines, FieldsAreFoundWhereTheyAre) {
  JsonValue value;
  const std::string_view line =
      R"({"a":{"text":1,"s":"}\""},"b":[1,{"text":"]"}],"text" : "x\"y" })";
  EXPECT_EQ(find_fields(line, "text", value), 1U);
  EXPECT_TRUE(value.is_string);
  EXPECT_EQ(line.substr(value.begin, value.end - value.begin), R"(x\"y)");
  EXPECT_EQ(find_fields(line, "s", value), 0U);
  EXPECT_EQ(find_fields(R"({"a":1,"a":2})", "a", value), 2U);
  EXPECT_FALSE(value.is_string);
  // Anything else does no harm.
  for (const char* other : {"", "{", "{\"", "{\"a", "{\"a\":", "{\"a\":\"", "{\"a\":\"\\", "{]]]",
                            "[", "{\"a\":}]", "{\"a\":1,", "{\"a\"\"a\""})
    find_fields(other, "a", value);
}

TEST(JsonLines, WhatIsLeftKeepsItsEscapes) {
  // In bytes of the text: a 0, newline 1, e acute 2-3, b 4, face 5-8, c 9.
  const std::string_view raw = R"(a\n\u00e9b\uD83D\ude00c)";
  EXPECT_EQ(without(raw, {}), raw);
  EXPECT_EQ(without(raw, {{0, 1}}), R"(\n\u00e9b\uD83D\ude00c)");
  EXPECT_EQ(without(raw, {{1, 2}, {4, 5}}), R"(a\u00e9\uD83D\ude00c)");
  EXPECT_EQ(without(raw, {{2, 4}, {4, 9}}), R"(a\nc)");
  EXPECT_EQ(without(raw, {{9, 10}}), R"(a\n\u00e9b\uD83D\ude00)");
  EXPECT_EQ(without(raw, {{0, 10}}), "");
  EXPECT_EQ(without("abc", {{1, 1}, {1, 2}}), "ac");
}

}  // namespace
}  // namespace sortie::texts
