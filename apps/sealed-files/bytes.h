/* bytes.h - numbers as bytes, the highest first. */
#ifndef SEALED_BYTES_H
#define SEALED_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put_16(uint8_t *to, uint16_t value)
{
	value = htobe16(value);
	memcpy(to, &value, sizeof value);
}

static inline void put_32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof value);
}

static inline void put_64(uint8_t *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof value);
}

static inline uint16_t get_16(const uint8_t *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof value);
	return be16toh(value);
}

static inline uint32_t get_32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof value);
	return be32toh(value);
}

static inline uint64_t get_64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof value);
	return be64toh(value);
}

#endif
