// SPDX-License-Identifier: BSD-2-Clause
// Races that are there on purpose, and their counterparts without: does ThreadSanitizer see the one and keep quiet about the
// other, in this build? seeded_races.cmake asks. Without arguments: the names. Status 77: not built with ThreadSanitizer.
//
// The second thread goes on when the first is done, told by a relaxed atomic, which orders nothing: so what is found does
// not depend on timing.
#include <faultline/sim/basic_rules.hpp>
#include <faultline/substrate/native.hpp>
#include <faultline/sync/rangelock/queue.hpp>
#include <faultline/sync/rangelock/queue_rule.hpp>
#include <faultline/sync/sleeplock.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

namespace faultline {
namespace {

template <class First, class Second>
void one_then_the_other(First first, Second second) {
  std::atomic<bool> done = false;
  const auto other = native::spawn("other", [&] {
    while (!done.load(std::memory_order_relaxed)) native::relax();
    second();
  });
  first();
  done.store(true, std::memory_order_relaxed);
}
template <class Body>
void one_then_the_same(Body body) {
  one_then_the_other(body, body);
}

struct guarded {
  native::arena memory;
  native::mutex mutex{"m"};
  native::interlock interlock{"object", "o"};
  native::spec_lock rw{sim::the_shared_rule, "rw", "l"};
  sync::sleeplock<native> vnode{"vnode", "f", sync::sharing::share};
  native::var<int> n = 0;
};

void with_sleeplock(guarded& g, access how) {
  one_then_the_same([&g, how] {
    sync::lock_account td;
    g.vnode.acquire(td, how);
    native::set(g.n, native::get(g.n) + 1);
    g.vnode.release(td);
  });
}
void with_spec_lock(guarded& g, access how, bool tries) {
  one_then_the_same([&g, how, tries] {
    if (!tries || !g.rw.try_acquire({.how = how})) g.rw.acquire({.how = how});
    native::set(g.n, native::get(g.n) + 1);
    g.rw.release();
  });
}
void with_interlock(guarded& g, access how) {
  one_then_the_same([&g, how] {
    const section<native> inside{g.interlock, how};
    native::set(g.n, native::get(g.n) + 1);
  });
}

enum class kind { none, race, unseen };  ///< unseen: a race, but what is between orders more than it promises

struct seed {
  const char* name;
  kind what;
  void (*run)(guarded& g);
};

const char* shown(kind k) { return k == kind::race ? "race" : k == kind::none ? "none" : "unseen"; }

constexpr seed seeds[] = {
    {"no-lock", kind::race,
     [](guarded& g) { one_then_the_same([&g] { native::set(g.n, native::get(g.n) + 1); }); }},
    {"mutex", kind::none,
     [](guarded& g) {
       one_then_the_same([&g] {
         g.mutex.lock();
         native::set(g.n, native::get(g.n) + 1);
         g.mutex.unlock();
       });
     }},
    {"vnode-lock-shared", kind::race, [](guarded& g) { with_sleeplock(g, access::shared); }},
    {"vnode-lock-exclusive", kind::none, [](guarded& g) { with_sleeplock(g, access::exclusive); }},
    {"spec-lock-shared", kind::race, [](guarded& g) { with_spec_lock(g, access::shared, false); }},
    {"spec-lock-exclusive", kind::none, [](guarded& g) { with_spec_lock(g, access::exclusive, false); }},
    {"spec-lock-tried-shared", kind::race, [](guarded& g) { with_spec_lock(g, access::shared, true); }},
    {"spec-lock-tried-exclusive", kind::none, [](guarded& g) { with_spec_lock(g, access::exclusive, true); }},
    {"interlock-shared", kind::race, [](guarded& g) { with_interlock(g, access::shared); }},
    {"interlock-exclusive", kind::none, [](guarded& g) { with_interlock(g, access::exclusive); }},
    {"shared-then-exclusive", kind::none,
     [](guarded& g) {
       one_then_the_other(
           [&g] {
             const section<native> inside{g.interlock, access::shared};
             (void)native::get(g.n);
           },
           [&g] {
             const section<native> inside{g.interlock};
             native::set(g.n, 1);
           });
     }},
    // Both allocate in between: the arena's own lock is no order.
    {"allocations-in-one-arena", kind::race,
     [](guarded& g) {
       one_then_the_same([&g] {
         auto* const before = native::make<int>(1);
         native::set(g.n, native::get(g.n) + *before);
         auto* const after = native::make<int>(2);
         native::destroy(before);
         native::destroy(after);
       });
     }},
    // What one makes, another uses, without an order between them.
    {"object-handed-over-relaxed", kind::race,
     [](guarded&) {
       std::atomic<int*> handed = nullptr;
       one_then_the_other([&] { handed.store(native::make<int>(7), std::memory_order_relaxed); },
                          [&] { ++*handed.load(std::memory_order_relaxed); });
     }},
    {"object-handed-over-dependent", kind::none,
     [](guarded&) {
       std::atomic<int*> handed = nullptr;
       one_then_the_other([&] { handed.store(native::make<int>(7), std::memory_order_release); },
                          [&] { ++*native::load_dependent(handed); });
     }},
    {"page-contents", kind::none,
     [](guarded&) {
       auto& page = *native::make<native::racy_bytes>(std::size_t{256}, "page");
       one_then_the_same([&] { native::fill(page, 3, 200, std::byte{1}); });
     }},
    {"page-used-after-it-was-freed", kind::race,
     [](guarded&) {
       auto* const page = native::make<native::racy_bytes>(std::size_t{256}, "page");
       one_then_the_other([&] { native::destroy(page); }, [&] { native::fill(*page, 0, 8, std::byte{1}); });
     }},
    {"last-user-frees", kind::none,
     [](guarded&) {
       native::use_count users{2};
       auto* const n = native::make<int>(1);
       one_then_the_same([&] {
         (void)*n;
         if (users.drop()) native::destroy(n);
       });
     }},
    // An access through a translation, and what its shootdown was waited for.
    {"after-a-shootdown", kind::none,
     [](guarded& g) {
       auto& page = *native::make<native::racy_bytes>(std::size_t{64}, "page");
       std::array<std::byte, 1> byte{};
       one_then_the_other(
           [&] {
             (void)native::write_if(
                 [&g] {
                   native::set(g.n, 1);
                   return true;
                 },
                 page, 0, byte);
           },
           [&] {
             native::end_accesses(page, [] {});
             native::set(g.n, 2);
           });
     }},
    // What docs/contributing.md says that it cannot see.
    {"range-queue-shared", kind::unseen,
     [](guarded& g) {
       sync::rangelock_queue<native> range{"f"};
       one_then_the_same([&] {
         const auto mine = range.acquire({0, 8}, access::shared);
         native::set(g.n, native::get(g.n) + 1);
       });
     }},
    {"spec-lock-disjoint-ranges", kind::unseen,
     [](guarded& g) {
       sync::rangelock_spec<native> range{"f"};
       std::atomic<std::uint64_t> next = 0;
       one_then_the_same([&] {
         const auto first = next.fetch_add(8, std::memory_order_relaxed);
         const auto mine = range.acquire({first, first + 8}, access::exclusive);
         native::set(g.n, native::get(g.n) + 1);
       });
     }},
    {"around-accesses-through-translations", kind::unseen,
     [](guarded& g) {
       auto& page = *native::make<native::racy_bytes>(std::size_t{64}, "page");
       one_then_the_same([&] {
         std::array<std::byte, 8> bytes{};
         const auto valid = [] { return true; };
         (void)native::read_if(valid, page, 0, bytes);
         native::set(g.n, native::get(g.n) + 1);
         (void)native::read_if(valid, page, 0, bytes);
       });
     }},
};

}  // namespace
}  // namespace faultline

int main(int argc, char** argv) {
  if (!faultline::race_detector::present) {
    std::puts("skipped: not built with ThreadSanitizer");
    return 77;
  }
  if (argc != 2) {
    for (const auto& s : faultline::seeds) std::printf("%s %s\n", s.name, faultline::shown(s.what));
    return 0;
  }
  for (const auto& s : faultline::seeds) {
    if (std::strcmp(s.name, argv[1]) != 0) continue;
    faultline::guarded g;
    s.run(g);
    return 0;
  }
  std::fprintf(stderr, "no seed '%s'\n", argv[1]);
  return 2;
}
