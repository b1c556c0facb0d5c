# cmake -D PROGRAM=<faultline> -P layout.cmake
# One seed, one report, whether addresses are drawn at random or not. Only the seconds may differ.
cmake_minimum_required(VERSION 3.25)

find_program(SETARCH setarch)
if(NOT SETARCH)
  message(FATAL_ERROR "setarch is not there: it is part of util-linux")
endif()
execute_process(COMMAND ${SETARCH} -R true RESULT_VARIABLE refused ERROR_QUIET)
if(refused)
  message(STATUS "skipped: this machine does not let a process choose its address layout")
  return()
endif()
foreach(search IN ITEMS
    "vn-io-fault/crossed-write --policy vnode-locked --strategy random --seed 3 --executions 200 --all"
    "vn-io-fault/crossed-write --policy vn-io-fault --all"
    "lib/seqlock --memory weak --omit SQ1 --all"
    "lib/treiber-aba --strategy pos --executions 300 --all"
    "lib/priority-inversion --strategy pct --executions 100 --all")
  separate_arguments(arguments UNIX_COMMAND "explore ${search} --json")
  set(seen)
  foreach(run IN ITEMS "" "" "${SETARCH};-R" "${SETARCH};-R")
    execute_process(COMMAND ${run} ${PROGRAM} ${arguments} OUTPUT_VARIABLE out RESULT_VARIABLE status)
    if(status GREATER 1)
      message(FATAL_ERROR "explore ${search}: status ${status}")
    endif()
    string(REGEX REPLACE "\"seconds\":[^,]*," "" out "${out}")
    string(REPLACE ";" "," out "${out}")
    list(APPEND seen "${status} ${out}")
  endforeach()
  list(REMOVE_DUPLICATES seen)
  list(LENGTH seen different)
  if(NOT different EQUAL 1)
    message(FATAL_ERROR "explore ${search}: the same seed gave different reports:\n${seen}")
  endif()
endforeach()
