// Each law can fail: made-up histories break it, and the same without the fault does not.
import { expect, it } from 'vitest';
import { aMessage, backendKeyData, errorOf, readyForQuery } from '../../support/sockets/messages.ts';
import { aCancelRequest, aQuery, aStartup } from '../postgres/messages.ts';
import { WRITE_PORT } from '../scene/site.ts';
import { Wiretap } from '../world/wiretap.ts';
import { CANCELS } from './cancels.ts';
import { DEATHS } from './deaths.ts';
import { EXACT_BYTES } from './exact-bytes.ts';
import { FIRST_ROUND } from './first-round.ts';
import { LEFTOVERS } from './leftovers.ts';
import { broken } from './made-history.ts';
import { READS } from './reads.ts';
import { REFUSALS } from './refusals.ts';
import { RELOADS } from './reloads.ts';
import { ROUTES } from './routes.ts';
import { SHUTDOWNS } from './shutdowns.ts';
import { STRAYS } from './strays.ts';
import { SWITCHOVERS } from './switchovers.ts';
import { TAKEN_OUT } from './taken-out.ts';
import { TRANSACTIONS } from './transactions.ts';
import { WAITS } from './waits.ts';

const SECRET = Buffer.from([0, 0, 0, 9]);
const PRIMARY = { address: '10.0.0.11', port: 5432 };
const REPLICA = { address: '10.0.0.12', port: 5432 };
const BODY = JSON.stringify({ role: 'replica', state: 'running', timeline: 2, database_system_identifier: '7' });

interface SessionBytes {
  /** By its client. */
  readonly asked?: readonly Uint8Array[];
  /** To its server. */
  readonly requests?: readonly Uint8Array[];
  readonly answers?: readonly Uint8Array[];
  /** To its client. */
  readonly got?: readonly Uint8Array[];
  /** To a second server. */
  readonly second?: Uint8Array;
}

/** One session, whose bytes a test may change. */
function session({
  asked = [aQuery('SELECT 1')],
  requests = [aQuery('SELECT 1')],
  answers = [readyForQuery('I')],
  got = answers,
  second,
}: SessionBytes): Wiretap {
  const wiretap = new Wiretap(() => 100);
  const startup = aStartup({ user: 'app', options: '-c app.session=w1-1' });
  const client = wiretap.connection(true, WRITE_PORT, { address: '10.0.3.1', port: 40_000 });
  const server = wiretap.connection(false, 50_000, PRIMARY);
  client.read(Buffer.concat([startup, ...asked]));
  server.sent(Buffer.concat([startup, ...requests]));
  server.read(Buffer.concat(answers));
  client.sent(Buffer.concat(got));
  if (second !== undefined) wiretap.connection(false, 50_001, REPLICA).sent(Buffer.concat([startup, second]));
  return wiretap;
}

function tag(text: string): Uint8Array {
  return aMessage('C', Buffer.from(`${text}\0`));
}

function canceled(address: string): Wiretap {
  const wiretap = session({ answers: [backendKeyData(7, SECRET), readyForQuery('I')], got: [] });
  wiretap.connection(true, WRITE_PORT, { address, port: 40_001 }).read(aCancelRequest(7, 9));
  wiretap.connection(false, 50_002, PRIMARY).sent(aCancelRequest(7, 9));
  return wiretap;
}

function told(message: string): Wiretap {
  return session({ answers: [], got: [errorOf(['SFATAL', 'VFATAL', 'C57P03', `M${message}`])] });
}

function inStatus(status: string): Wiretap {
  return session({ answers: [readyForQuery(status)] });
}

function entryOf(name: string, host: string): object {
  return { name, api_url: `http://${host}:8008/patroni` };
}

function answeredHere(number: number, isVoid = false): object {
  return { takenOut: [{ number, isVoid }] };
}

function routeTo(member: string): object {
  return { kind: 'open', targets: [{ member }] };
}

function reloaded(result: object, after: object, pools: readonly string[] = []): object {
  return {
    isKilled: false,
    parts: {
      running: { config: { pools: [{ name: 'write' }] } },
      monitor: { table: () => ({ pools: new Map(['write', ...pools].map((name) => [name, {}])) }) },
    },
    reloads: [
      { result, before: { file: { hold: 1 } }, after, loaded: { kind: 'loaded', config: { file: { hold: 2 } } } },
    ],
  };
}

