// The floor of any failover: a client that knows every member and writes to each until one accepts, at a pace of
// milliseconds. The delay of a proxy is measured from here, never from the kill.
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { isPrimaryAnswer } from './health.ts';
import type { AskedMember, MemberAddress } from './member.ts';
import type { Credentials } from './settings.ts';
import { connectionConfig } from './sql.ts';
import { monotonicMs, waitUntil } from '../waiting/wait.ts';

/** As the application's user. */
export const CREATE_DIRECT_WRITES = `create table direct_writes (
  id bigint generated always as identity primary key, member text not null, at timestamptz not null default now())`;

const WRITE_PACE_MS = 5;
/** Slower than the writes: each answer costs Patroni a thread and a query, and would slow the promotion. */
const PROBE_PACE_MS = 10;

export type FirstDirectWrite = {
  readonly member: MemberAddress;
  /** All by CLOCK_MONOTONIC, as monotonicMs() of wait.ts. The write's is when its success was known. */
  readonly atMs: number;
  /** When that member's /primary first answered 200; undefined if it did not within 5 s after the write. */
  readonly primaryAnsweredAtMs: number | undefined;
  /** When a 200 of it first said that it runs as primary. */
  readonly primaryRoleAtMs: number | undefined;
};

export type Floor = {
  readonly done: Promise<FirstDirectWrite>;
  /** Ends the watching early; done then rejects. Harmless after the end. */
  stop(): void;
};

type Sighting = { write?: number; answer?: number; role?: number };

export type FloorOptions = {
  readonly members: readonly AskedMember[];
  /** Owns direct_writes. */
  readonly as: Credentials;
  readonly timeoutMs: number;
  readonly explain: () => Promise<string>;
};

export function watchFirstDirectWrite(options: FloorOptions): Floor {
  const abort = new AbortController();
  const watched = options.members.map((member) => ({ member, seen: {} as Sighting }));
  const loops = watched.flatMap(({ member, seen }) => [
    probe(member, seen, abort.signal),
    write(member, options.as, seen, abort.signal),
  ]);
  const find = async (): Promise<FirstDirectWrite> => {
    const first = await waitUntil(
      'first direct write',
      async () => {
        abort.signal.throwIfAborted();
        return await Promise.resolve(watched.find(({ seen }) => seen.write !== undefined));
      },
      { timeoutMs: options.timeoutMs, everyMs: WRITE_PACE_MS, explain: options.explain },
    );
    const { member, seen } = first;
    await waitUntil('its /primary', () => Promise.resolve(seen.role !== undefined), { timeoutMs: 5000 }).catch(
      () => undefined,
    );
    return {
      member: member.address,
      atMs: seen.write ?? Number.NaN,
      primaryAnsweredAtMs: seen.answer,
      primaryRoleAtMs: seen.role,
    };
  };
  const done = finish(find(), () => abort.abort(), loops);
  // A caller that awaits it sees the failure; without a caller it must not end the process.
  done.catch(() => undefined);
  return { done, stop: () => abort.abort() };
}

async function finish<T>(found: Promise<T>, abort: () => void, loops: readonly Promise<void>[]): Promise<T> {
  try {
    return await found;
  } finally {
    abort();
    await Promise.all(loops);
  }
}

async function probe(member: AskedMember, seen: Sighting, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && seen.role === undefined) {
    const askedAtMs = monotonicMs();
    const answer = await member.ask('/primary');
    const now = monotonicMs();
    if (answer?.status === 200) seen.answer ??= now;
    if (isPrimaryAnswer(answer)) seen.role = now;
    await delay(Math.max(PROBE_PACE_MS, now - askedAtMs));
  }
}

/** On one connection as long as it lasts: a replica's connection survives its promotion. */
async function write(member: AskedMember, as: Credentials, seen: Sighting, signal: AbortSignal): Promise<void> {
  let client: Client | undefined;
  while (!signal.aborted && seen.write === undefined) {
    const beganAtMs = monotonicMs();
    try {
      client ??= await connect(member.address, as);
      // Asked first, because each refused write would be two lines in the server's log.
      const { rows } = await client.query<{ waits: boolean }>('select pg_is_in_recovery() as waits');
      if (rows[0]?.waits === false) {
        await client.query('insert into direct_writes (member) values ($1)', [member.name]);
        seen.write = monotonicMs();
      }
    } catch {
      client?.end().catch(() => undefined);
      client = undefined;
    }
    // Each connect starts a process of the server, which takes long on a slow machine.
    if (seen.write === undefined) await delay(Math.max(WRITE_PACE_MS, monotonicMs() - beganAtMs));
  }
  client?.end().catch(() => undefined);
}

async function connect(member: MemberAddress, as: Credentials): Promise<Client> {
  const client = new Client(connectionConfig(member, as, 1000));
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}
