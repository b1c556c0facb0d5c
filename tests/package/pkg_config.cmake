# cmake -D PREFIX=<installed> -D LIBDIR=<lib> -D CXX=<compiler> -D SOURCES=<consumer> -D BINARY=<folder> -P pkg_config.cmake
# Compiles and runs the consumer with what pkg-config says, from an installation that was moved.
cmake_minimum_required(VERSION 3.25)

find_program(PKG_CONFIG NAMES pkgconf pkg-config REQUIRED)
file(REMOVE_RECURSE ${BINARY})
file(MAKE_DIRECTORY ${BINARY})
file(COPY ${PREFIX}/ DESTINATION ${BINARY}/moved)
set(ENV{PKG_CONFIG_PATH} ${BINARY}/moved/${LIBDIR}/pkgconfig)
execute_process(
  COMMAND ${PKG_CONFIG} --cflags --libs --static faultline
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
message("${flags}")
string(FIND "${flags}" "${PREFIX}/" at)
if(NOT at EQUAL -1)
  message(FATAL_ERROR "the flags name the place that it was installed to, not where it is: ${flags}")
endif()
separate_arguments(flags UNIX_COMMAND "${flags}")
foreach(program IN ITEMS lock kernel)
  execute_process(
    COMMAND ${CXX} -std=c++20 -Wall -Wextra -Werror ${SOURCES}/${program}.cpp ${flags} -o ${BINARY}/${program}
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${BINARY}/${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
