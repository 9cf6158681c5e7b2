# Writes HEADER, which says what commit SOURCE is, where that is not what it says already.
execute_process(COMMAND git -c safe.directory=${SOURCE} -C ${SOURCE}
                        describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#define DRAFTLAB_COMMIT \"${commit}\"\n")
if(EXISTS ${HEADER})
  file(READ ${HEADER} there)
endif()
if(NOT "${there}" STREQUAL "${text}")
  file(WRITE ${HEADER} "${text}")
endif()
