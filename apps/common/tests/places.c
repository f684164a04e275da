/* places.c - who counts as one address, and which connection loses its place to a newcomer. */
#include <arpa/inet.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/time.h>

#include "harness/test.h"

/* The kernel's answers about every connection, faked: how much was sent and is not taken, and when
 * some was sent last. */
static int left_now;
static int stopped; /* connections below this number take no more */
static struct tcp_info told;

static int tell_size(int fd, unsigned long what, int *size)
{
	if (what != SIOCOUTQ)
		return ioctl(fd, what, size);
	*size = left_now;
	return 0;
}

static int tell_info(int fd, int level, int name, void *value, socklen_t *size)
{
	CHECK(fd >= -1 && level == IPPROTO_TCP && name == TCP_INFO && *size == sizeof told);
	memcpy(value, &told, sizeof told);
	if (fd >= 0 && fd < stopped)
		((struct tcp_info *)value)->tcpi_last_data_sent = 1000;
	return 0;
}

static uint64_t later; /* than by the clock */

static uint64_t tell_time(void)
{
	return weft_now() + later;
}

#define weft_now tell_time
#define ioctl tell_size
#define getsockopt tell_info
#include "../places.c"
#undef getsockopt
#undef ioctl
#undef weft_now

static struct sockaddr_storage peer(const char *text)
{
	struct sockaddr_storage storage = { .ss_family = AF_INET6 };

	if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&storage)->sin6_addr) == 1)
		return storage;
	storage.ss_family = AF_INET;
	CHECK_EQ(inet_pton(AF_INET, text, &((struct sockaddr_in *)&storage)->sin_addr), 1);
	return storage;
}

/* The connections of a test, in the order in which they came. */
static struct conn_place held[2 * BUCKETS];
static unsigned came;

static struct conn_place *add(const char *text)
{
	struct sockaddr_storage from = peer(text);

	return place_take(&held[came], -1, &from) ? &held[came++] : NULL;
}

static bool add_busy(const char *text)
{
	struct conn_place *p = add(text);

	return p != NULL && place_busy(p);
}

static void begin(uint64_t most, uint64_t most_of_address)
{
	while (came > 0)
		place_leave(&held[--came]);
	memset(held, 0, sizeof held);
	CHECK_EQ(places.count, 0);
	CHECK_EQ(places.leaving, 0);
	CHECK(places.lists.waiting.first == NULL && places.lists.waiting.last == NULL);
	CHECK(places.lists.taking.first == NULL && places.lists.taking.last == NULL);
	later = 0;
	stopped = left_now = 0;
	places_init(most, most_of_address);
}

static bool lost(unsigned i)
{
	return atomic_load(&held[i].state) == LOST;
}

TEST(each_address_has_its_own_share)
{
	begin(0, 2);
	CHECK(add_busy("10.0.0.1") && add_busy("10.0.0.1") && !add_busy("10.0.0.1"));
	CHECK(add_busy("10.0.0.2") && add_busy("0.0.0.0") && add_busy("::1"));
	place_leave(&held[0]);
	CHECK(add_busy("10.0.0.1") && !add_busy("10.0.0.1"));
}

TEST(an_address_is_the_same_however_it_is_written)
{
	begin(0, 1);
	CHECK(add_busy("10.0.0.1") && !add_busy("::ffff:10.0.0.1"));
	place_leave(&held[0]);
	CHECK(add_busy("::ffff:10.0.0.1"));
}

TEST(a_network_of_64_bits_is_one_address)
{
	begin(0, 1);
	CHECK(add_busy("2001:db8:1:2::1") && !add_busy("2001:db8:1:2:ffff::9"));
	CHECK(add_busy("2001:db8:1:3::1") && add_busy("::1") && add_busy("0.0.0.0"));
}

TEST(without_limits_none_is_refused)
{
	begin(0, 0);
	for (int i = 0; i < 100; i++)
		CHECK(add_busy("10.0.0.1"));
}

TEST(a_newcomer_takes_the_place_of_the_connection_that_has_waited_longest)
{
	begin(3, 0);
	CHECK(add("10.0.0.1") && add("10.0.0.2") && add("10.0.0.3"));
	CHECK(place_busy(&held[0]));
	place_wait(&held[0], weft_now());
	CHECK(add("10.0.0.4") && lost(1));
	CHECK(!place_busy(&held[1]));
	CHECK(add("10.0.0.4") && lost(2) && !lost(0));
	CHECK(add("10.0.0.4") && lost(0));
	CHECK(add("10.0.0.5") && lost(3) && !lost(4));
	CHECK_EQ(places.count, 3);
}

