/* job.c - operations that may block, on their way through the offload pool.
 *
 * The pool's thread ends the operation itself; the event of the weft_work then
 * only frees the job, in a color of its own.
 */
#include <errno.h>

#include "base/memory.h"
#include "io/backend.h"
#include "scheduler/scheduler.h"

struct wf_job {
	weft_work work;
	struct wf_fd *f;
	weft_op *op;
	struct wf_job *next, *prev; /* in f->jobs */
};

static weft_color free_color;

int wf_jobs_start(void)
{
	free_color = weft_color_new();
	return 0;
}

static void list_job(struct wf_fd *f, struct wf_job *job) WF_REQUIRES(f->lock)
{
	job->prev = NULL;
	job->next = f->jobs;
	if (f->jobs != NULL)
		f->jobs->prev = job;
	f->jobs = job;
}

static void free_job(void *arg)
{
	struct wf_job *job = arg;
	struct wf_fd *f = job->f;

	wf_lock_take(&f->lock);
	if (job->prev != NULL)
		job->prev->next = job->next;
	else
		f->jobs = job->next;
	if (job->next != NULL)
		job->next->prev = job->prev;
	wf_lock_give(&f->lock);
	free(job);
}

static void end_job(struct wf_fd *f, weft_op *op, int64_t result)
{
	struct wf_after after = { 0 };
	int gate = wf_enter();

	if (wf_op_gives(op) && result >= 0)
		wf_give_received(op, (int)result, WF_KIND_UNKNOWN);
	wf_lock_take(&f->lock);
	op->extra_ = NULL;
	wf_io->offloaded(f, op, result, &after);
	wf_lock_give(&f->lock);
	wf_after_do(&after);
	if (gate == 0)
		wf_leave();
}

/* A cancel that came before the pool had the job could not take it back. */
static bool unwanted(struct wf_fd *f, const weft_op *op)
{
	bool cancel;

	wf_lock_take(&f->lock);
	cancel = op->flags_ & WF_OP_CANCEL && op->kind_ != WF_OP_CLOSE;
	wf_lock_give(&f->lock);
	return cancel;
}

static int call(void *arg)
{
	struct wf_job *job = arg;
	bool end_it = unwanted(job->f, job->op);

	end_job(job->f, job->op, end_it ? -ECANCELED : wf_do_blocking(job->op));
	return 0;
}

int wf_job_start(struct wf_fd *f, weft_op *op)
{
	struct wf_job *job = WF_NEW(struct wf_job);
	int rc;

	if (job == NULL)
		return -ENOMEM;
	job->f = f;
	job->op = op;
	weft_work_init(&job->work, free_color, free_job, job);
	wf_lock_take(&f->lock);
	list_job(f, job);
	op->extra_ = job;
	wf_lock_give(&f->lock);
	rc = weft_work_start(&job->work, call);
	if (rc < 0) {
		wf_lock_take(&f->lock);
		op->extra_ = NULL;
		wf_lock_give(&f->lock);
		free_job(job);
	}
	return rc;
}

bool wf_job_cancel(struct wf_fd *f, weft_op *op)
{
	struct wf_job *job = op->extra_;

	(void)f;
	return job != NULL && weft_work_cancel(&job->work) == 0;
}

void wf_jobs_free(struct wf_fd *f)
{
	while (f->jobs != NULL) {
		struct wf_job *job = f->jobs;

		f->jobs = job->next;
		free(job);
	}
}
