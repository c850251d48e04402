// The shape of the file: every key, its default and what it accepts. Unknown keys are errors. The defaults of pools and
// listeners are in defaults.ts, because they are merged; what one value alone cannot say is in rules.ts.
import { z } from 'zod';
import type { LeaveCause } from '../../model/close-reason.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../config.ts';
import { kubernetes } from './kubernetes.ts';
import {
  address,
  adminHost,
  apiUrl,
  check,
  choice,
  count,
  countOrAuto,
  countOrOff,
  duration,
  durationOrOff,
  hostName,
  listenAddress,
  name,
  network,
} from './values.ts';
import { flag, nonEmpty, secret, seed } from './values.ts';

const MOST = 1_000_000;
const MOST_WORKERS = 256;
/** A member's API serves five requests at a time: no cadence may be faster than this. */
const FASTEST_MS = 10;

/** Where contact points come from is not who the members are. */
const DIRECTORIES = {
  kubernetes: 'write cluster.kubernetes: { service: NAME }, or the labels of the pods',
  dns: 'names in cluster.seeds are looked up by themselves; for SRV records write http+srv://_patroni._tcp.example.org there',
};

const cluster = z.strictObject({
  scope: nonEmpty.optional(),
  seeds: z.array(seed).default([]),
  kubernetes: kubernetes.optional(),
  discovery: choice(['dynamic', 'static'], DIRECTORIES).default('dynamic'),
  members: z.array(z.strictObject({ name: nonEmpty, api: apiUrl, postgres: address.optional() })).default([]),
  allow: z
    .strictObject({
      networks: z.array(network).default([]),
      hosts: z.array(hostName).default([]),
      ports: z.array(count(1, 65_535)).default([]),
    })
    .prefault({}),
  api: z
    .strictObject({
      tls: z
        .strictObject({
          ca: nonEmpty.optional(),
          cert: nonEmpty.optional(),
          key: nonEmpty.optional(),
          insecure: flag.default(false),
        })
        .optional(),
    })
    .prefault({}),
});

const probe = z.strictObject({
  interval: duration(FASTEST_MS).default(1000),
  timeout: duration(FASTEST_MS).default(800),
  urgent: z
    .strictObject({ interval: duration(FASTEST_MS).default(100), for: duration(0).default(30_000) })
    .prefault({}),
  rise: count(1, 100).default(1),
  fall: count(1, 100).default(2),
  write_max_age: duration(1).default(5000),
  read_max_age: duration(1).default(10_000),
  silence_grace: duration(1).default(15_000),
  silent_probes: countOrOff(1, 100).prefault(3),
  vouching: flag.default(true),
});

const leaveMode = choice(['close', 'drain', 'drain_idle', 'keep']);
const onLeave = z.strictObject({
  dead: z
    .literal('close', { error: 'sessions of a dead member are always closed: write close, or leave it out' })
    .optional(),
  demoted: leaveMode.optional(),
  silent: leaveMode.optional(),
  promoted: leaveMode.optional(),
  lagging: leaveMode.optional(),
  tagged_out: leaveMode.optional(),
  removed: leaveMode.optional(),
  operator: leaveMode.optional(),
  fallback_over: leaveMode.optional(),
} satisfies Record<LeaveCause, z.ZodType>);

const pool = z.strictObject({
  check,
  exclusive: flag.optional(),
  balance: choice(['least_sessions', 'round_robin', 'random', 'client_address']).default('least_sessions'),
  weight_tag: nonEmpty.optional(),
  zone_tag: nonEmpty.optional(),
  slow_start: duration(0).optional(),
  max_session_age: durationOrOff(1000).optional(),
  fallback: z
    .union([z.literal('none'), z.strictObject({ pool: name, max_sessions: count(1, MOST).default(100) })], {
      error: 'expected { pool: NAME, max_sessions: 100 }, or none',
    })
    .optional(),
  when_all_lagging: choice(['refuse', 'least_lagging', 'fallback']).optional(),
  max_lagging_sessions: count(1, MOST).optional(),
  on_leave: onLeave.prefault({}),
  drain_timeout: duration(0).default(30_000),
  relocate_after: duration(0).default(3000),
});

/** The file as a schema: input is what was written (after defaults.ts), output has milliseconds, bytes and checks. */
export const fileSchema = z.strictObject({
  cluster: cluster.prefault({}),
  zone: nonEmpty.optional(),
  probe: probe.prefault({}),
  pools: z.record(name, pool),
  listeners: z
    .array(z.strictObject({ address: listenAddress, pool: name, reuse_port: flag.default(false) }))
    .min(1, { error: 'is empty: at least one listener is needed, or leave the key out for the two usual ones' }),
  client: z
    .strictObject({
      startup_timeout: duration(1).default(10_000),
      max_sessions: count(1, MOST).default(5000),
      max_sessions_per_address: countOrOff(1, MOST).optional(),
      max_handshakes: countOrOff(1, MOST).optional(),
      max_disconnects_per_second: count(1, MOST).default(50),
      tls: z
        .strictObject({
          mode: choice(['passthrough', 'terminate', 'require']).default('passthrough'),
          cert: nonEmpty.optional(),
          key: nonEmpty.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  backend: z
    .strictObject({
      connect_timeout: duration(1).default(3000),
      attempt_delay: durationOrOff(1).prefault('250ms'),
      connect_attempts: count(1, 100).default(3),
    })
    .prefault({}),
  relay: choice(['auto', 'streams']).default('auto'),
  hold: z
    .strictObject({
      client_timeout: duration(0).default(30_000),
      max_sessions: count(0, MOST).default(1000),
      outage_timeout: duration(0).default(60_000),
      max_connects_per_second: count(1, MOST).default(200),
      before_switchover: duration(0).default(0),
    })
    .prefault({}),
  workers: countOrAuto(1, MOST_WORKERS).default(1),
  shutdown: z
    .strictObject({
      grace: duration(0).default(5000),
      wait: duration(0).default(0),
      drain_timeout: duration(0).default(30_000),
    })
    .prefault({}),
  admin: z
    .strictObject({
      address: listenAddress.default({ host: '127.0.0.1', port: 8432 }),
      allowed_hosts: z.array(adminHost).default([]),
      token: secret.optional(),
      token_file: nonEmpty.optional(),
    })
    .prefault({}),
  log: z
    .strictObject({ level: choice(LOG_LEVELS).default('info'), format: choice(LOG_FORMATS).default('auto') })
    .prefault({}),
});

export type ParsedFile = z.output<typeof fileSchema>;
export type ParsedPool = ParsedFile['pools'][string];
