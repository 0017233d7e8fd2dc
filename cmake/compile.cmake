# br2_library(NAME SRC... ): a static library of our own code, with our
# warnings. Generated code is built without them (see proto/).
add_library(br2_flags INTERFACE)
target_compile_definitions(br2_flags INTERFACE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
target_compile_options(br2_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wvla -Wformat=2 -Wundef -Wcast-qual -Wwrite-strings -Wswitch-enum -Wconversion
    -fstack-protector-strong -fno-common -fPIE
    -include ${CMAKE_SOURCE_DIR}/ingest/util/banned.h)
if(BR2_WERROR)
    target_compile_options(br2_flags INTERFACE -Werror)
endif()
if(BR2_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
else()
    add_compile_definitions($<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
endif()
add_link_options(-pie -Wl,-z,relro,-z,now)

function(br2_library name)
    add_library(${name} STATIC ${ARGN})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/ingest)
    target_link_libraries(${name} PRIVATE br2_flags)
endfunction()