it('other bytes than those of the other side break a law, and so does a second server', () => {
  expect(broken(EXACT_BYTES, { wiretap: session({}) })).toEqual([]);
  expect(broken(EXACT_BYTES, { wiretap: session({ got: [errorOf(['SFATAL', 'C57P01'])] }) })).toEqual([]);
  const failed = { answers: [errorOf(['SERROR', 'C22012'])], got: [errorOf(['SFATAL', 'C57P01'])] };
  expect(broken(EXACT_BYTES, { wiretap: session(failed) }), 'both begin with the same bytes').toEqual([]);
  expect(broken(EXACT_BYTES, { wiretap: session({ requests: [aQuery('SELECT 2')] }) })).toHaveLength(1);
  expect(broken(EXACT_BYTES, { wiretap: session({ got: [readyForQuery('T')] }) })).toHaveLength(1);
  expect(broken(EXACT_BYTES, { wiretap: session({ answers: [], second: aQuery('SELECT 1') }) })).toHaveLength(1);
  const moves = { moves: 'always' } as const;
  const sent = aQuery("INSERT INTO writes VALUES ('w1', 1)");
  expect(broken(EXACT_BYTES, { shape: moves, wiretap: session({ requests: [sent] }) })).toHaveLength(1);
  expect(broken(EXACT_BYTES, { shape: moves, wiretap: session({ got: [readyForQuery('T')] }) })).toHaveLength(1);
});

it('an answer that leaves a client wrong about its transaction breaks a law', () => {
  const asked = ['BEGIN', 'SELECT 1', 'COMMIT'].map(aQuery);
  const begun = [readyForQuery('I'), tag('BEGIN'), readyForQuery('T')];
  const read = [tag('SELECT 1'), readyForQuery('T')];
  const error = errorOf(['SERROR', 'C40001']);
  const isBroken = (...answers: readonly Uint8Array[]): boolean =>
    broken(TRANSACTIONS, { wiretap: session({ asked, got: [...begun, ...answers] }) }).length > 0;
  expect(isBroken(...read, tag('COMMIT'), readyForQuery('I'))).toBe(false);
  expect(isBroken(error, readyForQuery('E'), tag('ROLLBACK'), readyForQuery('I'))).toBe(false);
  expect(isBroken(...read, error, readyForQuery('I'))).toBe(false);
  expect(isBroken(...read, tag('ROLLBACK'), readyForQuery('I'))).toBe(true);
  expect(isBroken(...read, error, readyForQuery('E'))).toBe(true);
  expect(isBroken(tag('SELECT 1'), readyForQuery('I'))).toBe(true);
  expect(isBroken(error, readyForQuery('I'))).toBe(true);
  expect(isBroken(error, readyForQuery('E'), tag('COMMIT'), readyForQuery('I'))).toBe(true);
});

it('a statement that ran although Pointsman answered it breaks a law, and one that commits always', () => {
  expect(broken(TAKEN_OUT, answeredHere(2))).toEqual([]);
  expect(broken(TAKEN_OUT, answeredHere(3, true))).toEqual([]);
  expect(broken(TAKEN_OUT, answeredHere(3))).toEqual(['w1/3 was answered by Pointsman, and ran at pg1']);
  expect(broken(TAKEN_OUT, answeredHere(5, true))).toHaveLength(1);
});

it('a cancel request that nobody wanted breaks a law', () => {
  expect(broken(CANCELS, { wiretap: canceled('10.0.3.1') })).toEqual([]);
  expect(broken(CANCELS, { wiretap: canceled('10.0.3.2') })).toHaveLength(1);
});

it('a client that gets neither a session nor an error breaks a law, and so does an error without a reason', () => {
  const untold = { number: 1, startedAt: 0, readyAt: undefined, endedAt: 10, ending: 'closed by the server' };
  const wiretap = session({ answers: [] });
  expect(broken(REFUSALS, { wiretap, sessions: [untold] })).toHaveLength(1);
  expect(broken(REFUSALS, { wiretap, sessions: [{ ...untold, ending: '57P03' }] })).toEqual([]);
  expect(broken(REFUSALS, { wiretap, sessions: [untold], pointsmen: [{ isKilled: true, killedAt: 5 }] })).toEqual([]);
  // No Pointsman has accepted the connection.
  expect(broken(REFUSALS, { sessions: [untold] })).toEqual([]);
  expect(broken(REFUSALS, { wiretap: told('pointsman: no member (no_route)') })).toEqual([]);
  expect(broken(REFUSALS, { wiretap: told('no') })).toHaveLength(1);
});

it('a wait beyond the limits breaks a law', () => {
  const wait = { session: 1, isLogin: true, from: 0, to: 24_000 };
  expect(broken(WAITS, { waits: [wait] })).toEqual([]);
  expect(broken(WAITS, { waits: [{ ...wait, to: 25_000 }] })).toHaveLength(1);
  expect(broken(WAITS, { waits: [{ ...wait, to: 25_000 }], faults: ['postgres freezes'] })).toEqual([]);
  expect(broken(WAITS, { waits: [{ ...wait, isLogin: false, to: 12_000 }] })).toHaveLength(1);
});

