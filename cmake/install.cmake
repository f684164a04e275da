# What `make install` puts where.
include(CMakePackageConfigHelpers)

install(TARGETS weft_static weft_shared ${WEFT_VARIANT_TARGETS} weft_async EXPORT WeftTargets
	LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
	ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(installed weft_static weft_shared ${WEFT_VARIANT_TARGETS} weft_man)
if(TARGET weft-tame)
	list(APPEND installed weft-tame)
	install(TARGETS weft-tame EXPORT WeftTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	install(FILES ${PROJECT_SOURCE_DIR}/tools/tame/weft-tame.1
		DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(TARGET weft-check)
	list(APPEND installed weft-check)
	install(TARGETS weft-check RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	install(FILES ${PROJECT_SOURCE_DIR}/tools/weft-check/weft-check.1
		DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(TARGET weft-httpd)
	list(APPEND installed weft-httpd)
	install(TARGETS weft-httpd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	install(FILES ${PROJECT_SOURCE_DIR}/apps/httpd/weft-httpd.1
		DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weft
	DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# For gdb: `source` it.
install(FILES ${PROJECT_SOURCE_DIR}/tools/weft-gdb.py
	DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)

# For pkg-config.
set(WEFT_PC_REQUIRES "")
if(WEFT_HAVE_URING)
	list(APPEND WEFT_PC_REQUIRES liburing)
endif()
if(WEFT_HAVE_CARES)
	list(APPEND WEFT_PC_REQUIRES libcares)
endif()
list(JOIN WEFT_PC_REQUIRES ", " WEFT_PC_REQUIRES)
# What is installed may be moved as a whole: the prefix is told by where the file lies.
set(WEFT_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
	file(RELATIVE_PATH WEFT_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
	string(REGEX REPLACE "/$" "" WEFT_PC_PREFIX "\${pcfiledir}/${WEFT_PC_PREFIX}")
endif()
# weft_pc(NAME LIBRARY FLAGS REQUIRES): for programs, that take REQUIRES (Requires or
# Requires.private) along.
function(weft_pc WEFT_PC_NAME WEFT_PC_LIBRARY WEFT_PC_FLAGS WEFT_PC_WHOSE)
	configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${WEFT_PC_NAME}.pc @ONLY)
	install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${WEFT_PC_NAME}.pc
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
weft_pc(weft weft "" Requires.private)
weft_pc(weft-static :libweft.a "" Requires)
foreach(variant ${WEFT_VARIANTS})
	weft_pc(weft-${variant} weft-${variant} " ${WEFT_VARIANT_${variant}}" Requires.private)
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/weft-async.pc.in weft-async.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weft-async.pc
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# For CMake.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Weft)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/WeftConfig.cmake.in WeftConfig.cmake
	INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(WeftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT WeftTargets NAMESPACE Weft:: DESTINATION ${package_dir})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/WeftConfig.cmake
	${CMAKE_CURRENT_BINARY_DIR}/WeftConfigVersion.cmake
	${CMAKE_CURRENT_LIST_DIR}/tame.cmake DESTINATION ${package_dir})

# Man pages come from the contracts in the headers.
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/weft/*.h)
set(man_dir ${CMAKE_CURRENT_BINARY_DIR}/man/man3)
add_custom_command(OUTPUT ${man_dir}/stamp
	COMMAND ${PROJECT_SOURCE_DIR}/tools/man ${man_dir} ${public_headers}
	COMMAND ${CMAKE_COMMAND} -E touch ${man_dir}/stamp
	DEPENDS ${PROJECT_SOURCE_DIR}/tools/man ${public_headers}
	COMMENT "Writing the man pages" VERBATIM)
add_custom_target(weft_man ALL DEPENDS ${man_dir}/stamp)
install(DIRECTORY ${man_dir} DESTINATION ${CMAKE_INSTALL_MANDIR}
	FILES_MATCHING PATTERN "*.3")

# Side by side as here, so that links between them hold.
foreach(doc README.md CHANGELOG.md SECURITY.md LICENSE)
	if(EXISTS ${PROJECT_SOURCE_DIR}/${doc})
		install(FILES ${PROJECT_SOURCE_DIR}/${doc} DESTINATION ${CMAKE_INSTALL_DOCDIR})
	endif()
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/docs)
	install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
		FILES_MATCHING PATTERN "*.md")
endif()
foreach(app common httpd quotes sealed-files)
	file(GLOB files ${PROJECT_SOURCE_DIR}/apps/${app}/*.md
		${PROJECT_SOURCE_DIR}/apps/${app}/*.1 ${PROJECT_SOURCE_DIR}/apps/${app}/*.[ch])
	install(FILES ${files} DESTINATION ${CMAKE_INSTALL_DOCDIR}/apps/${app})
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/examples)
	install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
		FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.out")
endif()

# All that is to be built before it can be installed.
add_custom_target(weft_installed)
add_dependencies(weft_installed ${installed})
