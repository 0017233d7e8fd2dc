# Every third-party package the project links, found once, here.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3>=3.37)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1>=0.2)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.85)
# The C core. `pkg-config --libs grpc` lists some sixty abseil libraries that
# the shared library already carries; two are enough.
pkg_check_modules(GRPC REQUIRED grpc)
find_library(GRPC_LIBRARY grpc REQUIRED)
find_library(GPR_LIBRARY gpr REQUIRED)
add_library(br2_grpc INTERFACE)
target_include_directories(br2_grpc SYSTEM INTERFACE ${GRPC_INCLUDE_DIRS})
target_link_libraries(br2_grpc INTERFACE ${GRPC_LIBRARY} ${GPR_LIBRARY})
find_program(PROTOC_C protoc-c REQUIRED)