it('a session before the first complete round breaks a law', () => {
  const document = {
    run: 0,
    at: 1,
    path: '/cluster',
    member: 'pg1',
    result: {
      kind: 'answered',
      body: JSON.stringify({ members: [entryOf('pg1', PRIMARY.address), entryOf('pg2', REPLICA.address)] }),
    },
  };
  const probes = [PRIMARY, REPLICA].map(({ address }) => ({
    run: 0,
    at: 2,
    path: '/primary',
    host: address,
    result: { kind: 'failed' },
  }));
  const openings = [{ run: 0, at: 3, session: 'w1-1' }];
  expect(broken(FIRST_ROUND, { openings, answers: [document, ...probes] })).toEqual([]);
  expect(broken(FIRST_ROUND, { openings, answers: [document, ...probes.slice(1)] })).toHaveLength(1);
});

it('a read session on a replica that lags, is silent or is left behind breaks a law', () => {
  const server = { isInRecovery: true, timeline: 2, position: 8_000 };
  const opening = { run: 0, at: 20_000, host: REPLICA.address, member: 'pg2', session: 'r1-1', server };
  const yes = { run: 0, at: 19_000, askedAt: 18_900, path: '/replica?lag=4096B', member: 'pg2' };
  const answers = [{ ...yes, result: { kind: 'answered', status: 200, body: BODY } }];
  expect(broken(READS, { openings: [opening], answers })).toEqual([]);
  expect(broken(READS, { openings: [opening], answers: [{ ...answers[0], askedAt: 15_000 }] })).toHaveLength(1);
  const primaryBefore = { ...answers[0], path: '/primary', askedAt: 18_000 };
  expect(broken(READS, { openings: [opening], answers: [primaryBefore] })).toEqual([]);
  expect(broken(READS, { openings: [opening], answers: [{ ...primaryBefore, askedAt: 16_000 }] })).toHaveLength(1);
  const shape = { degradedReads: 'none' } as const;
  expect(broken(READS, { openings: [opening], answers: [primaryBefore], shape })).toHaveLength(1);
  const left = { ...opening, server: { ...server, timeline: 1 } };
  const onItsOwn = {
    ...yes,
    result: { kind: 'answered', status: 200, body: BODY.replace('"timeline":2', '"timeline":1') },
  };
  expect(broken(READS, { openings: [left], answers: [onItsOwn] })).toEqual([]);
  expect(broken(READS, { openings: [left], answers: [...answers, onItsOwn] })).toHaveLength(1);
  const behind = { ...opening, server: { ...server, position: 4_000 } };
  expect(broken(READS, { openings: [behind], answers })).toHaveLength(1);
  const primary = BODY.replace('replica', 'primary').replace('"timeline":2', '"timeline":3');
  const higher = { ...yes, path: '/primary', member: 'pg1', result: { kind: 'answered', status: 200, body: primary } };
  expect(broken(READS, { openings: [opening], answers: [higher, ...answers] })).toHaveLength(1);
  const onPrimary = { ...opening, member: 'pg1', server: { ...server, isInRecovery: false } };
  expect(broken(READS, { openings: [onPrimary], answers })).toEqual([]);
  expect(broken(READS, { openings: [onPrimary], answers, shape })).toHaveLength(1);
});

it('a write behind the bound breaks a law', () => {
  const stray = { at: 9_000, member: 'pg1', session: 'w1-1', afterMs: 8_000, isOpening: false };
  expect(broken(STRAYS, { strays: [stray] })).toEqual([]);
  expect(broken(STRAYS, { strays: [{ ...stray, afterMs: 9_000 }] })).toHaveLength(1);
  expect(broken(STRAYS, { strays: [{ ...stray, isOpening: true }] })).toHaveLength(1);
});

it('a member that counts as dead without a refusal breaks a law', () => {
  const event = { kind: 'standing_changed', pool: 'read', member: 'pg2', to: { kind: 'leave', cause: 'dead' } };
  const answer = { run: 0, member: 'pg2', at: 4_900, path: '/primary', result: { kind: 'refused' } };
  const document = { ...answer, path: '/cluster', result: { kind: 'answered', status: 200 } };
  expect(broken(DEATHS, { events: [{ at: 5_000, event }], answers: [answer, document] })).toEqual([]);
  expect(broken(DEATHS, { events: [{ at: 5_000, event }], answers: [document] })).toHaveLength(1);
});

