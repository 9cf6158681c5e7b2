# What cpack reads before it makes a package. Without `file` it could not tell programs from other
# files, and without dpkg-shlibdeps the package would name none of the libraries that it needs.
if(CPACK_GENERATOR STREQUAL "DEB")
  foreach(program file dpkg-shlibdeps)
    find_program(found_${program} ${program} PATHS ENV PATH NO_DEFAULT_PATH NO_CACHE)
    if(NOT found_${program})
      message(FATAL_ERROR "cpack -G DEB needs '${program}': apt-get install file dpkg-dev")
    endif()
  endforeach()
endif()
