# cmake -D SOURCE=<consumer> -D BINARY=<folder> -D "ARGUMENTS=<cmake arguments>" [-D ALSO=<program>] [-D "REFUSED=<regex>"]
#   -P build_and_run.cmake
# Configures, builds and runs a consumer from nothing; or, with REFUSED, sees that it cannot be configured, and why.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${BINARY})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G Ninja ${ARGUMENTS}
  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE complaint)
if(DEFINED REFUSED)
  string(REGEX REPLACE "[ \n]+" " " complaint "${complaint}")
  if(NOT failed OR NOT complaint MATCHES "${REFUSED}")
    message(FATAL_ERROR "should be refused with \"${REFUSED}\", not:\n${said}\n${complaint}")
  endif()
  return()
endif()
if(failed)
  message(FATAL_ERROR "cannot be configured:\n${said}\n${complaint}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY} COMMAND_ERROR_IS_FATAL ANY)
foreach(program IN ITEMS lock kernel ${ALSO})
  execute_process(COMMAND ${BINARY}/${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
