# weft_tame(TARGET FILE...): the files, with tamed functions, are translated by weft-tame and
# compiled as part of the target, with its include directories and definitions. dns.tame.c
# becomes dns.c, in a folder of the target's.
#
# WEFT_TAME_TOOL names another weft-tame than that of this package or build: the one of
# this machine, where the target is built for another.
function(weft_tame target)
	if(WEFT_TAME_TOOL)
		set(tool ${WEFT_TAME_TOOL})
		set(tool_depends ${WEFT_TAME_TARGET} ${WEFT_TAME_TOOL})
	else()
		set(tool $<TARGET_FILE:Weft::weft-tame>)
		set(tool_depends Weft::weft-tame)
	endif()
	set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.tame)

	# What the target is compiled with may depend on the language: only a file can hold that.
	set(includes $<TARGET_PROPERTY:INCLUDE_DIRECTORIES>)
	set(definitions $<TARGET_PROPERTY:COMPILE_DEFINITIONS>)
	set(compile_options $<TARGET_PROPERTY:COMPILE_OPTIONS>)
	string(CONCAT flags "$<$<BOOL:${includes}>:-I$<JOIN:${includes},\n-I>\n>"
		"$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},\n-D>\n>"
		"$<JOIN:${compile_options},\n>\n")
	file(GENERATE OUTPUT ${folder}/flags.$<COMPILE_LANGUAGE> CONTENT "${flags}"
		TARGET ${target})

	string(TOUPPER "${CMAKE_BUILD_TYPE}" build)
	separate_arguments(general UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build}}")
	if(CMAKE_C_COMPILER_TARGET)
		list(APPEND general --target=${CMAKE_C_COMPILER_TARGET})
	endif()

	foreach(file ${ARGN})
		get_filename_component(source ${file} ABSOLUTE)
		get_filename_component(here ${source} DIRECTORY)
		get_filename_component(name ${source} NAME)
		string(REGEX REPLACE "(\\.tame)?\\.[^.]*$" "" name ${name})
		set(out ${folder}/${name}.c)
		add_custom_command(OUTPUT ${out}
			COMMAND ${tool} --cc=${CMAKE_C_COMPILER} -o ${out} -MD -MF ${out}.d -MT ${out}
				${source}
				-- @${folder}/flags.C ${general}
			DEPENDS ${source} ${folder}/flags.C ${tool_depends}
			DEPFILE ${out}.d
			COMMENT "Translating ${name}.tame.c"
			VERBATIM)
		set_source_files_properties(${out} PROPERTIES COMPILE_OPTIONS "-iquote;${here}")
		target_sources(${target} PRIVATE ${out})
	endforeach()
endfunction()