TEST(a_crowd_is_all_of_an_address)
{
	begin(4, 0);
	CHECK(add("10.0.0.1") && add_busy("10.0.0.2") && add("10.0.0.2"));
	CHECK_EQ(place_crowd(&held[0]), 1);
	CHECK_EQ(place_crowd(&held[1]), 2);
	CHECK(add("10.0.0.2") && add("10.0.0.2") && lost(0));
	CHECK_EQ(place_crowd(&held[0]), 0);
	CHECK_EQ(place_crowd(&held[1]), 4);
	place_leave(&held[1]);
	CHECK_EQ(place_crowd(&held[1]), 0);
	CHECK_EQ(place_crowd(&held[2]), 3);
}

TEST(busy_connections_keep_their_places)
{
	begin(2, 0);
	CHECK(add_busy("10.0.0.1") && add("10.0.0.2"));
	CHECK(add_busy("10.0.0.3") && lost(1));
	CHECK(!add("10.0.0.4") && !lost(0) && !lost(2));
	place_wait(&held[2], weft_now()); /* it was in no list any more */
	CHECK(add("10.0.0.4") && lost(2) && !lost(0));
}

TEST(one_who_asks_again_within_a_second_can_lose_its_place_all_the_same)
{
	uint64_t now = weft_now();

	begin(1, 0);
	CHECK(add_busy("10.0.0.1"));
	for (int i = 0; i < 3; i++) {
		place_wait(&held[0], now);
		CHECK(place_busy(&held[0]));
	}
	CHECK(!add("10.0.0.2"));
	place_wait(&held[0], now);
	place_wait(&held[0], now); /* it waits already */
	CHECK(add("10.0.0.2") && lost(0));
}

TEST(an_address_that_has_its_share_loses_a_connection_of_its_own)
{
	begin(0, 2);
	CHECK(add("10.0.0.1") && add("10.0.0.2") && add("10.0.0.2"));
	CHECK(add("10.0.0.2") && lost(1) && !lost(0) && !lost(2));
	CHECK_EQ(places.count, 3);
}

TEST(connections_without_places_are_counted_by_their_addresses)
{
	struct sockaddr_storage from = peer("10.0.0.1"), other = peer("10.0.0.2");
	struct address *a, *b;

	begin(0, 2);
	a = place_of_address(&from);
	CHECK(a != NULL && place_of_address(&from) == a && place_of_address(&from) == NULL);
	b = place_of_address(&other);
	CHECK(b != NULL && b != a);
	place_of_address_leave(a);
	CHECK(place_of_address(&from) == a);
	place_of_address_leave(a);
	place_of_address_leave(a);
	place_of_address_leave(b);
	CHECK_EQ(places.count, 0);
}

TEST(no_more_lose_their_places_than_have_left)
{
	begin(1, 0);
	for (int i = 0; i <= LEAVING_MOST; i++)
		CHECK(add("10.0.0.1"));
	CHECK(!add("10.0.0.1"));
	place_leave(&held[0]);
	CHECK(add("10.0.0.1"));
}

