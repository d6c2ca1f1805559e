// What a set of random graphs has in it: every op and dtype, and the forms that programs go wrong on.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tests/reference/batch.h"

namespace uop::reference {

class GraphCoverage {
 public:
  /// Every form is there from the start, with no graph.
  GraphCoverage();

  void add(const RandomCase& c, std::span<const Variant> variants);

  int graphs() const { return graphs_; }
  /// How many graphs have the form, by its name: an op, a dtype, an option, or a phrase ("one buffer bound twice").
  const std::map<std::string, int>& counts() const { return counts_; }

 private:
  void count(const std::string& form, bool has) { counts_[form] += has ? 1 : 0; }

  int graphs_ = 0;
  std::map<std::string, int> counts_;
};

}  // namespace uop::reference
