// A server that has ended a session: whether it meant this session alone. It is asked by a connection of its own, and
// then by its API.
import { Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import type { RoutingTable } from '../../../../src/core/routing-table.ts';
import { emptySnapshot, newRecord } from '../../../../src/core/snapshot.ts';
import type { Standing } from '../../../../src/core/standing.ts';
import { endsAll, inquire, type InquiryServices } from '../../../../src/proxy/moves/loss-inquiry.ts';
import type { DialLimits, DialResult, Server } from '../../../../src/proxy/server.ts';
import { lastWords } from '../../../support/labs/script-words.ts';
import { AUTHENTICATION_OK } from '../../../support/sockets/messages.ts';
import { aMember } from '../../../support/values/builders.ts';
import { DEMOTED, HANDING_OVER, aTableOf } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const ADDRESS = { host: '10.0.0.1', port: 5432 };
const SERVER = { member: 'pg-1', address: ADDRESS, isFallback: false, isLagging: false };
const PACKET = Buffer.from('startup');
const ADMIN = lastWords('57P01');
const CRASH = lastWords('57P02');
const DEAD: Standing = { kind: 'leave', cause: 'dead', why: { code: 'refused' } };
const SUPERSEDED: Standing = { kind: 'leave', cause: 'demoted', why: { code: 'superseded' } };
const STOPPING: Standing = { kind: 'keep', why: { code: 'not_running', detail: 'is stopping' } };
const SILENT: Standing = { kind: 'keep', why: { code: 'no_answer' } };
const LONG_SILENT: Standing = { kind: 'leave', cause: 'silent', why: { code: 'no_answer' } };
const OPEN = aTableOf({ write: { open: { 'pg-1': ADDRESS } } });
const OF_ANOTHER = aTableOf({ write: { open: { 'pg-2': ADDRESS } } });
const standing = (its: Standing): RoutingTable =>
  aTableOf({ write: { others: { 'pg-1': { address: ADDRESS, standing: its } } } });

let clock: ManualClock;
let table: RoutingTable;
/** Which probe the API is asked for. */
let asked: unknown[];
/** By its API. */
let answeredAt: number;
let probed: PromiseWithResolvers<void>;
let dialled: { server: Server; limits: DialLimits; onResult: (result: DialResult) => void } | undefined;
let dialAborts: number;
let backend: Socket;
let answers: boolean[];

beforeEach(() => {
  clock = new ManualClock();
  [table, asked, answeredAt, answers, dialAborts, dialled] = [OPEN, [], 999, [], 0, undefined];
  probed = Promise.withResolvers();
  backend = new Socket();
  backend.write = (): boolean => true;
});

const services = (): InquiryServices => ({
  clock,
  table: () => table,
  freshen: (...probe) => {
    asked.push(probe);
    return probed.promise;
  },
  snapshot: () => ({
    ...emptySnapshot('lab'),
    members: new Map([['pg-1', { ...newRecord(aMember('pg-1')), answeredAt }]]),
  }),
  dial: (server, limits, onResult) => {
    dialled = { server, limits, onResult };
    return () => (dialAborts += 1);
  },
});

function aLoss(words?: Uint8Array) {
  const told = { member: 'pg-1', flushedAt: 0, run: { timeline: 1, startedAt: 'monday' } };
  return { told, proof: undefined, at: 0, server: SERVER, ending: 'backend_closed', words } as const;
}

const ask = (words?: Uint8Array): (() => void) =>
  inquire({ loss: aLoss(words), pool: 'write', packet: PACKET, services: services() }, (isMeant) =>
    answers.push(isMeant),
  );

const connects = (): void => dialled?.onResult({ kind: 'connected', socket: backend });
const failsToConnect = (outcome: 'refused' | 'timeout'): void =>
  dialled?.onResult({ kind: 'failed', outcome, isLocalFault: false, detail: 'x' });
const letsIn = (): void => {
  connects();
  backend.emit('data', AUTHENTICATION_OK);
};

/** The API has answered. */
async function answer(now: RoutingTable): Promise<readonly boolean[]> {
  table = now;
  probed.resolve();
  await clock.advance(0);
  return answers;
}

describe('all sessions of a server have ended', () => {
  test.each<[string, boolean, Uint8Array | undefined, RoutingTable]>([
    ['it has crashed', true, CRASH, OPEN],
    ['an administrator may have ended one', false, ADMIN, OPEN],
    ['it said nothing', false, undefined, OPEN],
    ['it was demoted', true, undefined, standing(DEMOTED)],
    ['both of its ports refuse', true, ADMIN, standing(DEAD)],
    ['it stops', true, undefined, standing(STOPPING)],
    ['its API is silent', false, undefined, standing(SILENT)],
    ['its API was silent for long', false, undefined, standing(LONG_SILENT)],
    ['an operation takes its sessions away', false, undefined, standing(HANDING_OVER)],
    ['nothing is known of it', false, undefined, OF_ANOTHER],
    ['its pool is no more', false, undefined, aTableOf({})],
  ])('%s: %s', (_, all, words, now) => {
    table = now;
    expect(endsAll(aLoss(words), 'write', services())).toBe(all);
  });
});

test('it is asked with the startup packet of the client, and the connection is closed behind the reply', () => {
  const written: unknown[] = [];
  backend.write = (bytes: unknown): boolean => written.push(bytes) > 0;
  ask();
  letsIn();
  expect([dialled?.server, dialled?.limits.timeoutMs]).toEqual([SERVER, 2_000]);
  expect([written, backend.destroyed]).toEqual([[PACKET], true]);
});

test('the API is asked for an answer from behind the loss', () => {
  ask();
  clock.stall(10);
  letsIn();
  expect([asked, answers]).toEqual([[['write', 1_000]], []]);
});

describe('a server that lets nobody in ends all of its sessions, whatever it said', () => {
  test.each<[string, () => void]>([
    ['it refuses the connection', () => failsToConnect('refused')],
    ['it closes without a reply', () => (connects(), void backend.emit('end'))],
    ['it is starting', () => (connects(), void backend.emit('data', lastWords('57P03')))],
  ])('%s', (_, happens) => {
    ask(ADMIN);
    happens();
    expect([answers, asked]).toEqual([[false], []]);
  });
});

describe('a server that lets a session in meant one alone', () => {
  test.each<[string, boolean, RoutingTable]>([
    ['it is open', true, OPEN],
    ['another one is', false, OF_ANOTHER],
    ['its API is silent', false, standing(SILENT)],
    ['its pool is no more', false, aTableOf({})],
  ])('if its API agrees: %s: %s', async (_, isMeant, now) => {
    ask();
    letsIn();
    expect(await answer(now)).toEqual([isMeant]);
  });

  test('a refusal for a limit comes from one that runs', async () => {
    ask();
    connects();
    backend.emit('data', lastWords('53300'));
    expect(await answer(OPEN)).toEqual([true]);
  });

  test('beside other members of its pool', async () => {
    ask();
    letsIn();
    expect(await answer(aTableOf({ write: { open: { 'pg-2': ADDRESS, 'pg-1': ADDRESS } } }))).toEqual([true]);
  });
});

describe('a server that is silent', () => {
  const SILENCES: readonly (readonly [string, () => unknown])[] = [
    ['at the connect', () => failsToConnect('timeout')],
    ['behind it', () => (connects(), clock.advance(2_000))],
  ];

  test.each(SILENCES)('%s: it meant no one alone', async (_, happens) => {
    ask();
    await happens();
    expect(await answer(OPEN)).toEqual([false]);
  });

  test.each(SILENCES)('%s: an administrator may have meant one, if its API answers', async (_, happens) => {
    ask(ADMIN);
    await happens();
    answeredAt = clock.now();
    expect(await answer(OPEN)).toEqual([true]);
  });

  test.each(SILENCES)('%s: an administrator may have meant one, if its API is silent for long', async (_, happens) => {
    ask(ADMIN);
    const since = clock.now();
    await happens();
    await answer(standing(SILENT));
    await clock.advance(since + 9_999 - clock.now());
    expect(answers).toEqual([]);
    await clock.advance(500);
    expect([answers, clock.pending()]).toEqual([[true], 0]);
  });

  test('its API answers late that it was demoted', async () => {
    ask(ADMIN);
    letsIn();
    expect(await answer(standing(SILENT))).toEqual([]);
    table = standing(DEMOTED);
    await clock.advance(500);
    expect([answers, asked]).toEqual([
      [false],
      [
        ['write', 1_000],
        ['write', 1_500],
      ],
    ]);
  });

  test.each([
    ['it was demoted meanwhile', DEMOTED],
    ['another primary has superseded it', SUPERSEDED],
    ['both of its ports refuse', DEAD],
  ])('%s', async (_, now) => {
    ask(ADMIN);
    failsToConnect('timeout');
    expect(await answer(standing(now))).toEqual([false]);
  });

  test.each([
    ['another primary has superseded it', SUPERSEDED],
    ['both of its ports refuse', DEAD],
  ])('G24: one that let a session in behind its last words had not stopped, although %s by now', async (_, now) => {
    ask(ADMIN);
    letsIn();
    expect(await answer(standing(now))).toEqual([]);
    await clock.advance(9_500);
    expect(answers).toEqual([]);
    await clock.advance(500);
    expect([answers, clock.pending()]).toEqual([[true], 0]);
  });
});

describe('the abort', () => {
  test('ends the connect', () => {
    ask()();
    expect(dialAborts).toBe(1);
  });

  test('closes the connection, of which nothing is left', async () => {
    const abort = ask();
    connects();
    abort();
    await clock.advance(5_000);
    expect([backend.destroyed, answers, asked, clock.pending()]).toEqual([true, [], [], 0]);
  });

  test('while the API is silent', async () => {
    const abort = ask(ADMIN);
    letsIn();
    await answer(standing(SILENT));
    abort();
    expect([answers, clock.pending()]).toEqual([[], 0]);
  });

  test('while the API is asked', async () => {
    const abort = ask();
    letsIn();
    abort();
    expect(await answer(OPEN)).toEqual([]);
  });
});
