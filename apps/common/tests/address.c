/* address.c - who counts as one address, and how many connections each has. */
#include "../address.c"

#include <arpa/inet.h>

#include "harness/test.h"

static struct sockaddr_storage peer(const char *text)
{
	struct sockaddr_storage storage = { .ss_family = AF_INET6 };

	if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&storage)->sin6_addr) == 1)
		return storage;
	storage.ss_family = AF_INET;
	CHECK_EQ(inet_pton(AF_INET, text, &((struct sockaddr_in *)&storage)->sin_addr), 1);
	return storage;
}

static bool add_one(const char *text)
{
	struct sockaddr_storage from = peer(text);

	return address_add(&from);
}

static void remove_one(const char *text)
{
	struct sockaddr_storage from = peer(text);

	address_remove(&from);
}

TEST(each_address_has_its_own_share)
{
	address_init(2);
	CHECK(add_one("10.0.0.1") && add_one("10.0.0.1") && !add_one("10.0.0.1"));
	CHECK(add_one("10.0.0.2") && add_one("0.0.0.0") && add_one("::1"));
	remove_one("10.0.0.1");
	CHECK(add_one("10.0.0.1") && !add_one("10.0.0.1"));
}

TEST(an_address_is_the_same_however_it_is_written)
{
	address_init(1);
	CHECK(add_one("10.0.0.1") && !add_one("::ffff:10.0.0.1"));
	remove_one("::ffff:10.0.0.1");
	CHECK(add_one("10.0.0.1"));
}

TEST(a_network_of_64_bits_is_one_address)
{
	address_init(1);
	CHECK(add_one("2001:db8:1:2::1") && !add_one("2001:db8:1:2:ffff::9"));
	CHECK(add_one("2001:db8:1:3::1") && add_one("::1") && add_one("0.0.0.0"));
}

TEST(without_a_limit_none_is_refused)
{
	address_init(0);
	for (int i = 0; i < 100; i++)
		CHECK(add_one("10.0.0.1"));
	remove_one("10.0.0.1");
}

static unsigned longest_shard(void)
{
	unsigned longest = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		unsigned count = 0;

		for (const struct address *a = shards[i].first; a != NULL; a = a->next)
			count++;
		longest = count > longest ? count : longest;
	}
	return longest;
}

/* As many as there are shards; a good hash has seldom more than 7 in one. */
TEST(neighbors_are_spread_over_the_shards)
{
	struct sockaddr_storage v4 = { .ss_family = AF_INET }, v6 = { .ss_family = AF_INET6 };

	address_init(1);
	for (uint32_t i = 0; i < SHARDS / 2; i++) {
		((struct sockaddr_in *)&v4)->sin_addr.s_addr = htonl(0x0a000000 + i);
		((struct sockaddr_in6 *)&v6)->sin6_addr.s6_addr[6] = (uint8_t)(i >> 8);
		((struct sockaddr_in6 *)&v6)->sin6_addr.s6_addr[7] = (uint8_t)i;
		CHECK(address_add(&v4) && address_add(&v6));
	}
	CHECK(longest_shard() < 20);
}

/* Who has learned of one server which addresses collide knows nothing of another. */
TEST(where_an_address_is_kept_is_a_secret)
{
	unsigned before[64], same = 0;

	address_init(1);
	for (unsigned i = 0; i < 64; i++)
		before[i] = shard_of(i);
	address_init(1);
	for (unsigned i = 0; i < 64; i++)
		same += before[i] == shard_of(i);
	CHECK(same < 8);
}

TEST_MAIN
