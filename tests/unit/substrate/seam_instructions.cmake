# cmake -D PROGRAM=<seam_instructions> -P seam_instructions.cmake
# A mechanism over `native` executes as many instructions as the same written by hand. Counted by callgrind, inside run()
# only: what starting the program and its thread takes is not always the same.
cmake_minimum_required(VERSION 3.25)

find_program(VALGRIND valgrind)
if(NOT VALGRIND)
  message("skipped: valgrind is not installed")
  return()
endif()
execute_process(COMMAND ${PROGRAM} refcount_native 1 RESULT_VARIABLE status OUTPUT_VARIABLE output)
if(status EQUAL 77)
  message("${output}")
  return()
elseif(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} does not run: ${status}")
endif()

# instructions(<pair> <out>): of 1000 pairs and the loop around them
function(instructions pair out)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env LD_BIND_NOW=1
      ${VALGRIND} --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=*repeated*::run*
      ${PROGRAM} ${pair} 1000
    RESULT_VARIABLE status
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0 OR NOT output MATCHES "Collected : ([0-9]+)")
    message("skipped: valgrind cannot run ${PROGRAM} here\n${output}")
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  if(CMAKE_MATCH_1 LESS 1000)
    message(FATAL_ERROR "${pair}: run() was not found, or did nothing: ${CMAKE_MATCH_1} instructions")
  endif()
  set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

set(wrong "")
foreach(mechanism refcount found counter)
  foreach(by native by_hand)
    instructions(${mechanism}_${by} ${by})
    if(NOT ${by})
      return()
    endif()
  endforeach()
  message("${mechanism}: 1000 pairs take ${native} instructions over native, ${by_hand} by hand")
  if(NOT native EQUAL by_hand)
    list(APPEND wrong ${mechanism})
  endif()
endforeach()
if(wrong)
  message(FATAL_ERROR "the seam is not free: ${wrong}")
endif()
