// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "apps/graph_clusters/markov.hpp"
#include "core/random.hpp"
#include "sortie/error.hpp"
#include "sortie/graph_clusters.hpp"
#include "sortie/matrix_market.hpp"
#include "tests/support/backend.hpp"
#include "tests/support/expect_error.hpp"

namespace sortie::graphs {
namespace {

using matrices::Coo;
using matrices::Csr;
using test::context;
using testing::ElementsAre;
using testing::HasSubstr;

using Edges = std::vector<std::pair<int, int>>;

/// An undirected graph of edges between vertices from 0. \param weights  of the edges; default 1
Csr<double> graph_of(int vertices, const Edges& edges, const std::vector<double>& weights = {}) {
  Coo<double> coo{vertices, vertices, {}, {}, {}};
  for (std::size_t i = 0; i < edges.size(); ++i) {
    coo.row_idx.push_back(edges[i].first);
    coo.col_idx.push_back(edges[i].second);
    coo.values.push_back(weights.empty() ? 1 : weights[i]);
  }
  return undirected_graph(context(), matrices::to_csr(coo), "graph");
}

/// A random graph whose vertices are joined with a high probability if they are in one of the
/// groups of equal size.
Csr<double> planted(int vertices, int groups, double inside, double outside, int seed) {
  Random random(seed);
  Edges edges;
  std::vector<double> weights;
  for (int a = 0; a < vertices; ++a) {
    for (int b = 0; b < a; ++b) {
      const double limit = a % groups == b % groups ? inside : outside;
      if (static_cast<double>(random.next() >> 11) * 0x1p-53 >= limit) continue;
      edges.emplace_back(a, b);
      weights.push_back(0.25 + static_cast<double>(random.next() >> 11) * 0x1p-53);
    }
  }
  return graph_of(vertices, edges, weights);
}

Csr<double> graph_in(const std::string& name) {
  const auto matrix =
      matrices::read_matrix_market<double>(context(), SORTIE_TEST_DATA "/matrices/valid/" + name);
  return undirected_graph(context(), matrix, name);
}

/// Members of all clusters.
std::vector<std::vector<int>> members(const Clusters& clusters) {
  std::vector<std::vector<int>> all;
  for (std::int64_t i = 0; i < clusters.count(); ++i)
    all.emplace_back(clusters.members.begin() + clusters.begins[i],
                     clusters.members.begin() + clusters.begins[i + 1]);
  return all;
}

Limit limit_of(const Csr<double>& graph, const ClusterOptions& options) {
  return find_limit(context(), stochastic_matrix(context(), graph), options);
}

TEST(FindClusters, TwoTrianglesWithAnEdgeBetweenThem) {
  const auto graph = graph_of(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {5, 3}});
  EXPECT_THAT(members(find_clusters(context(), graph)),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
}

TEST(FindClusters, ExampleOfTheManualPageOfMcl) {
  // cat hat bat bit fit hit
  const auto graph = graph_of(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {5, 3}},
                              {0.2, 0.16, 1.0, 0.125, 0.25, 0.5, 0.16});
  const Clusters clusters = find_clusters(context(), graph);
  EXPECT_THAT(members(clusters), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
  EXPECT_TRUE(clusters.converged);
  EXPECT_EQ(clusters.iterations, 13);  // as mcl 22-282
}

TEST(FindClusters, AVertexBetweenTwoClustersIsInTheFirst) {
  const auto graph = graph_of(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  EXPECT_THAT(members(find_clusters(context(), graph)),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
  // Vertex 0 is between 1, 4 and 2, 3.
  const auto turned = graph_of(5, {{4, 1}, {1, 0}, {0, 2}, {2, 3}});
  EXPECT_THAT(members(find_clusters(context(), turned)),
              ElementsAre(ElementsAre(0, 1, 4), ElementsAre(2, 3)));
}

TEST(FindClusters, ClustersAreInOrderOfSizeAndLeastMember) {
  const auto graph = graph_of(9, {{1, 8}, {0, 7}, {2, 3}, {3, 4}, {4, 2}});
  EXPECT_THAT(members(find_clusters(context(), graph)),
              ElementsAre(ElementsAre(2, 3, 4), ElementsAre(0, 7), ElementsAre(1, 8),
                          ElementsAre(5), ElementsAre(6)));
}

TEST(FindClusters, GraphsWithoutEdgesAndWithoutVertices) {
  EXPECT_THAT(members(find_clusters(context(), graph_of(2, {}))),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_EQ(find_clusters(context(), graph_of(0, {})).count(), 0);
}

TEST(FindClusters, FindsAsManyAsMclInRealGraphs) {
  // What mcl 22-282 finds, with its default pruning and without.
  const std::map<std::string, std::int64_t> graphs = {
      {"Erdos971.mtx", 150}, {"bcspwr10.mtx", 1752}, {"can___24.mtx", 4}};
  for (const auto& [name, count] : graphs) {
    const auto graph = graph_in(name);
    const Clusters clusters = find_clusters(context(), graph);
    EXPECT_EQ(clusters.count(), count) << name;
    ClusterOptions all;
    all.pruning = Pruning::none();
    if (graph.rows < 1000) {
      EXPECT_EQ(members(find_clusters(context(), graph, all)), members(clusters)) << name;
      EXPECT_NO_THROW(check_clusters(context(), graph, all, clusters)) << name;
    }
  }
}

TEST(FindClusters, StopsAfterTheIterationsAllowed) {
  ClusterOptions options;
  options.max_iterations = 2;
  const Clusters clusters = find_clusters(context(), planted(60, 4, 0.6, 0.05, 1), options);
  EXPECT_EQ(clusters.iterations, 2);
  EXPECT_FALSE(clusters.converged);
  EXPECT_EQ(clusters.members.size(), 60u);
}

TEST(FindClusters, WeightsOfAnySize) {
  for (const double scale : {1e-300, 1.0, 1e300}) {
    const auto graph = graph_of(4, {{0, 1}, {1, 2}, {2, 3}}, {scale, scale * 1e-6, scale});
    EXPECT_THAT(members(find_clusters(context(), graph)),
                ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  }
}

/// Options, and the name of the test.
struct OptionCase {
  const char* name;
  ClusterOptions options;
};

class FindLimit : public testing::TestWithParam<OptionCase> {};

/// Bit for bit: sums in double precision are rounded to the same entries whatever their order.
TEST_P(FindLimit, IsThatOfThePlainAlgorithm) {
  const ClusterOptions& options = GetParam().options;
  std::vector<Csr<double>> graphs;
  graphs.push_back(planted(1, 1, 0, 0, 1));
  graphs.push_back(planted(37, 3, 0.5, 0.05, 2));
  graphs.push_back(planted(300, 9, 0.4, 0.02, 3));
  graphs.push_back(planted(400, 2, 0.03, 0.01, 4));
  graphs.push_back(graph_in("can___24.mtx"));
  Edges star;
  for (int leaf = 1; leaf < 400; ++leaf) star.emplace_back(0, leaf);
  graphs.push_back(graph_of(400, star));
  for (const auto& graph : graphs) {
    const Limit expected = plain_limit(stochastic_matrix(context(), graph), options);
    const Limit found = limit_of(graph, options);
    EXPECT_EQ(found.iterations, expected.iterations);
    EXPECT_EQ(found.converged, expected.converged);
    EXPECT_EQ(found.matrix, expected.matrix);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, FindLimit,
    testing::Values(OptionCase{"Defaults", {}}, OptionCase{"NoPruning", {2, Pruning::none(), 100}},
                    OptionCase{"SmallInflation", {.inflation = 1.4, .pruning = {}}},
                    OptionCase{"LargeInflation", {.inflation = 20, .pruning = {}}},
                    OptionCase{"FewEntries", {2, {1e-3, 10, 14, 0.9}, 1000}},
                    OptionCase{"FewerRecoveredThanKept", {2, {1e-3, 10, 4, 0.9}, 1000}},
                    OptionCase{"AllBelowTheLimit", {2, {0.9, 10, 14, 0}, 100}},
                    OptionCase{"OneEntry", {2, {0, 1, 1, 0.5}, 100}}),
    [](const testing::TestParamInfo<OptionCase>& info) { return info.param.name; });

TEST(FindClusters, RefusesBadOptions) {
  const auto graph = graph_of(2, {{0, 1}});
  const auto expect_refused = [&](const ClusterOptions& options, const std::string& message) {
    test::expect_error([&] { (void)find_clusters(context(), graph, options); }, ErrorKind::usage,
                       HasSubstr(message));
  };
  ClusterOptions options;
  for (const double inflation : {1.0, 0.5, -2.0, std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity()}) {
    options.inflation = inflation;
    expect_refused(options, "expected a number above 1");
  }
  options = {};
  options.pruning.keep_top = 0;
  expect_refused(options, "keep top: found 0, expected at least 1");
  options = {};
  options.pruning.prune_below = 1;
  expect_refused(options, "prune below: found 1, expected");
  options = {};
  options.max_iterations = 0;
  expect_refused(options, "iterations: found 0");
}

TEST(FindClusters, RefusesBadGraphs) {
  const auto refuse = [](const Csr<double>& matrix) {
    return test::error_message(ErrorKind::input,
                               [&] { (void)undirected_graph(context(), matrix, "a.mtx"); });
  };
  EXPECT_EQ(refuse({2, 3, {0, 0, 0}, {}, {}}),
            "a.mtx: found 2 rows and 3 columns, expected a square matrix");
  EXPECT_EQ(refuse({2, 2, {0, 0, 1}, {0}, {-1}}),
            "a.mtx: found the weight -1 in row 2, column 1, expected a number of at least 0");
  EXPECT_THAT(refuse({1, 1, {0, 1}, {0}, {std::numeric_limits<double>::quiet_NaN()}}),
              HasSubstr("found the weight nan in row 1, column 1"));
  EXPECT_THAT(refuse({1, 1, {0, 1}, {0}, {std::numeric_limits<double>::infinity()}}),
              HasSubstr("found the weight inf"));
}

TEST(UndirectedGraph, TakesTheGreaterWeightAndLeavesTheDiagonalOut) {
  const Csr<double> matrix{3, 3, {0, 3, 4, 5}, {0, 1, 2, 0, 2}, {9, 2, 0, 3, 4}};
  const Csr<double> expected{3, 3, {0, 1, 2, 2}, {1, 0}, {3, 3}};
  EXPECT_EQ(undirected_graph(context(), matrix, "graph"), expected);
}

TEST(CheckClusters, FindsAVertexInAnotherCluster) {
  const auto graph = graph_of(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {5, 3}});
  Clusters clusters = find_clusters(context(), graph);
  EXPECT_NO_THROW(check_clusters(context(), graph, {}, clusters));
  std::swap(clusters.members[0], clusters.members[3]);
  test::expect_error([&] { check_clusters(context(), graph, {}, clusters); }, ErrorKind::check,
                     "clusters: vertex 1: found cluster 2, expected 1");
}

}  // namespace
}  // namespace sortie::graphs
