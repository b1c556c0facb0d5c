# The shipped scenario files, sorted: built into the library and installed. A new file is added here by hand.
set(faultline_scenarios
  busy-truncate.scn
  crossed-read.scn
  crossed-write.scn
  crossed-write-two-pages.scn
  self-read.scn
  self-write.scn
  torn-write.scn
)
list(TRANSFORM faultline_scenarios PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
