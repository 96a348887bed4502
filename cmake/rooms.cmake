# A folder under src/ is a room: one library target of the same name. Its unit tests stand beside the code
# (x.cc, x_test.cc) and become one executable, <room>_test, whose cases ctest runs one by one.

find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
include(GoogleTest)
add_custom_target(real_tests)  # those of the rooms that try real machines and real Slurm, when they are given an image
add_custom_target(unit_tests)  # all of them, and nothing else: what the sanitizer builds need

# espalier_room(NAME [SOURCES dir...] [DEPS target...]): the library of src/NAME.
function(espalier_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;EMBED" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/src/${name})
  string(REPLACE "/" "_" target ${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  foreach(file ${ROOM_EMBED})
    espalier_embed(${name} ${file} generated)
    list(APPEND sources ${generated})
  endforeach()
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PUBLIC ${ROOM_DEPS} Threads::Threads)
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} INTERFACE ${ROOM_DEPS} Threads::Threads)
  endif()
  if(tests)
    add_executable(${target}_test ${tests})
    target_link_libraries(${target}_test PRIVATE ${target} GTest::gmock GTest::gtest_main rapidcheck)
    add_dependencies(unit_tests ${target}_test)
    gtest_discover_tests(${target}_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()

# espalier_embed(ROOM FILE OUT): src/ROOM/FILE becomes `const std::string_view espalier::embedded::<file_name>`.
function(espalier_embed room file out)
  string(MAKE_C_IDENTIFIER ${file} symbol)
  set(source ${PROJECT_SOURCE_DIR}/src/${room}/${file})
  set(generated ${CMAKE_BINARY_DIR}/embedded/${room}/${symbol}.cc)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DOUTPUT=${generated} -DSYMBOL=${symbol}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
