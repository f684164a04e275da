/* Real tasks of OpenMP, in a file that knows nothing of Weft: linked beside blocks. */
#include <stdio.h>
#include <stdlib.h>

int openmp_sum(int n);

/* Adds up 0 to n - 1 by tasks, on the threads of OpenMP's runtime. */
int openmp_sum(int n)
{
	int sum = 0;

#pragma omp parallel num_threads(4)
#pragma omp single
	for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i) shared(sum)
		{
#pragma omp atomic
			sum += i;
		}
	}
	return sum;
}

__attribute__((constructor)) static void check_openmp(void)
{
	if (openmp_sum(1000) != 499500) {
		fputs("tasks of OpenMP are not what they were\n", stderr);
		abort();
	}
}