it('a switchover that does not end breaks a law, and so does a hold without one', () => {
  const begin = { at: 1_000, event: { kind: 'operation_started', operation: '1' } };
  const end = { at: 5_000, event: { kind: 'operation_ended', operation: '1' } };
  const hold = { kind: 'route_changed', pool: 'write', to: { kind: 'hold', cause: 'switchover' } };
  const open = { kind: 'route_changed', pool: 'write', to: { kind: 'open', targets: [{ member: 'pg1' }] } };
  const held = [begin, { at: 2_000, event: hold }];
  expect(broken(SWITCHOVERS, { events: [...held, { at: 4_000, event: open }, end] })).toEqual([]);
  expect(broken(SWITCHOVERS, { events: [...held, { at: 4_000, event: open }] })).toHaveLength(1);
  expect(broken(SWITCHOVERS, { events: [...held, end, { at: 9_000, event: open }] })).toHaveLength(1);
  expect(broken(SWITCHOVERS, { events: [{ at: 2_000, event: hold }] })).toHaveLength(1);
});

it('a route that comes back without an answer breaks a law, and so does a wrong one at the end', () => {
  const events = ['pg1', 'pg2', 'pg1'].map((member, index) => ({
    at: 1_000 * index,
    event: { kind: 'route_changed', pool: 'write', to: routeTo(member) },
  }));
  expect(broken(ROUTES, { events, answers: [{ run: 0, at: 1_500 }] })).toEqual([]);
  expect(broken(ROUTES, { events })).toHaveLength(1);
  expect(broken(ROUTES, { lastRoutes: [{ run: 0, pool: 'write', route: routeTo('pg1') }] })).toEqual([]);
  expect(broken(ROUTES, { lastRoutes: [{ run: 0, pool: 'write', route: routeTo('pg2') }] })).toHaveLength(1);
  expect(broken(ROUTES, { lastRoutes: [{ run: 0, pool: 'read', route: routeTo('pg3') }] })).toHaveLength(1);
});

it('a reload in part breaks a law', () => {
  const [done, failed] = [{ kind: 'reloaded', needsRestart: [] }, { kind: 'failed' }];
  expect(broken(RELOADS, { pointsmen: [reloaded(done, { file: { hold: 2 } })] })).toEqual([]);
  expect(broken(RELOADS, { pointsmen: [reloaded(failed, { file: { hold: 1 } })] })).toEqual([]);
  expect(broken(RELOADS, { pointsmen: [reloaded(done, { file: { hold: 1 } })] })).toHaveLength(1);
  expect(broken(RELOADS, { pointsmen: [reloaded(failed, { file: { hold: 2 } })] })).toHaveLength(1);
  expect(broken(RELOADS, { pointsmen: [reloaded(done, { file: { hold: 2 } }, ['read'])] })).toHaveLength(1);
});

it('a connection to a server that outlives its client breaks a law', () => {
  const wiretap = session({});
  for (const connection of wiretap.connections.toReversed()) connection.ended();
  expect(broken(LEFTOVERS, { wiretap })).toEqual([]);
  const left = session({});
  left.connections[0]?.ended();
  expect(broken(LEFTOVERS, { wiretap: left })).toHaveLength(1);
});

it('a stop that takes too long, lets clients in or cuts a transaction breaks a law', () => {
  const pointsmen = [{ isKilled: false, drainedAt: 10_000, stoppedAt: 15_000 }];
  expect(broken(SHUTDOWNS, { pointsmen })).toEqual([]);
  expect(broken(SHUTDOWNS, { pointsmen: [{ ...pointsmen[0], stoppedAt: 18_000 }] })).toHaveLength(1);
  const late = { at: 14_000, event: { kind: 'client_accepted' } };
  expect(broken(SHUTDOWNS, { pointsmen, events: [late] })).toHaveLength(1);
  const closed = { at: 12_000, event: { kind: 'session_closed', reason: 'shutdown', client: '10.0.3.1:40000' } };
  expect(broken(SHUTDOWNS, { pointsmen, events: [closed], wiretap: inStatus('I') })).toEqual([]);
  expect(broken(SHUTDOWNS, { pointsmen, events: [closed], wiretap: inStatus('T') })).toHaveLength(1);
  const rolledBack = { at: 11_000, event: { kind: 'session_parked', hasAborted: true } };
  expect(broken(SHUTDOWNS, { pointsmen, events: [rolledBack, closed], wiretap: inStatus('T') })).toEqual([]);
  const parked = { at: 11_000, event: { kind: 'session_parked' } };
  expect(broken(SHUTDOWNS, { pointsmen, events: [parked, closed], wiretap: inStatus('E') })).toEqual([]);
  expect(broken(SHUTDOWNS, { pointsmen, events: [parked, closed], wiretap: inStatus('T') })).toHaveLength(1);
  expect(broken(SHUTDOWNS, { pointsmen, events: [closed], wiretap: inStatus('E') })).toHaveLength(1);
});
