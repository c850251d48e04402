// What the load program's modes share: sockets on loopback, the framing of PostgreSQL messages, time, and processor time of others.
// One thread, epoll, no memory taken while it measures: it must cost far less than the proxies that it loads.
#ifndef LOAD_H
#define LOAD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_S 1000000000LL
enum { HEAD = 5, READ_SIZE = 65536, MOST_EVENTS = 512 };

// Arguments are key=value.
typedef struct {
  int count;
  char **values;
} arguments;

const char *text_of(arguments given, const char *key, const char *fallback);
double number_of(arguments given, const char *key, double fallback);

// Ends the program with what could not be done and why.
void fail(const char *what) __attribute__((noreturn));
void fail_with(const char *what, const char *why) __attribute__((noreturn));

int64_t now_ns(void);

// Nanoseconds that the processes of `pids` (a comma between them; "" for none) have run, all threads: what utime + stime of
// /proc/PID/stat round to ticks.
int64_t processor_ns(const char *pids);

// The messages of one direction, told apart by type and length alone.
typedef struct {
  uint8_t head[HEAD];
  unsigned have;
  uint32_t left;
  uint8_t first; // of the body
} framer;

// The type of the message that ends next before `end`, 0 when none does; `at` moves behind it.
int next_message(framer *frame, const uint8_t **at, const uint8_t *end);

size_t make_startup(uint8_t *into, const char *user, const char *database);
// A query of `length` bytes in all, valid SQL: the tiny backend answers by the first letter of its text (select, values, table).
size_t make_query(uint8_t *into, const char *verb, size_t length);
// TYPE, length, zeros.
size_t make_message(uint8_t *into, char type, size_t length);
size_t put_u32(uint8_t *into, uint32_t value);

typedef struct {
  int port;
  const char *user;
  const char *database;
  unsigned next_source; // of the addresses 127.0.0.2 and up that clients come from, so that ports do not run out
} target;

target target_of(arguments given);
// Begins to connect without waiting; -1 with errno when that fails at once.
int begin_connect(target *to);
// Connects, says who it is, and waits for ReadyForQuery.
int open_session(target *to);
// Waits for `left` more messages of type Z.
void wait_for_ready(int fd, int left);
void write_all(int fd, const uint8_t *bytes, size_t length);

// Latencies in buckets 1/32 of their value apart.
enum { BUCKETS = 64 * 32 };
typedef struct {
  uint64_t total;
  uint32_t counts[BUCKETS];
} histogram;
void record(histogram *into, int64_t ns);
// Microseconds.
double percentile_us(const histogram *of, double part);

int run_backend(arguments given);
int run_ping_pong(arguments given);
int run_connects(arguments given);
int run_held(arguments given, bool is_stalled);
// Waits until standard input ends.
void wait_for_end(void);

#endif
