/* What is left of the process when it crashes. */
#ifndef BR2_CORE_H
#define BR2_CORE_H

/* From here on a crash leaves no file of the memory: tokens and headers are in it. */
void core_disable(void);

#endif
