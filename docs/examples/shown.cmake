# cmake -D PAGE=<page.md> (-D SOURCE=<file> | -D PROGRAM=<program>) -P shown.cmake
# The page has a code block that is the file, or what the program prints, and nothing else.
cmake_minimum_required(VERSION 3.25)

file(READ ${PAGE} page)
if(DEFINED SOURCE)
  file(READ ${SOURCE} shown)
  set(fence "```cpp\n")
  set(what ${SOURCE})
else()
  execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE shown COMMAND_ERROR_IS_FATAL ANY)
  set(fence "```text\n")
  set(what "the output of ${PROGRAM}")
endif()
string(FIND "${page}" "${fence}${shown}```\n" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${PAGE} does not show ${what} as it is:\n${shown}")
endif()
