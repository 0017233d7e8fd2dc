/*
 * Standard input, output and error: a shell's `2>&-` closes one, and the next file
 * that is opened takes its number, and with it all that is printed there.
 */
#ifndef BR2_STANDARD_H
#define BR2_STANDARD_H

/*
 * Opens what of the three is closed so that its use fails with EBADF, as that of a closed
 * one does. To be called before any file is opened. -1: it cannot, errno says why.
 */
int standard_hold(void);

#endif
