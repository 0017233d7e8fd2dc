/*
 * Functions that must not be used in this project: each has a safer stand-in.
 * Included before every file of ours by the build.
 */
#ifndef BR2_BANNED_H
#define BR2_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BR2_BANNED(f) banned_function_##f

#undef strcpy
#define strcpy(d, s) BR2_BANNED(strcpy)
#undef strcat
#define strcat(d, s) BR2_BANNED(strcat)
#undef strncpy
#define strncpy(d, s, n) BR2_BANNED(strncpy)
#undef strncat
#define strncat(d, s, n) BR2_BANNED(strncat)
#undef sprintf
#define sprintf(...) BR2_BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BR2_BANNED(vsprintf)
#undef strtok
#define strtok(s, d) BR2_BANNED(strtok)
#undef gmtime
#define gmtime(t) BR2_BANNED(gmtime)
#undef localtime
#define localtime(t) BR2_BANNED(localtime)
#undef ctime
#define ctime(t) BR2_BANNED(ctime)
#undef atoi
#define atoi(s) BR2_BANNED(atoi)
#undef atol
#define atol(s) BR2_BANNED(atol)

#endif
