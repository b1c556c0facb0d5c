# cmake -P layering_selftest.cmake
# Runs layering.cmake on the fixtures. A line there that ends in "// reported: <rule>" must be reported under that
# rule, and nothing else may be; the tree without such lines must pass.
cmake_minimum_required(VERSION 3.25)

# expectations(<root> <out>): "<file>:<line>: <rule>" for each marked line
function(expectations root out)
  set(expected "")
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/*.hpp ${root}/*.cpp)
  foreach(file IN LISTS files)
    file(READ ${root}/${file} text)
    string(REGEX REPLACE "[][;]" " " text "${text}")
    string(REPLACE "\n" ";" lines "${text}")
    set(number 0)
    foreach(line IN LISTS lines)
      math(EXPR number "${number} + 1")
      if(line MATCHES "// reported: ([a-z]+)$")
        list(APPEND expected "${file}:${number}: ${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endforeach()
  set(${out} "${expected}" PARENT_SCOPE)
endfunction()

foreach(tree bad good)
  set(root ${CMAKE_CURRENT_LIST_DIR}/fixtures/${tree})
  expectations(${root} expected)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -D ROOT=${root} -P ${CMAKE_CURRENT_LIST_DIR}/layering.cmake
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  string(REGEX MATCHALL "[^\n ]+:[0-9]+: (layer|heavy|fiber|substrate)" reported "${output}")

  list(SORT expected)
  list(SORT reported)
  if(NOT reported STREQUAL expected)
    list(JOIN expected "\n" expected)
    message("expected\n${expected}\ngot\n${output}")
    message(FATAL_ERROR "fixtures/${tree}: not reported as marked")
  endif()
  if(expected AND status EQUAL 0)
    message(FATAL_ERROR "fixtures/${tree}: reported, but passed\n${output}")
  elseif(NOT expected AND NOT status EQUAL 0)
    message(FATAL_ERROR "fixtures/${tree}: clean, but failed\n${output}")
  endif()
  list(LENGTH expected count)
  message("fixtures/${tree}: ${count} lines reported, as marked")
  set(count_${tree} ${count})
endforeach()

if(count_bad EQUAL 0 OR NOT count_good EQUAL 0)
  message(FATAL_ERROR "the fixtures are not what they should be: bad ${count_bad}, good ${count_good}")
endif()
