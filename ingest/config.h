/*
 * Stage 1's configuration, all of it: for those who join the stages. A stage
 * includes the one header that it needs.
 */
#ifndef BR2_CONFIG_H
#define BR2_CONFIG_H

#include "buckconfig.h"
#include "project.h"
#include "remote.h"

#endif
