# Files that lie side by side are compiled several at a time, as one, so that the headers that they
# share are read and their templates compiled once. That takes less time, but an edit then compiles
# its neighbours, too. The launcher builds in this way (the preset `release`); the preset `dev`
# compiles file by file. Hence names that only a file knows differ from those of its neighbours.
option(DRAFTLAB_UNITY "Compile files that lie side by side as one" OFF)

set(UNITY_MOST 24)  # the most files that are compiled as one

# unite(TARGET): divides the files of a target, in the order of their folders, into groups of equal
# size.
function(unite target)
  if(NOT DRAFTLAB_UNITY)
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/.*\\.cc$")
  list(SORT files)
  list(LENGTH files count)
  math(EXPR groups "(${count} + ${UNITY_MOST} - 1) / ${UNITY_MOST}")
  set(at 0)
  foreach(file ${files})
    math(EXPR group "${at} * ${groups} / ${count}")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group})
    math(EXPR at "${at} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes files that are compiled as one for headers, whose types should not be in an anonymous
  # namespace.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()
