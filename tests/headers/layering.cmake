# cmake -D ROOT=<source tree> -P layering.cmake
#
# Checks what one part may use of another. Each finding is a line "<file>:<line>: <rule>: <text>"; the rules:
#   layer      an include goes to the right in the order below, or to a folder that has no place in it
#   heavy      a public header includes fmt or GoogleTest (allowed: *_fmt.hpp, conformance/)
#   fiber      Boost.Context outside src/sim (and bench/explore, which measures a step against a bare switch)
#   substrate  a mechanism uses threads, clocks or locks of the standard library or the system
# Comments are not looked at. Not seen: what a macro or a generated file includes.
cmake_minimum_required(VERSION 3.25)

# What each folder may include besides itself. device and sync are peers. src/cli, src/instantiate, tests and
# bench may include anything.
set(may_core "")
set(may_sim core)
set(may_substrate ${may_sim} sim)
set(may_device ${may_substrate} substrate)
set(may_sync ${may_substrate} substrate)
set(may_vm ${may_sync} device sync)
set(may_vfs ${may_vm} vm)
set(may_kern ${may_vfs} vfs)
set(may_policy ${may_kern} kern)
set(may_scenario ${may_policy} policy)
set(may_conformance ${may_scenario} scenario)
set(layers core sim substrate device sync vm vfs kern policy scenario conformance)
set(mechanisms device sync vm vfs kern policy scenario)

set(include "#[ \t]*include[ \t]*[<\"]")
set(before "[^A-Za-z0-9_]")
set(after "[^A-Za-z0-9_]")
set(substrate_patterns
  "${before}std::(recursive_|shared_|timed_)*mutex${after}"
  "${before}std::(jthread|thread|this_thread|condition_variable|condition_variable_any)${after}"
  "${before}(counting_semaphore|binary_semaphore|call_once|once_flag)${after}"
  "${before}(steady_clock|system_clock|high_resolution_clock|clock_gettime|gettimeofday)${after}"
  "${before}(usleep|nanosleep|thread_local|pthread_[a-z_]+)${after}"
  "${include}(thread|mutex|shared_mutex|condition_variable|semaphore|latch|barrier|future|unistd\\.h|pthread\\.h)[>\"]")

set(findings "")

# report(<file> <text> <match> <rule> <message>): a finding for each place where `match` stands in `text`
function(report file text match rule message)
  set(line 0)  # read_code() puts a newline before the first
  string(FIND "${text}" "${match}" at)
  while(NOT at EQUAL -1)
    string(SUBSTRING "${text}" 0 ${at} head)
    string(LENGTH "${match}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${text}" ${at} -1 text)
    string(REGEX MATCHALL "\n" newlines "${head}")
    list(LENGTH newlines passed)
    math(EXPR line "${line} + ${passed}")
    string(REGEX MATCHALL "\n" newlines "${match}")
    list(LENGTH newlines passed)
    set(here ${line})
    if(match MATCHES "^\n")  # a match may begin with the newline before it
      math(EXPR here "${line} + 1")
    endif()
    math(EXPR line "${line} + ${passed}")
    list(APPEND findings "${file}:${here}: ${rule}: ${message}")
    string(FIND "${text}" "${match}" at)
  endwhile()
  set(findings "${findings}" PARENT_SCOPE)
endfunction()

# each_match(<file> <text> <pattern> <rule> <message>)
macro(each_match file text pattern rule message)
  string(REGEX MATCHALL "${pattern}" matches "${text}")
  list(REMOVE_DUPLICATES matches)
  foreach(match IN LISTS matches)
    string(REGEX REPLACE "^[^A-Za-z_#]+" "" word "${match}")
    string(REGEX REPLACE "[^A-Za-z0-9_>\"]+$" "" word "${word}")
    report("${file}" "${text}" "${match}" ${rule} "${message} (${word})")
  endforeach()
endmacro()

# read_code(<file> <out>): the text without comments, with its lines
function(read_code file out)
  file(READ "${file}" text)
  string(REPLACE ";" " " text "${text}")
  string(REPLACE "\\" " " text "${text}")  # each_match() is a macro, and would take them for its own
  string(REGEX REPLACE "[][]" " " text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX MATCH "/\\*([^*]|\\*+[^*/])*\\*+/" comment "${text}")
  while(comment)
    string(REGEX REPLACE "[^\n]+" "" newlines "${comment}")
    string(REPLACE "${comment}" " ${newlines}" text "${text}")
    string(REGEX MATCH "/\\*([^*]|\\*+[^*/])*\\*+/" comment "${text}")
  endwhile()
  set(${out} "\n${text}\n" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${ROOT}
  ${ROOT}/include/*.hpp ${ROOT}/src/*.hpp ${ROOT}/src/*.cpp
  ${ROOT}/tests/*.hpp ${ROOT}/tests/*.cpp ${ROOT}/bench/*.hpp ${ROOT}/bench/*.cpp)
list(FILTER files EXCLUDE REGEX "^tests/headers/fixtures/")
list(SORT files)

set(looked_at 0)
foreach(file IN LISTS files)
  math(EXPR looked_at "${looked_at} + 1")
  read_code(${ROOT}/${file} text)
  set(public FALSE)
  set(folder "")
  if(file MATCHES "^include/faultline/(.*)$")
    set(public TRUE)
    set(rest "${CMAKE_MATCH_1}")
    if(rest MATCHES "^([^/]+)/")
      set(folder ${CMAKE_MATCH_1})
      if(NOT folder IN_LIST layers)
        list(APPEND findings "${file}:1: layer: folder '${folder}' has no place in the order of includes")
      endif()
    endif()
  elseif(file MATCHES "^src/([^/]+)/" AND CMAKE_MATCH_1 IN_LIST layers)
    set(folder ${CMAKE_MATCH_1})
  endif()

  if(folder IN_LIST layers)
    string(REGEX MATCHALL "${include}faultline/[^>\"\n]+[>\"]" lines "${text}")
    list(REMOVE_DUPLICATES lines)
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^.*[<\"]faultline/([^>\"]+)[>\"]$" "\\1" header "${line}")
      if(header MATCHES "^([^/]+)/")
        set(target ${CMAKE_MATCH_1})
        if(NOT target STREQUAL folder AND NOT target IN_LIST may_${folder})
          report(${file} "${text}" "${line}" layer "${folder} may not include faultline/${header}")
        endif()
      else()
        report(${file} "${text}" "${line}" layer "${folder} may not include faultline/${header}, which is of no folder")
      endif()
    endforeach()
  endif()

  if(public AND NOT folder STREQUAL "conformance" AND NOT file MATCHES "_fmt\\.hpp$")
    each_match(${file} "${text}" "${include}(fmt|gtest|gmock)/[^>\"\n]+[>\"]" heavy "too heavy for a public header")
  endif()
  if(NOT file MATCHES "^(src/sim|bench/explore)/")
    each_match(${file} "${text}" "${include}boost/context[^>\"\n]*[>\"]" fiber "only src/sim knows Boost.Context")
  endif()
  if(folder IN_LIST mechanisms)
    foreach(pattern IN LISTS substrate_patterns)
      each_match(${file} "${text}" "${pattern}" substrate "a mechanism uses its substrate")
    endforeach()
  endif()
endforeach()

if(findings)
  list(SORT findings COMPARE NATURAL)
  list(LENGTH findings count)
  list(JOIN findings "\n" lines)
  message("${lines}")
  message(FATAL_ERROR "${count} findings in ${looked_at} files")
endif()
message("${looked_at} files keep to the order of includes")
