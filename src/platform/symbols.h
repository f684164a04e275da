/* symbols.h - names of functions, static ones too, for reports to people. */
#ifndef WF_SYMBOLS_H
#define WF_SYMBOLS_H

#include "base/compiler.h"

/* Writes "name+0x12 (module+0x345)" for a code address; without a name, if the
 * module's file has been stripped. Not for signal handlers. */
void wf_symbol_print(uintptr_t pc, char *text, size_t size);

#endif
