#define GREETING "hello from"
