// SPDX-License-Identifier: BSD-2-Clause
// The check of histories, of a register and a bag, made by hand.
#include "support/cell.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace faultline {
namespace {

using test::cell;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// put(n), and take(), which gives any of what is there, 0 if there is nothing.
struct bag {
  struct call {
    int put = 0;  ///< 0: take
  };
  using result = int;
  std::vector<int> there{};  // sorted

  bool admits(const call& c, result gave) {
    if (c.put != 0) {
      there.insert(std::upper_bound(there.begin(), there.end(), c.put), c.put);
      return gave == 0;
    }
    if (gave == 0) return there.empty();
    const auto at = std::find(there.begin(), there.end(), gave);
    if (at == there.end()) return false;
    there.erase(at);
    return true;
  }
  [[nodiscard]] std::vector<bag> pending(const call& c) const {
    std::vector<bag> all;
    auto next = *this;
    if (c.put != 0) {
      (void)next.admits(c, 0);
      return {next};
    }
    for (const int n : there) {
      next = *this;
      (void)next.admits(c, n);
      all.push_back(next);
    }
    return all;
  }
  static std::string text(const call& c) { return c.put == 0 ? "take" : "put " + std::to_string(c.put); }
  static std::string text(result r) { return std::to_string(r); }
  friend bool operator==(const bag&, const bag&) = default;
};
static_assert(sim::permissive_model<bag> && sim::sequential_model<bag>);

constexpr cell::call read{};
constexpr cell::call write(int n) { return {.writes = true, .value = n}; }

TEST(Linearizable, nothing_and_calls_one_after_the_other_are) {
  sim::history<cell> h;
  EXPECT_TRUE(sim::check(cell{}, h));
  h.invoked(0, write(1));
  h.returned(0, 0);
  h.invoked(1, read);
  h.returned(1, 1);
  const auto found = sim::check(cell{}, h);
  EXPECT_TRUE(found.linearizable);
  EXPECT_THAT(found.order, ElementsAre(0U, 1U));
  EXPECT_EQ(found.text, "");
}

TEST(Linearizable, overlapping_calls_may_take_effect_in_either_order) {
  for (const int seen : {0, 1}) {
    sim::history<cell> h;
    h.invoked(0, write(1));
    h.invoked(1, read);
    h.returned(1, seen);
    h.returned(0, 0);
    const auto found = sim::check(cell{}, h);
    EXPECT_TRUE(found) << found.text;
    EXPECT_THAT(found.order, seen == 0 ? ElementsAre(1U, 0U) : ElementsAre(0U, 1U));
  }
}

TEST(Linearizable, a_read_after_a_write_has_returned_must_see_it) {
  sim::history<cell> h;
  h.invoked(0, write(1), 1);
  h.returned(0, 0, 4);
  h.invoked(1, read, 5);
  h.returned(1, 0, 8);
  h.invoked(0, read, 9);  // not part of the shortest beginning
  h.returned(0, 1, 10);
  const auto found = sim::check(cell{}, h, std::vector<std::string>{"w", "reader"});
  EXPECT_FALSE(found);
  EXPECT_EQ(found.prefix, 4U);
  EXPECT_EQ(found.misfit, 1U);
  EXPECT_THAT(found.order, ElementsAre(0U));
  EXPECT_EQ(found.text,
            "not linearizable: reader: read -> 0 fits at no point\n"
            "  the calls until it returned, with the steps at which they were made and returned:\n"
            "    [1, 4]  w       write 1  -> 0\n"
            "    [5, 8]  reader  read     -> 0   <- fits at no point\n"
            "  the longest order that fits, and none of the others can come next:\n"
            "    1. w: write 1 -> 0");
}

TEST(Linearizable, new_then_old_is_not_though_each_read_overlaps_the_write) {
  sim::history<cell> h;
  h.invoked(0, write(1));
  h.invoked(1, read);
  h.returned(1, 1);
  h.invoked(1, read);
  h.returned(1, 0);
  const auto found = sim::check(cell{}, h);
  EXPECT_EQ(found.misfit, 2U);
  EXPECT_THAT(found.text, HasSubstr("T0: write 1"));
  EXPECT_THAT(found.text, HasSubstr("(has not returned)"));
  EXPECT_THAT(found.text, HasSubstr("[0, -]"));
}

TEST(Linearizable, a_call_that_did_not_return_may_have_taken_effect_or_not) {
  for (const int seen : {0, 1}) {
    sim::history<cell> h;
    h.invoked(0, write(1));
    h.invoked(1, read);
    h.returned(1, seen);
    EXPECT_TRUE(sim::check(cell{}, h));
  }
  sim::history<cell> h;
  h.invoked(1, read);
  h.returned(1, 1);
  h.invoked(0, write(1));  // made after the read had returned
  EXPECT_FALSE(sim::check(cell{}, h));
}

TEST(Linearizable, a_result_that_nothing_gives_can_not_even_come_first) {
  sim::history<cell> h;
  h.invoked(0, read);
  h.returned(0, 7);
  const auto found = sim::check(cell{}, h);
  EXPECT_THAT(found.order, IsEmpty());
  EXPECT_THAT(found.text, HasSubstr("none of them can come first"));
}

TEST(Linearizable, a_model_may_allow_several_results) {
  const auto taken = [](int first, int second) {
    sim::history<bag> h;
    for (const int n : {1, 2}) {
      h.invoked(0, {.put = n});
      h.returned(0, 0);
    }
    for (const int n : {first, second}) {
      h.invoked(1, {});
      h.returned(1, n);
    }
    return sim::check(bag{}, h).linearizable;
  };
  EXPECT_TRUE(taken(1, 2));
  EXPECT_TRUE(taken(2, 1));
  EXPECT_FALSE(taken(1, 1));
  EXPECT_FALSE(taken(1, 0));
}

TEST(Linearizable, a_pending_call_of_such_a_model_may_have_done_any_of_it) {
  for (const int left : {1, 2, 0}) {
    sim::history<bag> h;
    for (const int n : {1, 2}) {
      h.invoked(0, {.put = n});
      h.returned(0, 0);
    }
    h.invoked(1, {});  // takes one of them, or nothing yet
    h.invoked(2, {});
    h.returned(2, 1);
    h.invoked(2, {});
    h.returned(2, left);
    EXPECT_EQ(sim::check(bag{}, h).linearizable, left != 1) << left;
  }
}

TEST(Linearizable, sixty_four_calls_are_checked_and_more_are_refused) {
  sim::history<cell> h;
  for (sim::task_id t = 0; t < 64; ++t) {
    h.invoked(t % 4, write(static_cast<int>(t) + 1));
    h.returned(t % 4, static_cast<int>(t));
  }
  EXPECT_TRUE(sim::check(cell{}, h));
  h.invoked(0, read);
  try {
    (void)sim::check(cell{}, h);
    FAIL() << "65 calls";
  } catch (const std::length_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("65 calls is too long to be checked; 64 calls can be"));
  }
}

TEST(Linearizable, a_check_that_would_take_for_ever_is_given_up) {
  sim::history<bag> h;
  for (sim::task_id t = 0; t < 30; ++t) h.invoked(t, {.put = static_cast<int>(t) + 1});
  for (sim::task_id t = 0; t < 30; ++t) h.returned(t, t == 29 ? 99 : 0);
  EXPECT_THROW((void)sim::check(bag{}, h), std::length_error);
}

TEST(History, wants_a_call_before_its_return_and_one_call_at_a_time) {
  sim::history<cell> h;
  EXPECT_THROW(h.returned(0, 0), std::logic_error);
  h.invoked(0, read);
  EXPECT_THROW(h.invoked(0, read), std::logic_error);
  h.returned(0, 0);
  EXPECT_THROW(h.returned(0, 0), std::logic_error);
  EXPECT_EQ(h.events(), 2U);
  h.clear();
  EXPECT_EQ(h.events(), 0U);
  EXPECT_THAT(h.calls(), IsEmpty());
}

}  // namespace
}  // namespace faultline
