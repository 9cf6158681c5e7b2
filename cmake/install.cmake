# What `cmake --install` and CPack put where: the program, its libraries and modules beside each
# other, the headers of core for plugins out of the tree, and the configs, small models and the
# Python package under share.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(MODULES ${CMAKE_INSTALL_LIBDIR}/draftlab)
set(HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/draftlab)
set(SHARE ${CMAKE_INSTALL_DATADIR}/draftlab)

set_target_properties(draftlab PROPERTIES INSTALL_RPATH "$ORIGIN/../${MODULES}")
set(LIBRARIES draftlab_core draftlab_sentencepiece)
if(DRAFTLAB_WITH_TORCH)
  list(APPEND LIBRARIES draftlab_torch)
endif()
set_target_properties(${LIBRARIES} PROPERTIES INSTALL_RPATH "$ORIGIN:$ORIGIN/empty")

# A plugin includes "core/config/plugin.h", in the tree and out of it.
target_include_directories(draftlab_core INTERFACE $<INSTALL_INTERFACE:${HEADERS}>)
target_compile_features(draftlab_core INTERFACE cxx_std_20)
install(TARGETS draftlab RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS draftlab_core EXPORT draftlab LIBRARY DESTINATION ${MODULES})
list(REMOVE_ITEM LIBRARIES draftlab_core)
install(TARGETS ${LIBRARIES} LIBRARY DESTINATION ${MODULES})
if(EMPTY_LIBRARIES)
  install(TARGETS ${EMPTY_LIBRARIES} LIBRARY DESTINATION ${MODULES}/empty)
endif()
install(DIRECTORY core DESTINATION ${HEADERS} FILES_MATCHING PATTERN "*.h")
# A metric includes these two rooms besides.
install(DIRECTORY analysis/frame analysis/metrics DESTINATION ${HEADERS}/analysis
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY configs examples census DESTINATION ${SHARE} PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY data/checkpoints data/corpora data/cost data/tokenizers DESTINATION ${SHARE}/data)
install(DIRECTORY python/draftlab DESTINATION ${SHARE}/python
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")
# The man page is what the program says of itself.
install(CODE "execute_process(COMMAND \"${CMAKE_BINARY_DIR}/bin/draftlab\" help --man
                OUTPUT_FILE \"${CMAKE_BINARY_DIR}/draftlab.1\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${CMAKE_BINARY_DIR}/draftlab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md LICENSE CHANGELOG.md CITATION.cff
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(draftlab) and its function draftlab_add_plugin(NAME FILE...); pkg-config draftlab.
set(PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/draftlab)
install(EXPORT draftlab NAMESPACE draftlab:: FILE draftlabTargets.cmake DESTINATION ${PACKAGE})
configure_package_config_file(cmake/draftlabConfig.cmake.in draftlabConfig.cmake
                              INSTALL_DESTINATION ${PACKAGE})
write_basic_package_version_file(draftlabConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# The file says where the prefix is from where it lies itself, so an installation may be moved.
file(RELATIVE_PATH FROM_PKGCONFIG "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/draftlab.pc.in draftlab.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/draftlabConfig.cmake
              ${CMAKE_BINARY_DIR}/draftlabConfigVersion.cmake DESTINATION ${PACKAGE})
install(FILES ${CMAKE_BINARY_DIR}/draftlab.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# `cpack` in the build folder makes a .deb and a .tar.gz.
set(CPACK_PACKAGE_NAME draftlab)
set(CPACK_PACKAGE_CONTACT "the founders of draftlab <draftlab@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "A laboratory for parallel decoding: compare, invent and certify methods")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The core library lies in a folder of draftlab's own, where dpkg-shlibdeps does not look.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_DEPENDS libopenblas0-pthread)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "gnuplot-nox, bubblewrap, python3-numpy, python3-msgpack, python3-h5py, libeigen3-dev, libfmt-dev")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# Looks for the programs that a .deb needs, when cpack runs.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/cpack.cmake)
include(CPack)
