// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sortie/error.hpp"
#include "sortie/graph_clusters.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sortie::graphs {
namespace {

using matrices::Csr;
using test::context;
using testing::ElementsAre;

class GraphFiles : public testing::Test {
 protected:
  NamedGraph read(const std::string& text) {
    return read_graph(context(), folder_.write("graph", text));
  }
  std::string message(const std::string& text) {
    const std::string path = folder_.write("graph", text);
    const std::string all =
        test::error_message(ErrorKind::input, [&] { (void)read_graph(context(), path); });
    return all.substr(all.find("graph:"));
  }

  test::TemporaryFolder folder_;
};

TEST_F(GraphFiles, ReadsLinesOfLabels) {
  const NamedGraph graph = read("b a 2\n# a comment\n\n  a\tc\r\nc c 7\nd e 0\na b +3e0");
  EXPECT_THAT(graph.labels, ElementsAre("b", "a", "c", "d", "e"));
  const Csr<double> expected{5, 5, {0, 1, 3, 4, 4, 4}, {1, 0, 2, 1}, {3, 3, 1, 1}};
  EXPECT_EQ(graph.graph, expected);
}

TEST_F(GraphFiles, ReadsNoLines) {
  EXPECT_EQ(read("").graph.rows, 0);
  EXPECT_EQ(read("\n# nothing\n").graph.rows, 0);
}

TEST_F(GraphFiles, ReadsMatrices) {
  const NamedGraph graph =
      read("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 2\n");
  EXPECT_TRUE(graph.labels.empty());
  const Csr<double> expected{3, 3, {0, 2, 3, 4}, {1, 2, 0, 0}, {0.5, 2, 0.5, 2}};
  EXPECT_EQ(graph.graph, expected);
}

TEST_F(GraphFiles, RefusesBrokenLines) {
  EXPECT_EQ(message("a b\nc\n"), "graph:2: found one field, expected two labels and a weight");
  EXPECT_EQ(message("a b 1 2\n"),
            "graph:1: found more than three fields, expected two labels and a weight");
  for (const char* weight : {"-1", "nan", "inf", "1e999", "x", "1x", "--1"}) {
    EXPECT_EQ(message(std::string("a b\n\nc d ") + weight + "\n"),
              std::string("graph:3: found the weight \"") + weight +
                  "\", expected a number of at least 0");
  }
}

TEST_F(GraphFiles, RefusesMatricesThatAreNoGraphs) {
  EXPECT_EQ(message("%%MatrixMarket matrix coordinate real general\n3 2 1\n1 2 0.5\n"),
            "graph: found 3 rows and 2 columns, expected a square matrix");
  EXPECT_EQ(message("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 0.5 1\n"),
            "graph: found complex values, expected real weights");
  EXPECT_EQ(message("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -0.5\n"),
            "graph: found the weight -0.5 in row 1, column 2, expected a number of at least 0");
}

TEST_F(GraphFiles, WritesALineForEachCluster) {
  const Clusters clusters{{0, 2, 3}, {0, 2, 1}, 1, true};
  const std::string path = folder_.path("clusters");
  const auto written = [&] {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  write_clusters(path, clusters, {});
  EXPECT_EQ(written(), "1\t3\n2\n");
  write_clusters(path, clusters, {"x", "y", "z"});
  EXPECT_EQ(written(), "x\tz\ny\n");
}

}  // namespace
}  // namespace sortie::graphs
