/* web.c - starts web servers and has them asked. */
#include "web.h"

#include <stdio.h>

struct client_question web_question(const char *path, int body)
{
	struct client_question q = { .body = body };

	q.size = snprintf(q.text, sizeof q.text, "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
			  path);
	return q;
}

static double cpu_of(const struct site *sites, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += site_cpu(&sites[i]);
	return sum;
}

static int start_one(const struct web_case *c, struct site *site)
{
	int err = site_make(site, &site_servers[c->server], c->workers);

	site->steal = c->steal;
	site->pin = c->workers == 1 && c->copies <= 1 && bench_cpus() > 1 ? 0 : -1;
	if (err == 0)
		err = c->add_files(site);
	return err < 0 ? err : site_start(site);
}

static int ask_all(const struct site *sites, int count, struct client_load *load,
		   struct client_result *result)
{
	double cpu;
	int err;

	load->port_count = count;
	for (int i = 0; i < count; i++)
		load->ports[i] = sites[i].port;
	if (sites[0].pin >= 0)
		bench_pin(1);
	bench_raise_files();
	err = client_begin(load);
	cpu = cpu_of(sites, count);
	if (err == 0)
		err = client_go(result);
	cpu = cpu_of(sites, count) - cpu;
	if (err == 0)
		result->cpu_us = cpu * 1e6 / (result->requests_per_s * load->seconds);
	return err;
}

int web_measure(const struct web_case *c, struct client_result *result)
{
	struct site sites[ECHO_LOOPS_MAX];
	struct client_load load = c->load;
	int count = c->copies > 0 ? c->copies : 1, made = 0, err = 0;

	while (err == 0 && made < count)
		err = start_one(c, &sites[made++]);
	if (err == 0)
		err = ask_all(sites, count, &load, result);
	while (made > 0)
		err = site_stop(&sites[--made], err);
	return err;
}

struct bench_row *web_add(const char *label, const struct web_case *c, bench_measure *fn)
{
	const struct site_server *server = &site_servers[c->server];
	const char *missing = site_missing(server);

	if (missing == NULL)
		return bench_add(label, server->name, fn, c);
	bench_add_missing(label, server->name, missing);
	return NULL;
}
