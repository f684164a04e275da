/* tls.c - weft-httpd against clients that make it compute: what they may choose, how many
 * handshakes run at a time, and which connections wait meanwhile. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

/* The server, whose certificate and key are made here. */
static char certificate[128], key[128];

static void make_certificate(EVP_PKEY *pkey)
{
	X509 *x = X509_new();
	FILE *out;

	site_make();
	CHECK(pkey != NULL && x != NULL);
	snprintf(certificate, sizeof certificate, "%s/certificate", site);
	snprintf(key, sizeof key, "%s/key", site);
	X509_gmtime_adj(X509_getm_notBefore(x), 0);
	X509_gmtime_adj(X509_getm_notAfter(x), 86400);
	CHECK_EQ(X509_set_pubkey(x, pkey), 1);
	CHECK(X509_sign(x, pkey, EVP_sha256()) > 0);
	out = fopen(certificate, "w");
	CHECK(out != NULL && PEM_write_X509(out, x) == 1 && fclose(out) == 0);
	out = fopen(key, "w");
	CHECK(out != NULL && PEM_write_PrivateKey(out, pkey, NULL, NULL, 0, NULL, NULL) == 1 &&
	      fclose(out) == 0);
	X509_free(x);
	EVP_PKEY_free(pkey);
}

#define TLS_SERVER(...) \
	SERVER("--listen-tls", "127.0.0.1:0", "--certificate", certificate, "--key", key, \
	       ##__VA_ARGS__)

/* Clients */

/* One that wants just this; NULL: anything. It has no scruples about weak suites. */
static SSL *new_client(int version, const char *suite, const char *group)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl;

	SSL_CTX_set_security_level(ctx, 0);
	CHECK_EQ(SSL_CTX_set_min_proto_version(ctx, version), 1);
	CHECK_EQ(SSL_CTX_set_max_proto_version(ctx, version), 1);
	if (group != NULL)
		CHECK_EQ(SSL_CTX_set1_groups_list(ctx, group), 1);
	if (suite != NULL && version == TLS1_3_VERSION)
		CHECK_EQ(SSL_CTX_set_ciphersuites(ctx, suite), 1);
	else if (suite != NULL)
		CHECK_EQ(SSL_CTX_set_cipher_list(ctx, suite), 1);
	ssl = SSL_new(ctx);
	CHECK(ssl != NULL);
	SSL_CTX_free(ctx);
	return ssl;
}

static bool connect_client(SSL *ssl)
{
	CHECK_EQ(SSL_set_fd(ssl, dial_port("127.0.0.1", server_tls_port)), 1);
	ERR_clear_error();
	return SSL_connect(ssl) == 1;
}

static void end_client(SSL *ssl)
{
	close(SSL_get_fd(ssl));
	SSL_free(ssl);
}

static bool is_accepted(int version, const char *suite, const char *group)
{
	SSL *ssl = new_client(version, suite, group);
	bool accepted = connect_client(ssl);

	/* It is told so, and not just cut off. */
	if (!accepted)
		CHECK_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE);
	end_client(ssl);
	return accepted;
}

/* A ClientHello that anybody can send again and again, without computing anything. */
static size_t record_hello(const char *group, unsigned char *out, size_t size)
{
	SSL *ssl = new_client(TLS1_3_VERSION, NULL, group);
	BIO *from = BIO_new(BIO_s_mem()), *to = BIO_new(BIO_s_mem());
	int n;

	SSL_set_bio(ssl, from, to);
	CHECK_EQ(SSL_connect(ssl), -1);
	n = BIO_read(to, out, (int)size);
	CHECK(n > 0);
	SSL_free(ssl);
	return (size_t)n;
}

/* What is offered */

struct offer {
	int version;
	const char *suite, *group;
	bool accepted;
};

static void check_offers(const struct offer *offers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct offer *o = &offers[i];

		if (is_accepted(o->version, o->suite, o->group) != o->accepted)
			test_fail(__FILE__, __LINE__, "%s with %s was %s",
				  o->suite != NULL ? o->suite : "any suite",
				  o->group != NULL ? o->group : "any group",
				  o->accepted ? "refused" : "accepted");
	}
}

