// The section `probe`: how often members are probed, and for how long an answer counts.
import { z } from 'zod';
import { key } from './key.ts';
import { count, countOr, duration, flag } from './values.ts';

/** A member's API serves five requests at a time: no member may be probed more often than this. */
const FASTEST_MS = 10;

export const probe = z.strictObject({
  interval: key(
    duration(FASTEST_MS).prefault('1s'),
    `Time between two probes of the same member, with 10 % jitter. A probe is one HTTP request on a new connection. A
    longer interval costs the members less and lets Pointsman notice a failure later.`,
  ),
  timeout: key(
    duration(FASTEST_MS).prefault('800ms'),
    `Time for one probe; half of it is for the TCP connect. A probe without an answer is no evidence: it neither opens
    nor closes anything by itself. Raise it where the API is slow or far away.`,
  ),
  urgent: key(
    z
      .strictObject({
        interval: key(duration(FASTEST_MS).prefault('100ms'), 'Time between two probes of a member meanwhile.'),
        for: key(
          duration(0).prefault('30s'),
          'Urgent probing ends after this time, even if the trigger persists. It starts again with the next trigger.',
        ),
      })
      .prefault({}),
    'Faster probing while something triggers it: a refused connect, a lost primary, clients that wait.',
  ),
  rise: key(
    count(1, 100).default(1),
    `Positive answers in a row that bring a replica into a pool. Raise it where replicas flap. A change of primary needs
    one answer.`,
  ),
  fall: key(count(1, 100).default(2), 'Negative answers in a row that take a replica out of a pool.'),
  write_max_age: key(
    duration(1).prefault('5s'),
    `A new session of an exclusive pool needs a positive answer that is at most this old; until there is one, the
    client is held. The age counts from the start of the probe. It must be longer than \`interval + timeout\`.`,
  ),
  read_max_age: key(
    duration(1).prefault('10s'),
    'The same for a new session of any other pool: a member without an answer this recent gets no new sessions.',
  ),
  silence_grace: key(
    duration(1).prefault('15s'),
    `Existing sessions on a member that does not answer end when its last good answer is this old. They end at once
    when another primary is proven. Raise it to survive longer network problems; a write session then stays longer on
    a primary that may be isolated. It must not be shorter than \`write_max_age\`.`,
  ),
  silent_probes: key(
    countOr('off', 1, 100).prefault(3),
    `Existing sessions on a replica end earlier when its API and its PostgreSQL port were silent in this many probes in
    a row, and another member has answered since. \`off\`: only \`silence_grace\` counts.`,
  ),
  vouching: key(
    flag.default(true),
    `True: a primary whose API does not answer stays in use while its PostgreSQL accepts connections and a fresh
    \`GET /cluster\` of another member names it as the running leader. False: only its own answers count.`,
  ),
});
