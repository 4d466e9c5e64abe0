# SPDX-License-Identifier: MIT
# libsluice: all modules in one shared library, whose only symbols are the public headers'.
get_property(modules GLOBAL PROPERTY SLUICE_MODULES)
add_library(libsluice SHARED)
foreach(module IN LISTS modules)
  target_sources(libsluice PRIVATE $<TARGET_OBJECTS:${module}>)
endforeach()
# What the modules need, and not the modules themselves: their objects are in already.
target_link_libraries(libsluice PRIVATE PkgConfig::PCAP PkgConfig::ZLIB PkgConfig::LZMA
                                        PkgConfig::BROTLI PkgConfig::MAGIC PkgConfig::ZSTD
                      PkgConfig::JANSSON PkgConfig::SQLITE3 PkgConfig::XXHASH
                      PkgConfig::PCRE2 PkgConfig::CRYPTO PkgConfig::YAML Threads::Threads m)
if(SLUICE_HAVE_CUDA)
  target_link_libraries(libsluice PRIVATE CUDA::cudart_static)
endif()
if(SLUICE_SANITIZE_LINKED)
  target_link_options(libsluice PUBLIC -fsanitize=${SLUICE_SANITIZE_LINKED})
endif()
# Before 1.0 each minor version may change the ABI.
set_target_properties(libsluice PROPERTIES OUTPUT_NAME sluice LINKER_LANGUAGE C
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}
                      VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_include_directories(libsluice INTERFACE ${PROJECT_SOURCE_DIR}/include)

file(RELATIVE_PATH SLUICE_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/sluice.pc.in sluice.pc @ONLY)
install(TARGETS libsluice LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES cli/sluice.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cli/sluice.bash RENAME sluice
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES cli/sluice-tunnel@.service DESTINATION lib/systemd/system)
install(DIRECTORY include/sluice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
