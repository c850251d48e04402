// The simulated server answers the questions of the real Pointsman, and takes its restores.
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { CarriedState } from '../../../src/model/moves.ts';
import { SessionQuestion } from '../../../src/wire/talk/session-question.ts';
import { SessionRestore } from '../../../src/wire/talk/session-restore.ts';
import { WalQuestion } from '../../../src/wire/talk/wal-question.ts';
import { createWorld, type World } from '../world/world.ts';
import { aBind, aParse, aQuery, aStartup, anExecute } from './messages.ts';
import { SYNC } from '../../support/sockets/messages.ts';
import { ServerBench } from './server-bench.ts';

interface Talk<Result> {
  start(): Uint8Array;
  take(
    chunk: Uint8Array,
  ):
    | { readonly kind: 'wait' }
    | { readonly kind: 'send'; readonly bytes: Uint8Array }
    | { kind: 'done'; result: Result };
}

class Line {
  readonly socket: Socket;
  readonly #world: World;
  #bytes: Buffer[] = [];

  constructor(world: World, bench: ServerBench) {
    this.#world = world;
    this.socket = bench.client.connect(5432, bench.server.host);
    this.socket.on('data', (chunk: Buffer) => this.#bytes.push(chunk));
    this.socket.on('connect', () =>
      this.socket.write(aStartup({ user: 'app', database: 'shop', application_name: 'test' })),
    );
  }

  async say(...messages: readonly Uint8Array[]): Promise<string> {
    await this.#world.run(50);
    this.#bytes = [];
    this.socket.write(Buffer.concat(messages));
    await this.#world.run(50);
    return Buffer.concat(this.#bytes).toString('latin1');
  }

  async talk<Result>(talk: Talk<Result>): Promise<Result> {
    await this.#world.run(50);
    this.#bytes = [];
    this.socket.write(talk.start());
    for (let turn = 0; turn < 50; turn += 1) {
      await this.#world.run(5);
      for (const chunk of this.#bytes.splice(0)) {
        const step = talk.take(chunk);
        if (step.kind === 'send') this.socket.write(step.bytes);
        if (step.kind === 'done') return step.result;
      }
    }
    throw new Error('no end');
  }
}

const question = (): SessionQuestion =>
  new SessionQuestion({
    serverMajor: 16,
    customNames: ['app.tenant'],
    named: { version: '', names: [], unclear: [] },
    maxStateBytes: 100_000,
  });

async function stateOf(line: Line): Promise<CarriedState> {
  const answer = await line.talk(question());
  if (answer.kind !== 'answered') throw new Error(JSON.stringify(answer));
  return answer.state;
}

it('tells the state of a session, and takes it over at another session, as far as PostgreSQL does', async () => {
  const world = createWorld(1);
  const bench = new ServerBench(world);
  await world.run(1_000);
  const old = new Line(world, bench);
  await old.say(
    aQuery("SET app.tenant = 'acme'; SET work_mem = '8MB'; SET TimeZone = 'America/Lima'; SET ROLE auditor"),
  );
  await old.say(aQuery("PREPARE by_sql AS SELECT number FROM writes WHERE client = 'c'"));
  await old.say(aParse('by_parse', "INSERT INTO writes VALUES ('c', $1)"), SYNC);
  await old.say(aQuery('BEGIN'), aQuery("SET work_mem = '16MB'"), aQuery('ROLLBACK'));
  const state = await stateOf(old);
  expect(state).toMatchObject({ role: 'auditor', sessionUser: 'app', identity: '5.16385.16386', listening: [] });
  expect([...state.custom, ...state.settings]).toEqual([
    ['app.tenant', 'acme'],
    ['work_mem', '8MB'],
    ['TimeZone', 'America/Lima'],
  ]);
  expect(
    state.prepared.map(({ name, parameterTypes, resultColumns, isFromSql }) => [
      name,
      parameterTypes,
      resultColumns,
      isFromSql,
    ]),
  ).toEqual([
    ['by_sql', [], ['number:23:-1'], true],
    ['by_parse', [23], undefined, false],
  ]);

  const next = new Line(world, bench);
  await world.run(50);
  const restored = await next.talk(new SessionRestore({ state, unnamed: undefined, serverMajor: 16, asksWal: true }));
  expect(restored).toMatchObject({
    kind: 'restored',
    wal: { kind: 'primary', timeline: 1, written: bench.server.wal.end() },
  });
  expect(await stateOf(next)).toEqual(state);
  expect(await next.say(aBind('by_parse', ['7']), anExecute(), SYNC)).toContain('INSERT 0 1');
  expect(bench.server.database().numbers('c')).toEqual([7]);
  const { wal } = await next.talk(new WalQuestion(16));
  expect(wal).toMatchObject({ kind: 'primary', written: bench.server.wal.end(), transactions: { allEndedBelow: 741 } });
});

it('tells what keeps a session where it is', async () => {
  const world = createWorld(2);
  const bench = new ServerBench(world);
  await world.run(1_000);
  const line = new Line(world, bench);
  await line.say(aQuery('LISTEN news; CREATE TEMPORARY TABLE t (); SELECT pg_advisory_lock(7)'));
  await line.say(aQuery('DECLARE k CURSOR WITH HOLD FOR SELECT 1'));
  expect(await stateOf(line)).toMatchObject({
    listening: ['news'],
    temporaryObjects: 1,
    advisoryLocks: 1,
    holdableCursors: ['k'],
  });
  await line.say(aQuery('DISCARD ALL'));
  expect(await stateOf(line)).toMatchObject({
    listening: [],
    temporaryObjects: 0,
    advisoryLocks: 0,
    holdableCursors: [],
  });
});