TEST(a_connection_that_lost_its_place_is_shut_down)
{
	struct sockaddr_storage from = peer("10.0.0.1");
	char byte;
	int fds[2];

	begin(0, 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	places_make_room(); /* nobody has one yet */
	CHECK(place_take(&held[came++], fds[0], &from));
	places_make_room();
	CHECK(lost(0));
	CHECK_EQ(recv(fds[0], &byte, 1, MSG_DONTWAIT), 0);
	CHECK_EQ(recv(fds[1], &byte, 1, MSG_DONTWAIT), 0);
	close(fds[0]);
	close(fds[1]);
}

TEST(who_has_spoken_and_was_not_heard_keeps_its_place)
{
	struct sockaddr_storage from = peer("10.0.0.1");
	int fds[2];

	begin(2, 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	CHECK(place_take(&held[came++], fds[0], &from) && add("10.0.0.2"));
	CHECK_EQ(send(fds[1], "x", 1, 0), 1);
	CHECK(add("10.0.0.3") && lost(1));
	CHECK(add_busy("10.0.0.3") && lost(2));
	CHECK(!add("10.0.0.3") && !lost(0) && !lost(3)); /* all have */
	close(fds[0]);
	close(fds[1]);
}

TEST(who_yields_can_lose_its_place_though_it_has_spoken)
{
	struct sockaddr_storage from = peer("10.0.0.1");
	int fds[2];

	begin(1, 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	CHECK(place_take(&held[came++], fds[0], &from));
	CHECK_EQ(send(fds[1], "x", 1, 0), 1);
	place_yield(&held[0], true);
	place_yield(&held[0], false);
	CHECK(!add("10.0.0.2"));
	place_yield(&held[0], true);
	CHECK(add("10.0.0.2") && lost(0));
	close(fds[0]);
	close(fds[1]);
}

TEST(who_takes_what_was_sent_keeps_its_place)
{
	begin(1, 0);
	CHECK(add("10.0.0.1"));
	left_now = SOCKET_LEFT + 1;
	told.tcpi_last_data_sent = 999;
	for (int i = 0; i < 3; i++) /* however many look */
		CHECK(!add("10.0.0.2") && !lost(0));
	told.tcpi_last_data_sent = 1000;
	later = TAKE_TIME;
	CHECK(add("10.0.0.2") && lost(0));
	left_now = SOCKET_LEFT; /* with the rest the kernel can be left */
	told.tcpi_last_data_sent = 0;
	CHECK(add("10.0.0.3") && lost(1));
}

TEST(who_has_taken_all_can_lose_its_place_as_any_other)
{
	begin(1, 0);
	CHECK(add("10.0.0.1"));
	left_now = SOCKET_LEFT + 1;
	CHECK(!add("10.0.0.2"));
	CHECK(place_busy(&held[0]));
	left_now = 0;
	place_wait(&held[0], weft_now());
	CHECK(add("10.0.0.2") && lost(0));
}

TEST(who_takes_what_the_server_holds_back_keeps_its_place)
{
	begin(1, 0);
	CHECK(add("10.0.0.1"));
	place_sent(&held[0], weft_now() + 3600 * WEFT_SEC);
	CHECK(!add("10.0.0.2") && !add("10.0.0.2") && !lost(0));
	place_sent(&held[0], 0);
	later = TAKE_TIME;
	CHECK(add("10.0.0.2") && lost(0));
	place_sent(&held[1], weft_now() + later - TAKE_TIME);
	CHECK(add("10.0.0.3") && lost(1));
}

TEST(those_who_take_do_not_hide_those_who_have_stopped)
{
	enum { FIRST = 1 << 20 };
	struct sockaddr_storage from = peer("10.0.0.1");

	begin(5 * LOOKS / 2, 0);
	left_now = SOCKET_LEFT + 1;
	told.tcpi_last_data_sent = 0;
	for (int i = 0; i < 5 * LOOKS / 2; i++)
		CHECK(place_take(&held[came++], FIRST + i, &from));
	for (int i = 0; i < 3; i++)
		CHECK(!add("10.0.0.2"));
	later = TAKE_TIME;
	stopped = FIRST + LOOKS / 2;
	for (unsigned i = 0; i < LOOKS / 2; i++)
		CHECK(add_busy("10.0.0.2") && lost(i));
	CHECK(!add("10.0.0.2"));
}

/* As many as there are buckets; a good hash has seldom more than 7 in one. */
static unsigned longest_bucket(void)
{
	unsigned longest = 0;

	for (unsigned i = 0; i < BUCKETS; i++) {
		unsigned count = 0;

		for (const struct address *a = places.buckets[i]; a != NULL; a = a->next)
			count++;
		longest = count > longest ? count : longest;
	}
	return longest;
}

TEST(neighbors_are_spread_over_the_buckets)
{
	struct sockaddr_storage v4 = { .ss_family = AF_INET }, v6 = { .ss_family = AF_INET6 };

	begin(0, 1);
	for (uint32_t i = 0; i < BUCKETS / 2; i++) {
		((struct sockaddr_in *)&v4)->sin_addr.s_addr = htonl(0x0a000000 + i);
		((struct sockaddr_in6 *)&v6)->sin6_addr.s6_addr[6] = (uint8_t)(i >> 8);
		((struct sockaddr_in6 *)&v6)->sin6_addr.s6_addr[7] = (uint8_t)i;
		CHECK(place_take(&held[came++], -1, &v4) && place_take(&held[came++], -1, &v6));
	}
	CHECK(longest_bucket() < 20);
	begin(0, 0);
}

/* Who has learned of one server which addresses collide knows nothing of another. */
TEST(where_an_address_is_kept_is_a_secret)
{
	unsigned before[64], same = 0;

	begin(0, 1);
	for (unsigned i = 0; i < 64; i++)
		before[i] = bucket_of(i);
	begin(0, 1);
	for (unsigned i = 0; i < 64; i++)
		same += before[i] == bucket_of(i);
	CHECK(same < 8);
}

TEST_MAIN
