# cmake -D OUTPUT=FILE.cpp -D FUNCTION=NAME -D FILES=A.scn;B.scn -P embed.cmake: the texts of the files as a table in C++,
# given by the function NAME of scenario/shipped.hpp.
set(table "")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  if(text MATCHES "\\)scn\"")
    message(FATAL_ERROR "${file} contains )scn\", which would end its literal")
  endif()
  get_filename_component(name ${file} NAME)
  string(APPEND table "    {\"${name}\", R\"scn(${text})scn\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by src/cmake/embed.cmake.
#include \"scenario/shipped.hpp\"

namespace faultline::scenario {

std::span<const shipped_file> ${FUNCTION}() {
  static constexpr shipped_file table[] = {
${table}  };
  return table;
}

}  // namespace faultline::scenario
")
