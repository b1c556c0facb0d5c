# cmake -D PREFIX=<installed> -D SOURCE=<source tree> -D LIBDIR=<lib> -P installed.cmake
# What was installed: every public header, scenario and litmus test, the program, the package files; nothing of the inside.
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE there RELATIVE ${PREFIX} ${PREFIX}/*)
file(GLOB_RECURSE headers RELATIVE ${SOURCE} ${SOURCE}/include/*.hpp)
set(wanted ${headers})
file(GLOB scenarios RELATIVE ${SOURCE}/docs/scenarios ${SOURCE}/docs/scenarios/*.scn)
list(TRANSFORM scenarios PREPEND share/faultline/scenarios/)
file(GLOB litmus RELATIVE ${SOURCE}/docs/litmus ${SOURCE}/docs/litmus/*.litmus)
list(TRANSFORM litmus PREPEND share/faultline/litmus/)
list(APPEND wanted
  ${scenarios}
  ${litmus}
  share/faultline/litmus/expected.txt
  bin/faultline
  share/doc/faultline/LICENSE
  share/doc/faultline/README.md
  ${LIBDIR}/pkgconfig/faultline.pc
  ${LIBDIR}/cmake/faultline/faultline-config.cmake
  ${LIBDIR}/cmake/faultline/faultline-config-version.cmake
  ${LIBDIR}/cmake/faultline/faultline-targets.cmake
  ${LIBDIR}/cmake/faultline/faultline-conformance-targets.cmake)
foreach(file IN LISTS wanted)
  if(NOT file IN_LIST there)
    message(FATAL_ERROR "not installed: ${file}")
  endif()
  list(REMOVE_ITEM there ${file})
endforeach()
foreach(file IN LISTS there)
  if(NOT file MATCHES "^${LIBDIR}/(libfaultline\\.(a|so)|cmake/faultline/faultline-(conformance-)?targets-[a-z]+\\.cmake)")
    message(FATAL_ERROR "installed, and should it be? ${file}")
  endif()
endforeach()
