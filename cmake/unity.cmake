# Files that lie side by side are compiled several at a time, as one, so that the headers that they
# share are read and their templates compiled once. That takes less time, but an edit then compiles
# its neighbours, too. The launcher builds in this way (the preset `release`); the preset `dev`
# compiles file by file. Hence names that only a file knows differ from those of its neighbours.
option(DRAFTLAB_UNITY "Compile files that lie side by side as one" OFF)

set(UNITY_MOST 24)  # the most files that are compiled as one

# unite(TARGET [IN_FOLDERS]): divides the files of a target, in the order of their folders, or those
# of each folder, into groups of equal size.
function(unite target)
  if(NOT DRAFTLAB_UNITY)
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/.*\\.cc$")
  list(SORT files)
  set(parts "")
  foreach(file ${files})
    set(part all)
    if("${ARGN}" STREQUAL IN_FOLDERS)
      get_filename_component(folder ${file} DIRECTORY)
      file(RELATIVE_PATH part ${CMAKE_SOURCE_DIR} ${folder})
      string(REPLACE "/" "_" part ${part})
    endif()
    list(APPEND parts ${part})
    list(APPEND "FILES_${part}" ${file})
  endforeach()
  list(REMOVE_DUPLICATES parts)
  foreach(part ${parts})
    list(LENGTH "FILES_${part}" count)
    math(EXPR groups "(${count} + ${UNITY_MOST} - 1) / ${UNITY_MOST}")
    set(at 0)
    foreach(file ${FILES_${part}})
      math(EXPR group "${at} * ${groups} / ${count}")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP "${part}_${group}")
      math(EXPR at "${at} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes files that are compiled as one for headers, whose types should not be in an anonymous
  # namespace.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()
