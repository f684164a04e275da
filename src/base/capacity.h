/* capacity.h - every capacity that is a number in the code, as a build setting.
 *
 * The tiny build makes them so small that the rare paths (full, grow, refill)
 * are taken all the time; the same tests run on it.
 */
#ifndef WF_CAPACITY_H
#define WF_CAPACITY_H

#ifdef WEFT_TINY
#define WF_COLOR_SHARDS 2     /* locks of the color table; a power of two */
#define WF_COLOR_SLOTS 4      /* per shard at first; a power of two */
#define WF_POOL_CACHE 2       /* free records that a worker keeps */
#define WF_HANDLERS 4         /* handlers whose time is known; a power of two */
#define WF_SKIPS 2            /* turns after which a passed-over level gets one */
#define WF_PLENTY 2           /* colors queued, so that the kernel can wait */
#define WF_RING_ENTRIES 4     /* of io_uring: that wait to be submitted */
#define WF_RING_COMPLETIONS 8 /* of io_uring: before the kernel must keep them */
#define WF_POLL_BATCH 4       /* completions or edges taken at a time */
#define WF_FD_CHUNK 4         /* descriptor records made at a time */
#else
#define WF_COLOR_SHARDS 256
#define WF_COLOR_SLOTS 16
#define WF_POOL_CACHE 256
#define WF_HANDLERS 1024
#define WF_SKIPS 16
#define WF_PLENTY 4
#define WF_RING_ENTRIES 256
#define WF_RING_COMPLETIONS 4096
#define WF_POLL_BATCH 64
#define WF_FD_CHUNK 256
#endif

#define WF_WORKERS_MAX 1024
/* With stand-ins for stuck ones. */
#define WF_WORKERS_LIMIT(workers) (2 * (workers) + 2)

#endif
