# The first program, draftlab_quickstart: `draftlab run configs/quickstart.ini` and nothing else.
# The launcher builds and runs it before the whole program, so that a newcomer soon sees a result.
#
# FIRST_FILES and FIRST_TORCH_FILES are what it needs besides core: the files of its plugins
# (plugins/first.h), and the files whose headers these include, and so on. They are compiled once,
# into libraries that both programs link.
file(READ plugins/first.h list)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS plugins/first.h)
string(REGEX MATCHALL "X\\([a-z_]+, [a-z_]+\\)" listed "${list}")
# These no include leads to: the command, and the metrics.
file(GLOB METRICS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/analysis/metrics/*.cc)
set(FIRST_FILES experiments/first.cc experiments/run.cc)
list(TRANSFORM FIRST_FILES PREPEND ${CMAKE_SOURCE_DIR}/)
list(APPEND FIRST_FILES ${METRICS})
foreach(plugin ${listed})
  string(REGEX REPLACE "X\\((.*)\\)" "\\1" plugin ${plugin})
  if(NOT DEFINED "FILE_OF_${plugin}")
    message(FATAL_ERROR "plugins/first.h lists the plugin (${plugin}), which no file declares")
  endif()
  list(APPEND FIRST_FILES "${FILE_OF_${plugin}}")
endforeach()

# Of the commands only `run` is needed.
set(read ${CMAKE_SOURCE_DIR}/experiments/commands.cc)
set(rest ${FIRST_FILES})
set(FIRST_FILES "")
while(rest)
  list(POP_FRONT rest file)
  if(file IN_LIST read OR NOT EXISTS ${file})
    continue()
  endif()
  list(APPEND read ${file})
  if(file MATCHES "\\.cc$")
    list(APPEND FIRST_FILES ${file})
  endif()
  file(STRINGS ${file} includes REGEX "^#include \"(analysis|experiments|plugins)/.*\\.h\"")
  foreach(include ${includes})
    string(REGEX REPLACE "^#include \"(.*)\\.h\".*" "\\1" stem ${include})
    foreach(ending .h .cc _torch.cc)
      list(APPEND rest ${CMAKE_SOURCE_DIR}/${stem}${ending})
    endforeach()
  endforeach()
endwhile()
list(REMOVE_ITEM FIRST_FILES ${CMAKE_SOURCE_DIR}/experiments/first.cc
                             ${CMAKE_SOURCE_DIR}/plugins/tokenizers/sentencepiece.cc)
set(FIRST_TORCH_FILES ${FIRST_FILES})
list(FILTER FIRST_TORCH_FILES INCLUDE REGEX "_torch\\.cc$")
list(FILTER FIRST_FILES EXCLUDE REGEX "_torch\\.cc$")
