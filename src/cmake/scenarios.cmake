# The shipped scenario files become a table in the library, and are installed. Included where the target is made.
include(${PROJECT_SOURCE_DIR}/docs/scenarios/files.cmake)
set(faultline_shipped ${PROJECT_BINARY_DIR}/shipped_scenarios.cpp)
add_custom_command(
  OUTPUT ${faultline_shipped}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${faultline_shipped} -D "FILES=${faultline_scenarios}"
    -P ${PROJECT_SOURCE_DIR}/src/cmake/embed.cmake
  DEPENDS ${faultline_scenarios} ${PROJECT_SOURCE_DIR}/src/cmake/embed.cmake
    ${PROJECT_SOURCE_DIR}/docs/scenarios/files.cmake
  COMMENT "Embedding the scenario files"
  VERBATIM)
target_sources(faultline PRIVATE ${faultline_shipped})
install(FILES ${faultline_scenarios} DESTINATION ${CMAKE_INSTALL_DATADIR}/faultline/scenarios)
