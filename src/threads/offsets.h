/* offsets.h - what the assembler knows of our records; body.c checks it. */
#ifndef WF_OFFSETS_H
#define WF_OFFSETS_H

/* struct weft_thread */
#define WF_T_SP 16
#define WF_T_CAUGHT 40
#define WF_T_COLOR 80
#define WF_T_WORKER 136
#define WF_T_UNDER 144
#define WF_T_NEXT 152
#define WF_T_SCOPE 160
#define WF_T_BODY 168

/* struct wf_worker */
#define WF_W_LEFT 40
#define WF_W_SPARE 48
#define WF_W_EXCEPTIONS 56

/* Larger arguments are copied in C. */
#define WF_BODY_ROOM 4096

/* From the stack pointer of who lies under a body to its caller's frame. */
#if defined(__x86_64__)
#define WF_BODY_FRAME 64
#elif defined(__aarch64__)
#define WF_BODY_FRAME 176
#endif

#endif
