/* examples.h - programs that show one rule each, and all that they can end with. */
#ifndef TESTS_ASYNC_SEMANTICS_EXAMPLES_H
#define TESTS_ASYNC_SEMANTICS_EXAMPLES_H

#include "async/semantics/interpret.h"

/* The outcomes are those of the figure alone, unless `rules` adds to it. */
static const struct example {
	const char *rule, *program, *outcomes;
	int rules;
} examples[] = {
	{ "Async-1: a body that does not block runs first",
	  "finish A { async { x := 1; } y := x; }", "x=1 y=1 z=0 i=0 p=[] q=[] r=[] and ends\n",
	  0 },
	{ "Async-2: when the body blocks, the code behind it goes on",
	  "finish A { async { send 1 to p; x := 1; } x := 2; }",
	  "x=1 y=0 z=0 i=0 p=[1] q=[] r=[] and ends\n", 0 },
	{ "AT_ONCE: the body may as well not block",
	  "finish A { async { send 1 to p; x := 1; } x := 2; }",
	  "x=2 y=0 z=0 i=0 p=[1] q=[] r=[] and ends\n"
	  "x=1 y=0 z=0 i=0 p=[1] q=[] r=[] and ends\n",
	  AT_ONCE },
	{ "T-Send, T-Recv: messages come in the order sent",
	  "finish A { send 1 to p; send 2 to p; recv x from p; }",
	  "x=1 y=0 z=0 i=0 p=[2] q=[] r=[] and ends\n", 0 },
	{ "T-Eval: what is behind two operations runs in any order",
	  "finish A { async { send 1 to p; x := x * 3 + 1; } send 2 to q; x := x * 3 + 2; }",
	  "x=5 y=0 z=0 i=0 p=[1] q=[2] r=[] and ends\n"
	  "x=7 y=0 z=0 i=0 p=[1] q=[2] r=[] and ends\n",
	  0 },
	{ "T-Eval: between two operations nobody interferes",
	  "finish A { async { send 1 to p; x := 1; y := x; } send 2 to p; x := 2; z := x; }",
	  "x=1 y=1 z=2 i=0 p=[1 2] q=[] r=[] and ends\n"
	  "x=2 y=1 z=2 i=0 p=[1 2] q=[] r=[] and ends\n"
	  "x=1 y=1 z=2 i=0 p=[2 1] q=[] r=[] and ends\n"
	  "x=2 y=1 z=2 i=0 p=[2 1] q=[] r=[] and ends\n",
	  0 },
	{ "Pool-1: a block ends after all that it started",
	  "finish A { finish B { async { send 1 to p; x := 1; } } y := x; }",
	  "x=1 y=1 z=0 i=0 p=[1] q=[] r=[] and ends\n", 0 },
	{ "Pool-3: behind the last of a block the code behind it goes on at once",
	  "finish A { async { finish C { async { send 0 to p; x := 3; } } x := 0; } send x to q; }",
	  "x=0 y=0 z=0 i=0 p=[0] q=[0] r=[] and ends\n", 0 },
	{ "LATER: or somewhat later",
	  "finish A { async { finish C { async { send 0 to p; x := 3; } } x := 0; } send x to q; }",
	  "x=0 y=0 z=0 i=0 p=[0] q=[0] r=[] and ends\n"
	  "x=0 y=0 z=0 i=0 p=[0] q=[3] r=[] and ends\n",
	  LATER },
	{ "Cancel: what is not in a try is not reached", "finish A { cancel A; recv x from p; }",
	  "x=0 y=0 z=0 i=0 p=[] q=[] r=[] and waits for ever\n", 0 },
	{ "T-Try-Cancel: what waits goes on, and so does what comes to wait later",
	  "finish A { async { try recv x from p else { y := 1; } } cancel A;"
	  " try recv x from q else { z := 1; } }",
	  "x=0 y=1 z=1 i=0 p=[] q=[] r=[] and ends\n", 0 },
	{ "T-Try-Cancel: it is one or the other, and no message is lost",
	  "finish A { send 1 to p; cancel A; try recv x from p else { y := 1; } }",
	  "x=1 y=0 z=0 i=0 p=[] q=[] r=[] and ends\n"
	  "x=0 y=1 z=0 i=0 p=[1] q=[] r=[] and ends\n",
	  0 },
	{ "AT_ONCE: what is cancelled before it waits may as well not block",
	  "finish A { cancel A; async { try recv x from p else { y := 1; } } y := 2; }",
	  "x=0 y=1 z=0 i=0 p=[] q=[] r=[] and ends\n"
	  "x=0 y=2 z=0 i=0 p=[] q=[] r=[] and ends\n",
	  AT_ONCE },
	{ "T-Try-Cancel: a thread that waits for an event goes on when that has ended",
	  "finish A { async { try recv x from p by block else { y := 1; } } cancel A;"
	  " try recv x from q by next else { z := 1; } }",
	  "x=0 y=1 z=1 i=0 p=[] q=[] r=[] and ends\n", 0 },
	{ "T-Try-Cancel: a cancel passes through tamed functions, and reaches forked calls",
	  "finish A { async { try recv x from p by child else { y := 1; } } cancel A;"
	  " try recv x from q by fork else { z := 1; } }",
	  "x=0 y=1 z=1 i=0 p=[] q=[] r=[] and ends\n", 0 },
	{ "T-Try-Cancel: by an event, too, it is one or the other",
	  "finish A { send 1 to p; cancel A; try recv x from p by child else { y := 1; } }",
	  "x=1 y=0 z=0 i=0 p=[] q=[] r=[] and ends\n"
	  "x=0 y=1 z=0 i=0 p=[1] q=[] r=[] and ends\n",
	  0 },
	{ "Cancel: a tamed function that does not listen is not reached",
	  "finish A { async { recv x from p by deaf; } cancel A; }",
	  "x=0 y=0 z=0 i=0 p=[] q=[] r=[] and waits for ever\n", 0 },
	{ "E_c: blocks within a cancelled one are reached, whoever is in them",
	  "finish A { finish B { async { finish D { cancel A; try recv x from p else { y := 1; }"
	  " } } } }",
	  "x=0 y=1 z=0 i=0 p=[] q=[] r=[] and ends\n", 0 },
	{ "E_c: the block around a cancelled one is not",
	  "finish A { async { try recv x from p else { y := 1; } } finish D { cancel D; } }",
	  "x=0 y=0 z=0 i=0 p=[] q=[] r=[] and waits for ever\n", 0 },
	{ "a shield is not reached, nor what is within it",
	  "finish A { cancel A; shield B { finish C { try recv x from p else { y := 1; } } } }",
	  "x=0 y=0 z=0 i=0 p=[] q=[] r=[] and waits for ever\n", 0 },
	{ "a shield can be cancelled itself",
	  "finish A { shield B { cancel B; try recv x from p else { y := 1; } } z := 1; }",
	  "x=0 y=1 z=1 i=0 p=[] q=[] r=[] and ends\n", 0 },
	{ "While: every turn has a pool of its own",
	  "finish A { while (i < 2, i++) { async { finish D { if (i < 2) { cancel D; }"
	  " try recv x from p else { y := y + 1; } } } } }",
	  "x=0 y=1 z=0 i=2 p=[] q=[] r=[] and waits for ever\n", 0 },
	{ "a send to a bounded channel waits, and can be cancelled",
	  "(channels keep 1) finish A { send 1 to p; async { try send 2 to p else { x := 1; } }"
	  " cancel A; }",
	  "x=1 y=0 z=0 i=0 p=[1] q=[] r=[] and ends\n", 0 },
	{ "what a send sends is computed when it is sent",
	  "(channels keep 1) finish A { send 0 to p; async { send x to p; } x := 8; recv z from p; "
	  "}",
	  "x=8 y=0 z=0 i=0 p=[8] q=[] r=[] and ends\n", 0 },
};

#endif
