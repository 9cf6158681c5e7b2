# Debian's libtorch names libraries of pictures and films (OpenCV, ffmpeg), takes nothing from them,
# and yet has them loaded with two hundred others, which is a third of a run's start. So the torch
# module names empty libraries that are called the same: a name that is there is not loaded again. A
# plugin that uses the true ones is loaded before the module, and then the module takes those.

# name_empty_instead(TARGET): the libraries that stand in lie in the folder `empty` beside TARGET.
function(name_empty_instead target)
  get_target_property(libtorch torch_cpu LOCATION)
  execute_process(COMMAND ${CMAKE_READELF} --dynamic ${libtorch} OUTPUT_VARIABLE dynamic)
  execute_process(COMMAND ${CMAKE_NM} --dynamic --undefined-only ${libtorch} OUTPUT_VARIABLE used)
  if(used MATCHES " U (_ZNK?2cv|cv[A-Z]|av_|avcodec_|avformat_|avio_|sws_|swr_)")
    return()
  endif()
  string(REGEX MATCHALL "\\[lib(opencv_|av|sw)[^]]+\\]" names "${dynamic}")
  set(empty "")
  foreach(name ${names})
    string(REGEX REPLACE "[][]" "" name ${name})
    string(MAKE_C_IDENTIFIER ${name} library)
    add_library(${library} SHARED no_code.cc)
    set_target_properties(${library} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${name}
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/empty)
    list(APPEND empty ${library})
  endforeach()
  target_link_libraries(${target} PRIVATE -Wl,--push-state,--no-as-needed ${empty} -Wl,--pop-state)
  set(EMPTY_LIBRARIES ${empty} PARENT_SCOPE)
endfunction()
