# Files of one folder are compiled several at a time, as one, so that the headers that they share
# are read and their templates compiled once. That takes less time, but an edit then compiles its
# neighbours, too. The launcher builds in this way (the preset `release`); the preset `dev` compiles
# file by file. Hence names that only a file knows differ from those of its folder.
option(DRAFTLAB_UNITY "Compile several files of a folder as one" OFF)

set(UNITY_MOST 12)  # the most files that are compiled as one

# These have not been compiled with their neighbours since their names were made to differ.
set(UNITY_ALONE "/(program_interpreter|transformer_training_torch)\\.cc$")

# unite(TARGET): divides the files of each folder of a target into groups of equal size.
function(unite target)
  if(NOT DRAFTLAB_UNITY)
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "^${CMAKE_SOURCE_DIR}/.*\\.cc$")
  list(FILTER files EXCLUDE REGEX "${UNITY_ALONE}")
  set(folders "")
  foreach(file ${files})
    get_filename_component(folder ${file} DIRECTORY)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" folder ${folder})
    list(APPEND folders ${folder})
    list(APPEND "FILES_${folder}" ${file})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    list(LENGTH "FILES_${folder}" count)
    math(EXPR groups "(${count} + ${UNITY_MOST} - 1) / ${UNITY_MOST}")
    set(at 0)
    foreach(file ${FILES_${folder}})
      math(EXPR group "${at} * ${groups} / ${count}")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP "${folder}_${group}")
      math(EXPR at "${at} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes files that are compiled as one for headers, whose types should not be in an anonymous
  # namespace.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
endfunction()
