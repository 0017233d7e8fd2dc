# br2_embed(TARGET SYMBOL FILE…): an object library that holds the files' bytes.
function(br2_embed target symbol)
    set(paths)
    foreach(file ${ARGN})
        list(APPEND paths ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    endforeach()
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
    list(JOIN paths "|" joined) # a ; would not survive the command line
    add_custom_command(
        OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSYMBOL=${symbol} "-DFILES=${joined}"
                -P ${CMAKE_SOURCE_DIR}/schema/embed.cmake
        DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/schema/embed.cmake
        VERBATIM)
    add_library(${target} STATIC ${out})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/ingest)
endfunction()
