/* date.c - dates as HTTP writes them. */
#include "date.h"

#include <stdio.h>

/* The last second of which the year has four digits. */
#define LAST 253402300799

static const char days[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static char *two_digits(char *out, int n)
{
	*out++ = (char)('0' + n / 10 % 10);
	*out++ = (char)('0' + n % 10);
	return out;
}

void date_write(time_t when, char out[DATE_SIZE])
{
	struct tm t;
	char *at = out;

	if (when < 0 || when > LAST) /* no file is of then, whatever its time says */
		when = 0;
	gmtime_r(&when, &t);
	memcpy(at, &days[3 * t.tm_wday], 3);
	memcpy(at + 3, ", ", 2);
	at = two_digits(at + 5, t.tm_mday);
	*at++ = ' ';
	memcpy(at, &months[3 * t.tm_mon], 3);
	at[3] = ' ';
	at = two_digits(at + 4, (t.tm_year + 1900) / 100);
	at = two_digits(at, t.tm_year % 100);
	*at++ = ' ';
	at = two_digits(at, t.tm_hour);
	*at++ = ':';
	at = two_digits(at, t.tm_min);
	*at++ = ':';
	at = two_digits(at, t.tm_sec);
	memcpy(at, " GMT", 5);
}

static int find_month(const char name[4])
{
	for (int i = 0; i < 12; i++)
		if (memcmp(name, &months[3 * i], 3) == 0)
			return i;
	return -1;
}

/* Two digits of a year mean the one that is nearest, and not over 50 years ahead. */
static int full_year(int year)
{
	time_t now = time(NULL);
	struct tm t;

	gmtime_r(&now, &t);
	year += (t.tm_year + 1900) / 100 * 100;
	return year > t.tm_year + 1900 + 50 ? year - 100 : year;
}

bool date_read(struct text text, time_t *when)
{
	char copy[40], month[4] = "", zone[4] = "GMT";
	struct tm t = { 0 };
	int year = 0, end = 0;

	if (text.size == 0 || text.size >= sizeof copy)
		return false;
	memcpy(copy, text.at, text.size);
	copy[text.size] = '\0';
	if (sscanf(copy, "%*3[A-Za-z], %2d %3s %4d %2d:%2d:%2d %3s%n", &t.tm_mday, month, &year,
		   &t.tm_hour, &t.tm_min, &t.tm_sec, zone, &end) == 7) {
		;
	} else if (sscanf(copy, "%*9[A-Za-z], %2d-%3s-%2d %2d:%2d:%2d %3s%n", &t.tm_mday, month,
			  &year, &t.tm_hour, &t.tm_min, &t.tm_sec, zone, &end) == 7) {
		year = full_year(year);
	} else if (sscanf(copy, "%*3[A-Za-z] %3s %2d %2d:%2d:%2d %4d%n", month, &t.tm_mday,
			  &t.tm_hour, &t.tm_min, &t.tm_sec, &year, &end) != 6) {
		return false;
	}
	t.tm_mon = find_month(month);
	t.tm_year = year - 1900;
	if (copy[end] != '\0' || strcmp(zone, "GMT") != 0 || t.tm_mon < 0 || year < 1900 ||
	    t.tm_mday < 1 || t.tm_mday > 31 || t.tm_hour < 0 || t.tm_hour > 23 || t.tm_min < 0 ||
	    t.tm_min > 59 || t.tm_sec < 0 || t.tm_sec > 60)
		return false;
	*when = timegm(&t);
	return true;
}
