# The shipped scenario files and litmus tests become tables in the library, and are installed. Included where the target is made.
include(${PROJECT_SOURCE_DIR}/docs/scenarios/files.cmake)
include(${PROJECT_SOURCE_DIR}/docs/litmus/files.cmake)

# faultline_embed(<function of scenario/shipped.hpp> <list of the files> <file>...)
function(faultline_embed function list)
  set(output ${PROJECT_BINARY_DIR}/${function}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D FUNCTION=${function} -D "FILES=${ARGN}"
      -P ${PROJECT_SOURCE_DIR}/src/cmake/embed.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/src/cmake/embed.cmake ${list}
    COMMENT "Embedding ${function}"
    VERBATIM)
  target_sources(faultline PRIVATE ${output})
endfunction()

faultline_embed(shipped_files ${PROJECT_SOURCE_DIR}/docs/scenarios/files.cmake ${faultline_scenarios})
faultline_embed(shipped_litmus_files ${PROJECT_SOURCE_DIR}/docs/litmus/files.cmake
  ${faultline_litmus_expected} ${faultline_litmus})
install(FILES ${faultline_scenarios} DESTINATION ${CMAKE_INSTALL_DATADIR}/faultline/scenarios)
install(FILES ${faultline_litmus} ${faultline_litmus_expected} DESTINATION ${CMAKE_INSTALL_DATADIR}/faultline/litmus)
