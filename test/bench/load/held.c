// `idle` and `stalled`: open sessions that do nothing until standard input ends. Idle ones have had 300 bytes each way,
// or the answer that verb= selects; stalled ones have requested an endless result and read none of it.
#define _GNU_SOURCE
#include "load.h"
#include <stdio.h>

int run_held(arguments given, bool is_stalled) {
  target to = target_of(given);
  int connections = (int)number_of(given, "connections", 1);
  uint8_t query[300];
  make_query(query, is_stalled ? "table rows" : text_of(given, "verb", "values (1)"), sizeof query);
  int64_t begin = now_ns();
  for (int i = 0; i < connections; i += 1) {
    int fd = open_session(&to);
    write_all(fd, query, sizeof query);
    if (!is_stalled) wait_for_ready(fd, 1);
  }
  printf("{\"held\":%d,\"seconds\":%.3f}\n", connections, (double)(now_ns() - begin) / NS_PER_S);
  wait_for_end();
  return 0;
}
