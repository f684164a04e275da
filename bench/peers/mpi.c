/* mpi.c - a message to and fro between two MPI processes, by shared memory; weft-bench
 * runs it as a child.
 *
 * usage: weft-bench-mpi ping-pong THREADS ROUNDS CORES DEPTH
 * Prints the nanoseconds that a message of 8 bytes takes one way. Started by itself it
 * starts mpirun, which starts it twice.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(int argc, char **argv)
{
	int rank;

	if (argc != 6) {
		fprintf(stderr, "usage: weft-bench-mpi ping-pong THREADS ROUNDS CORES DEPTH\n");
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
	ping_pong(rank, atol(argv[3]));
	MPI_Finalize();
	return 0;
}