static const struct offer offers_of_any_key[] = {
	{ TLS1_3_VERSION, NULL, "X25519", true },
	{ TLS1_3_VERSION, NULL, "P-256", true },
	{ TLS1_3_VERSION, NULL, "P-384", true },
	{ TLS1_3_VERSION, NULL, "P-521", false },
	{ TLS1_3_VERSION, NULL, "X448", false },
	{ TLS1_3_VERSION, NULL, "ffdhe2048", false },
	{ TLS1_3_VERSION, NULL, "ffdhe3072", false },
	{ TLS1_3_VERSION, NULL, "ffdhe4096", false },
	{ TLS1_3_VERSION, NULL, "ffdhe6144", false },
	{ TLS1_3_VERSION, NULL, "ffdhe8192", false },
	{ TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256", NULL, true },
	{ TLS1_3_VERSION, "TLS_AES_256_GCM_SHA384", NULL, true },
	{ TLS1_3_VERSION, "TLS_CHACHA20_POLY1305_SHA256", NULL, true },
	{ TLS1_3_VERSION, "TLS_AES_128_CCM_SHA256", NULL, false },
	{ TLS1_3_VERSION, "TLS_AES_128_CCM_8_SHA256", NULL, false },
};

TEST(a_client_may_choose_only_what_is_cheap_and_good)
{
	static const struct offer offers[] = {
		{ TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256", "X25519:P-256", true },
		{ TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256", "P-256", true },
		{ TLS1_2_VERSION, "ECDHE-ECDSA-AES256-GCM-SHA384", NULL, true },
		{ TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305", NULL, true },
		{ TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA", NULL, false },
		{ TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA256", NULL, false },
		{ TLS1_2_VERSION, "ECDHE-ECDSA-AES256-SHA384", NULL, false },
		{ TLS1_2_VERSION, "ECDHE-ECDSA-AES128-CCM", NULL, false },
		{ TLS1_2_VERSION, "ECDHE-ECDSA-NULL-SHA", NULL, false },
		{ TLS1_2_VERSION, "AECDH-AES128-SHA", NULL, false },
		{ TLS1_2_VERSION, "ADH-AES128-GCM-SHA256", NULL, false },
	};

	make_certificate(EVP_EC_gen("P-256"));
	TLS_SERVER();
	check_offers(offers_of_any_key, sizeof offers_of_any_key / sizeof *offers_of_any_key);
	check_offers(offers, sizeof offers / sizeof *offers);
	server_end();
}

TEST(a_key_of_rsa_makes_no_other_offer)
{
	static const struct offer offers[] = {
		{ TLS1_2_VERSION, "ECDHE-RSA-AES128-GCM-SHA256", "X25519", true },
		{ TLS1_2_VERSION, "ECDHE-RSA-AES256-GCM-SHA384", "P-256", true },
		{ TLS1_2_VERSION, "ECDHE-RSA-CHACHA20-POLY1305", "P-521:P-384", true },
		{ TLS1_2_VERSION, "ECDHE-RSA-CHACHA20-POLY1305", "P-521", false },
		{ TLS1_2_VERSION, "ECDHE-RSA-CHACHA20-POLY1305", "X448", false },
		{ TLS1_2_VERSION, "ECDHE-RSA-AES128-SHA", NULL, false },
		{ TLS1_2_VERSION, "ECDHE-RSA-AES128-SHA256", NULL, false },
		{ TLS1_2_VERSION, "ECDHE-RSA-AES256-SHA384", NULL, false },
		{ TLS1_2_VERSION, "AES128-GCM-SHA256", NULL, false },
		{ TLS1_2_VERSION, "AES256-GCM-SHA384", NULL, false },
		{ TLS1_2_VERSION, "AES128-SHA", NULL, false },
		{ TLS1_2_VERSION, "AES256-SHA256", NULL, false },
		{ TLS1_2_VERSION, "DHE-RSA-AES128-GCM-SHA256", NULL, false },
		{ TLS1_2_VERSION, "DHE-RSA-AES256-GCM-SHA384", NULL, false },
		{ TLS1_2_VERSION, "DHE-RSA-CHACHA20-POLY1305", NULL, false },
		{ TLS1_2_VERSION, "DHE-RSA-AES128-SHA", NULL, false },
	};

	make_certificate(EVP_RSA_gen(2048));
	TLS_SERVER();
	check_offers(offers_of_any_key, sizeof offers_of_any_key / sizeof *offers_of_any_key);
	check_offers(offers, sizeof offers / sizeof *offers);
	server_end();
}

/* Handshakes beyond the bound */

/* P-384 costs a millisecond and more, and a key of it is made in no time. */
enum { CROWD = 400 };
static int crowd[CROWD];

/* Many send a hello, more than the server can answer within the queue time. */
static void begin_crowd(const char *source)
{
	unsigned char hello[4096];
	size_t size = record_hello("P-384", hello, sizeof hello);

	for (int i = 0; i < CROWD; i++) {
		crowd[i] = dial_port(source, server_tls_port);
		say_bytes(crowd[i], hello, size);
	}
}

/* How many have heard something by now, good or bad. */
static int crowd_answered(void)
{
	struct pollfd polls[CROWD];
	int n;

	for (int i = 0; i < CROWD; i++)
		polls[i] = (struct pollfd){ .fd = crowd[i], .events = POLLIN };
	n = poll(polls, CROWD, 0);
	CHECK(n >= 0);
	return n;
}

static void hear_crowd(void)
{
	for (int i = 0; i < CROWD; i++) {
		unsigned char type;

		CHECK_EQ(recv(crowd[i], &type, 1, 0), 1);
		CHECK_EQ(type, 22); /* a ServerHello */
		close(crowd[i]);
	}
}

static void one_at_a_time(const char *queue_time)
{
	make_certificate(EVP_EC_gen("P-384"));
	setenv("WEFT_WORKERS", "1", 1);
	TLS_SERVER("--max-handshakes", "1", "--queue-time", queue_time);
}

/* Less than all handshakes take. By ThreadSanitizer it costs too much time to begin a connection. */
#ifdef __SANITIZE_THREAD__
#define QUEUE_TIME "10000"
#else
#define QUEUE_TIME "200"
#endif

TEST(handshakes_beyond_the_bound_wait_and_are_not_cut_off)
{
	one_at_a_time(QUEUE_TIME);
	begin_crowd("127.0.0.1");
	hear_crowd();
	server_end();
}

/* Were the handshakes done by the worker, or in the order of coming, others would have a handful of
 * replies until all of the crowd have theirs; else a request takes much less than a handshake. */
TEST(handshakes_keep_no_other_connection_of_the_worker_waiting)
{
	int kept, replies = 0;

	one_at_a_time("10000");
	kept = dial();
	begin_crowd("127.0.0.2");
	while (crowd_answered() < CROWD) {
		say(kept, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
		CHECK_EQ(hear_reply(kept), 200);
		replies++;
	}
	CHECK(replies > CROWD / 10);
	close(kept);
	hear_crowd();
	server_end();
}

TEST(a_stranger_with_many_handshakes_does_not_keep_others_waiting)
{
	int clients = 0;

	one_at_a_time("10000");
	begin_crowd("127.0.0.2");
	while (crowd_answered() < CROWD) {
		SSL *ssl = new_client(TLS1_3_VERSION, NULL, NULL);

		CHECK(connect_client(ssl));
		end_client(ssl);
		clients++;
	}
	CHECK(clients > CROWD / 40);
	hear_crowd();
	server_end();
}

/* Without giving way they would fill the places, and then the number of those that leave. */
TEST(handshakes_that_wait_for_their_turn_give_way)
{
	unsigned char hello[4096];
	size_t size = record_hello("P-384", hello, sizeof hello);

	make_certificate(EVP_EC_gen("P-384"));
	setenv("WEFT_WORKERS", "1", 1);
	TLS_SERVER("--max-handshakes", "1", "--max-connections", "20");
	for (int i = 0; i < CROWD; i++) {
		crowd[i] = dial_port("127.0.0.2", server_tls_port);
		say_bytes(crowd[i], hello, size);
		if (i % 4 == 3)
			CHECK_EQ(get("/a.txt", ""), 200);
		if (i % 40 == 39) {
			SSL *ssl = new_client(TLS1_3_VERSION, NULL, NULL);

			CHECK(connect_client(ssl));
			end_client(ssl);
		}
	}
	for (int i = 0; i < CROWD; i++)
		close(crowd[i]);
	server_end();
}

TEST(a_client_that_has_no_place_is_told_so)
{
	SSL *ssl = new_client(TLS1_3_VERSION, NULL, NULL);
	char directory[sizeof site];
	int busy;

	signal(SIGPIPE, SIG_IGN);
	make_certificate(EVP_EC_gen("P-256"));
	strcpy(directory, site);
	site[0] = '\0'; /* the server's own pages */
	TLS_SERVER("--max-connections", "1");
	strcpy(site, directory);
	busy = dial();
	for (int i = 0; i < 5; i++)
		say(busy, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(!connect_client(ssl));
	CHECK_EQ(ERR_GET_REASON(ERR_peek_error()), SSL_R_TLSV1_ALERT_INTERNAL_ERROR);
	close(busy);
	end_client(ssl);
	server_end();
}

TEST(a_handshake_that_dawdles_takes_no_turn)
{
	unsigned char hello[4096];
	size_t size = record_hello("X25519", hello, sizeof hello);
	SSL *ssl = new_client(TLS1_3_VERSION, NULL, NULL);
	int slow[2];

	make_certificate(EVP_EC_gen("P-256"));
	TLS_SERVER("--max-handshakes", "1");
	for (int i = 0; i < 2; i++)
		slow[i] = dial_port("127.0.0.1", server_tls_port);
	say_bytes(slow[0], hello, size / 2); /* half a hello */
	say_bytes(slow[1], hello, size);     /* a hello, and then nothing */
	hear(slow[1], 1);
	CHECK(connect_client(ssl));
	end_client(ssl);
	say_bytes(slow[0], hello + size / 2, size - size / 2);
	hear(slow[0], 1);
	CHECK_EQ(answer[0], 22);
	for (int i = 0; i < 2; i++)
		close(slow[i]);
	server_end();
}

TEST(a_hello_in_pieces_of_a_byte_is_taken)
{
	unsigned char hello[4096], piece[6] = { 22, 3, 1, 0, 1 };
	size_t size = record_hello("X25519", hello, sizeof hello);
	int fd;

	make_certificate(EVP_EC_gen("P-256"));
	TLS_SERVER();
	fd = dial_port("127.0.0.1", server_tls_port);
	for (size_t i = 5; i < size; i++) { /* a record for each */
		piece[5] = hello[i];
		say_bytes(fd, piece, sizeof piece);
	}
	hear(fd, 1);
	CHECK_EQ(answer[0], 22);
	close(fd);
	server_end();
}

TEST(a_large_hello_that_drips_is_cut_off)
{
	static const unsigned char head[] = { 22, 3, 1, 0x40, 0, 1, 1, 0, 0 };
	struct pollfd p = { .events = POLLIN };

	make_certificate(EVP_EC_gen("P-256"));
	TLS_SERVER("--head-time", "150");
	p.fd = dial_port("127.0.0.1", server_tls_port);
	say_bytes(p.fd, head, sizeof head);
	do
		say(p.fd, "X");
	while (poll(&p, 1, 5) == 0);
	CHECK(recv(p.fd, answer, sizeof answer, 0) <= 0);
	close(p.fd);
	server_end();
}

/* Sends what a client that writes to memory has to say. */
static void send_said(SSL *ssl, int fd)
{
	char *said;
	long size = BIO_get_mem_data(SSL_get_wbio(ssl), &said);

	say_bytes(fd, said, (size_t)size);
	CHECK_EQ(BIO_reset(SSL_get_wbio(ssl)), 1);
}

TEST(a_client_may_end_its_side_with_the_handshake)
{
	static const char request[] = "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n";
	SSL *ssl = new_client(TLS1_3_VERSION, NULL, NULL);
	int fd;

	make_certificate(EVP_EC_gen("P-256"));
	TLS_SERVER();
	fd = dial_port("127.0.0.1", server_tls_port);
	SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	CHECK_EQ(SSL_connect(ssl), -1);
	send_said(ssl, fd);
	SSL_set0_rbio(ssl, BIO_new_socket(fd, BIO_NOCLOSE));
	CHECK_EQ(SSL_connect(ssl), 1);
	CHECK_EQ(SSL_write(ssl, request, sizeof request - 1), sizeof request - 1);
	send_said(ssl, fd);
	shutdown(fd, SHUT_WR);
	CHECK(SSL_read(ssl, answer, sizeof answer) > 0);
	CHECK_EQ(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
	close(fd);
	SSL_free(ssl);
	server_end();
}

/* After the handshake */

enum { UPDATES = 1000, ROUNDS_MOST = 200 };

/* Sends many key updates, and throws away what comes. False: the server has closed. */
static bool change_keys(SSL *ssl, int fd)
{
	BIO *out = SSL_get_wbio(ssl);
	char *records;
	long size;

	for (int i = 0; i < UPDATES; i++) {
		CHECK_EQ(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED), 1);
		CHECK_EQ(SSL_do_handshake(ssl), 1);
	}
	size = BIO_get_mem_data(out, &records);
	if (send(fd, records, (size_t)size, MSG_NOSIGNAL) != size)
		return false;
	CHECK_EQ(BIO_reset(out), 1);
	while (recv(fd, answer, sizeof answer, MSG_DONTWAIT) > 0)
		;
	return true;
}

/* An update that is requested costs the server two new keys, and the client one. So the server is
 * always behind, and never waits for input. */
TEST(who_only_changes_keys_is_idle)
{
	SSL *ssl = new_client(TLS1_3_VERSION, NULL, NULL);
	int fd, rounds = 0;

	make_certificate(EVP_EC_gen("P-256"));
	TLS_SERVER("--idle-time", "200", "--head-time", "200");
	CHECK(connect_client(ssl));
	fd = SSL_get_fd(ssl);
	SSL_set0_wbio(ssl, BIO_new(BIO_s_mem()));
	while (change_keys(ssl, fd))
		CHECK(++rounds < ROUNDS_MOST);
	close(fd);
	SSL_free(ssl);
	server_end();
}

TEST(key_updates_between_requests_do_no_harm)
{
	static const char request[] = "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n";
	SSL *ssl = new_client(TLS1_3_VERSION, NULL, NULL);

	make_certificate(EVP_EC_gen("P-256"));
	TLS_SERVER();
	CHECK(connect_client(ssl));
	for (int i = 0; i < 20; i++) {
		SSL_key_update(ssl, i % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED
					       : SSL_KEY_UPDATE_NOT_REQUESTED);
		CHECK_EQ(SSL_write(ssl, request, sizeof request - 1), sizeof request - 1);
		CHECK(SSL_read(ssl, answer, sizeof answer) > 0);
		CHECK_EQ(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
	}
	end_client(ssl);
	server_end();
}

TEST(a_client_that_does_not_read_leaves_nothing_in_the_kernel)
{
	static const char request[] = "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n";
	SSL *ssl = new_client(TLS1_3_VERSION, NULL, NULL);

	make_certificate(EVP_EC_gen("P-256"));
	TLS_SERVER("--send-time", "150", "--idle-time", "300");
	CHECK(connect_client(ssl));
	CHECK_EQ(SSL_write(ssl, request, sizeof request - 1), sizeof request - 1);
	CHECK(SSL_read(ssl, answer, 100) > 0);
	while (status_number("open") > 1)
		;
	while (program_unsent(server_tls_port) > 0)
		;
	end_client(ssl);
	server_end();
}

TEST_MAIN
