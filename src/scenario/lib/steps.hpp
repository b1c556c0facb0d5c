// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Load-bearing steps of the small programs: those whose mechanism is the program itself.
#include <faultline/core/step.hpp>

namespace faultline::scenario::lib {

inline constexpr step test_under_the_lock{"flag.test-under-the-lock", "CV1",
                                          "lost wake-up: the flag is raised between the test and the sleep"};
inline constexpr step drop_before_upgrade{"upgrade.drop-before", "RW1",
                                          "deadlock: two sharers wait for each other to go"};
inline constexpr step look_again_after_retake{"upgrade.look-again", "RW2", "both insert what neither found"};
inline constexpr step yield_to_writers{"readers.yield-to-writers", "RW3",
                                       "starvation: a writer waits for as long as readers overlap"};
inline constexpr step lend_to_owner{
    "turnstile.lend-to-owner", "PI1",
    "inversion: an urgent task waits for whatever runs before the owner of its lock"};
inline constexpr step lower_fork_first{"philosophers.lower-fork-first", "PH1",
                                       "deadlock: everybody has one fork"};
inline constexpr step recheck_identity{"lookup.recheck-identity", "DL1",
                                       "a page is used that has become another's"};
inline constexpr step recheck_under_lock{"init.recheck-under-lock", "DC1", "the object is made twice"};
inline constexpr step publish_with_release{"init.publish-with-release", "DC2",
                                           "race: the object is seen before its contents"};

}  // namespace faultline::scenario::lib
