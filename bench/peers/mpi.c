/* mpi.c - a message to and fro between two MPI processes, by shared memory; weft-bench
 * runs it as a child.
 *
 * usage: weft-bench-mpi ping-pong|round-trip THREADS ROUNDS CORES DEPTH
 * Prints the nanoseconds that a message of 8 bytes takes one way, or those of a whole
 * round trip: the median, and the mean. Started by itself it starts mpirun, which starts
 * it twice.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ping_pong(int rank, long rounds)
{
	long value = 0;
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (long i = 0; i < rounds; i++) {
		if (rank == 0)
			MPI_Send(&value, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(&value, 1, MPI_LONG, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(&value, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("%g\n", (MPI_Wtime() - start) * 1e9 / (2 * (double)rounds));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* As ping_pong, but each round trip is timed by itself. */
static void round_trip(int rank, long rounds)
{
	double *times = calloc((size_t)rounds, sizeof *times), last, now, sum = 0;
	long value = 0;

	if (times == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	last = MPI_Wtime();
	for (long i = 0; i < rounds; i++) {
		if (rank == 0)
			MPI_Send(&value, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(&value, 1, MPI_LONG, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(&value, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
		now = MPI_Wtime();
		times[i] = (now - last) * 1e9;
		sum += times[i];
		last = now;
	}
	qsort(times, (size_t)rounds, sizeof *times, compare);
	if (rank == 0)
		printf("%g %g\n", times[rounds / 2], sum / (double)rounds);
	free(times);
}

int main(int argc, char **argv)
{
	int rank;

	if (argc != 6) {
		fprintf(stderr,
			"usage: weft-bench-mpi ping-pong|round-trip THREADS ROUNDS CORES DEPTH\n");
		return 2;
	}
	if (getenv("OMPI_COMM_WORLD_SIZE") == NULL) {
		/* In containers everybody is root; mpirun wants to hear it twice. */
		setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
		setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
		execlp("mpirun", "mpirun", "-np", "2", "--bind-to", "core", "--mca", "btl",
		       "self,vader", "--mca", "pml", "ob1", argv[0], argv[1], argv[2], argv[3],
		       argv[4], argv[5], (char *)NULL);
		perror("mpirun");
		return 1;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(argv[1], "round-trip") == 0)
		round_trip(rank, atol(argv[3]));
	else
		ping_pong(rank, atol(argv[3]));
	MPI_Finalize();
	return 0;
}
