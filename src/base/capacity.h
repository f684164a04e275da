/* capacity.h - every capacity that is a number in the code, as a build setting.
 *
 * The tiny build makes them so small that the rare paths (full, grow, refill)
 * are taken all the time; the same tests run on it.
 */
#ifndef WF_CAPACITY_H
#define WF_CAPACITY_H

#ifdef WEFT_TINY
#define WF_COLOR_SHARDS 2      /* locks of the color table; a power of two */
#define WF_COLOR_SLOTS 4       /* per shard at first; a power of two */
#define WF_POOL_CACHE 2        /* free records that go to a worker or back at a time */
#define WF_HANDLERS 4          /* handlers whose time is known; a power of two */
#define WF_SKIPS 2             /* turns after which a passed-over level gets one */
#define WF_LOOT 2              /* colors that a thief takes at a time, at most */
#define WF_PLENTY 2            /* colors queued, so that the kernel can wait */
#define WF_RING_ENTRIES 4      /* of io_uring: that wait to be submitted */
#define WF_RING_COMPLETIONS 8  /* of io_uring: before the kernel must keep them */
#define WF_POLL_BATCH 4        /* completions or edges taken at a time */
#define WF_POLL_PART 2         /* of a batch of edges, seen to at a time */
#define WF_FD_CHUNK 4          /* descriptor records made at a time */
#define WF_FILE_PACE 3         /* reads and writes of a file that io_uring has at a time */
#define WF_CHANNEL_SEGMENT 24  /* bytes by which an unbounded channel grows */
#define WF_OVERTAKE 1          /* looks at the kernel while which new threads overtake */
#define WF_OVERTAKEN 2         /* times that others get a mutex before who waits does, */
#define WF_OVERTAKEN_US 0      /* and microseconds, if they are of other colors */
#define WF_STACK_BUNCH 2       /* free stacks that a worker gives or takes at a time */
#define WF_STACK_FRESH 2       /* stacks made at a time for a worker; at most a bunch */
#define WF_STACK_SLAB 512      /* KiB of address space for stacks at first */
#define WF_STACK_SLAB_MAX 1024 /* KiB taken later, at most, at a time */
#define WF_TAME_QUARANTINE 4   /* freed closures and events that are kept to find misuse */
#define WF_RESERVES 2          /* reserves (stall.c) beyond one for each worker */
#else
#define WF_COLOR_SHARDS 256
#define WF_COLOR_SLOTS 16
#define WF_POOL_CACHE 64
#define WF_HANDLERS 1024
#define WF_SKIPS 16
#define WF_LOOT 8
#define WF_PLENTY 4
#define WF_RING_ENTRIES 256
#define WF_RING_COMPLETIONS 4096
#define WF_POLL_BATCH 64
#define WF_POLL_PART 8
#define WF_FD_CHUNK 256
#define WF_FILE_PACE 256
#define WF_CHANNEL_SEGMENT 4000
#define WF_OVERTAKE 40
#define WF_OVERTAKEN 32
#define WF_OVERTAKEN_US 200
#define WF_STACK_BUNCH 32
#define WF_STACK_FRESH 16
#define WF_STACK_SLAB (16 << 10)
#define WF_STACK_SLAB_MAX (1 << 20)
#define WF_TAME_QUARANTINE 4096
#define WF_RESERVES 64
#endif

#define WF_WORKERS_MAX 1024
/* Workers and their stand-ins (OPEN), and the reserves as well (LIMIT). */
#define WF_WORKERS_OPEN(workers) (2 * (workers) + 2)
#define WF_WORKERS_LIMIT(workers) (WF_WORKERS_OPEN(workers) + (workers) + WF_RESERVES)

#endif
