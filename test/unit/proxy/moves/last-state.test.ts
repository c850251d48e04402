import { beforeEach, describe, expect, it } from 'vitest';
import { LastState } from '../../../../src/proxy/moves/last-state.ts';
import { packState } from '../../../../src/proxy/moves/packed-state.ts';
import type { CarriedState, Movability } from '../../../../src/model/moves.ts';
import type { ServerRun } from '../../../../src/core/coverage.ts';
import { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { StatementWatch } from '../../../../src/wire/follow/statement-watch.ts';
import { aState } from '../../../support/values/carried-state.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const RUN: ServerRun = { timeline: 1, startedAt: 'monday' };
const ENCODER = new TextEncoder();

function query(text: string): Uint8Array {
  const body = ENCODER.encode(`${text}\0`);
  return Uint8Array.of(0x51, 0, 0, 0, body.length + 4, ...body);
}

/** SELECT 1, without parameters. */
const UNNAMED_PARSE = Uint8Array.of(0x50, 0, 0, 0, 16, 0, ...ENCODER.encode('SELECT 1'), 0, 0, 0);

function bindOf(name: string): Uint8Array {
  return Uint8Array.of(0x42, 0, 0, 0, 12 + name.length, 0, ...ENCODER.encode(name), 0, 0, 0, 0, 0, 0, 0);
}

const stateWith = (role: string): CarriedState => aState({ role, walWriterDelayMs: 200 });

class Lab {
  readonly clock = new ManualClock();
  isIdle = true;
  run: ServerRun | undefined = RUN;
  asked = 0;
  /** The test gives the answers. */
  isSlow = false;
  answer = (): void => {};
  found: Movability = { kind: 'movable' };
  state: CarriedState | undefined = stateWith('none');
  /** An equal text of another session. A test makes it differ, to see which one is kept. */
  equal: string | undefined;
  readonly #watch = new StatementWatch();
  readonly #follower: SessionFollower;
  readonly known = new LastState({
    clock: this.clock,
    watch: this.#watch,
    isIdle: () => this.isIdle,
    member: () => 'pg-1',
    runOf: () => this.run,
    shared: (packed) => this.equal ?? packed,
    ask: (onAnswer) => {
      this.asked += 1;
      this.answer = () => onAnswer(this.found, this.state);
      if (!this.isSlow) this.answer();
    },
  });

  constructor() {
    const memory = new SessionMemory();
    memory.watch = this.#watch;
    this.#follower = new SessionFollower(memory);
  }

  sends(bytes: Uint8Array): void {
    this.#follower.fromClient(bytes);
  }

  /** And has an answer. */
  says(text: string): void {
    this.sends(query(text));
    this.known.hears();
  }
}

let lab: Lab;
beforeEach(() => {
  lab = new Lab();
  lab.known.hears();
});

/** The client runs a function, which may have left state. Returns the time until the question. */
async function pauseAfter(text = 'SELECT f()'): Promise<number> {
  const { asked } = lab;
  lab.says(text);
  const since = lab.clock.now();
  while (lab.asked === asked && lab.clock.now() - since < 20_000) await lab.clock.advance(500);
  return lab.clock.now() - since;
}

describe('the state before the open transaction', () => {
  const prepared = [
    { name: 'locks', statement: 'select pg_advisory_lock(1)' },
    { name: 'ends', statement: 'commit' },
    { name: 'writes', statement: 'insert into t values ($1)' },
  ].map((one) => ({ ...one, parameterTypes: [], resultColumns: undefined, isFromSql: false }));

  it('is not known before the first answer', () => {
    lab.sends(bindOf('writes'));
    expect(lab.known.beforeTransaction()).toBeUndefined();
  });

  it.each([
    ['writes', true],
    ['ends', false],
    ['locks', false],
    ['unknown', false],
  ])('with a statement that was prepared before: %s', async (name, isKnown) => {
    lab.state = { ...stateWith('none'), prepared };
    await lab.clock.advance(600);
    lab.sends(query('begin'));
    lab.sends(bindOf(name));
    expect(lab.known.known()).toBeUndefined();
    expect(lab.known.beforeTransaction() !== undefined).toBe(isKnown);
  });
});

describe('the state of a session', () => {
  it('is known after the first pause, with the instant of the last answer', async () => {
    expect(lab.known.known()).toBeUndefined();
    const at = lab.clock.now();
    await lab.clock.advance(600);
    const told = { member: 'pg-1', flushedAt: at + 1_000, run: RUN };
    expect(lab.known.known()).toEqual({ state: stateWith('none'), told });
    expect(lab.asked).toBe(1);
  });

  it('is kept as the text that other sessions in this state have', async () => {
    lab.equal = packState(stateWith('shared'));
    await lab.clock.advance(600);
    expect(lab.known.known()?.state).toEqual(stateWith('shared'));
  });

  it('takes the delay of the WAL writer into account', async () => {
    lab.state = { ...stateWith('none'), walWriterDelayMs: 2_000 };
    const at = lab.clock.now();
    await lab.clock.advance(600);
    expect(lab.known.known()?.told.flushedAt).toBe(at + 6_100);
  });

  it('stays known after statements that leave nothing', async () => {
    await lab.clock.advance(600);
    lab.says('SELECT 1');
    await lab.clock.advance(60_000);
    expect(lab.known.known()).toBeDefined();
    expect(lab.asked).toBe(1);
  });

  it.each([
    ['"$user", public', true],
    ['evil, pg_catalog', false],
  ])('G24: stays known after now() with the search_path %s: %s', async (searchPath, isKnown) => {
    lab.state = { ...stateWith('none'), searchPath };
    await lab.clock.advance(600);
    lab.says('SELECT now()');
    expect(lab.known.known() !== undefined).toBe(isKnown);
  });

  it('has the description of the unnamed statement of then, not of a newer one', async () => {
    const unnamed = { parameterTypes: [23], resultColumns: undefined };
    lab.state = { ...stateWith('none'), unnamed };
    await lab.clock.advance(600);
    expect(lab.known.known()?.state.unnamed).toEqual(unnamed);
    lab.sends(UNNAMED_PARSE);
    expect(lab.known.known()?.state.unnamed).toBeUndefined();
  });

  it('is asked for more and more seldom, although the unnamed statement is another one each time', async () => {
    for (let round = 0; round < 4; round += 1) {
      lab.state = { ...stateWith('none'), unnamed: { parameterTypes: [round], resultColumns: undefined } };
      lab.says('SELECT f()');
      await lab.clock.advance(10_000);
    }
    const before = lab.asked;
    lab.says('SELECT f()');
    await lab.clock.advance(1_000);
    expect(lab.asked).toBe(before);
  });

  it('is unknown from a statement that may leave something until the next pause', async () => {
    await lab.clock.advance(600);
    lab.sends(query('SET a = 1'));
    expect(lab.known.known()).toBeUndefined();
    lab.known.hears();
    await lab.clock.advance(400);
    expect(lab.known.known()).toBeUndefined();
    await lab.clock.advance(200);
    expect(lab.known.known()).toBeDefined();
    expect(lab.asked).toBe(2);
  });

  it('is not asked for while the session is busy, nor between statements that follow each other', async () => {
    await lab.clock.advance(600);
    for (let round = 0; round < 20; round += 1) {
      lab.says('INSERT INTO t VALUES (1)');
      await lab.clock.advance(300);
    }
    expect(lab.asked).toBe(1);
    lab.isIdle = false;
    lab.says('SET a = 1');
    await lab.clock.advance(60_000);
    expect(lab.asked).toBe(1);
  });

  it('is asked for more and more seldom while rows are read and written and the answers are the same', async () => {
    await lab.clock.advance(600);
    for (let round = 0; round < 10; round += 1) {
      lab.says('SELECT * FROM t');
      await lab.clock.advance(2_000);
    }
    expect(lab.asked).toBeLessThan(6);
    expect(lab.known.known()).toBeUndefined();
    await lab.clock.advance(10_000);
    expect(lab.known.known()).toBeDefined();
  });
});

describe('the pace of the questions', () => {
  it('doubles the pause up to 8 s while the answers are the same, and begins again after a SET', async () => {
    await lab.clock.advance(600);
    const pauses: number[] = [];
    for (let round = 0; round < 6; round += 1) pauses.push(await pauseAfter());
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    expect([await pauseAfter('SET a = 1'), await pauseAfter(), await pauseAfter()]).toEqual([500, 500, 1_000]);
  });

  it('keeps the pause short while the answers differ', async () => {
    await lab.clock.advance(600);
    for (const role of ['a', 'b', 'c']) {
      lab.state = stateWith(role);
      expect(await pauseAfter()).toBe(500);
    }
  });

  it('counts the pause from the last word of the server', async () => {
    lab.says('SET a = 1');
    await lab.clock.advance(300);
    lab.says('SET b = 1');
    await lab.clock.advance(400);
    expect(lab.asked).toBe(0);
    await lab.clock.advance(100);
    expect(lab.asked).toBe(1);
  });

  it('has one timer, whatever the server says', () => {
    for (let word = 0; word < 3; word += 1) lab.says('SET a = 1');
    expect(lab.clock.pending()).toBe(1);
    lab.known.reset();
    lab.known.hears();
    expect(lab.clock.pending()).toBe(1);
  });

  it('has one timer when the session speaks before a question stays without an answer', async () => {
    lab.isSlow = true;
    lab.state = undefined;
    await lab.clock.advance(600);
    lab.known.hears();
    lab.answer();
    expect([lab.asked, lab.clock.pending()]).toEqual([1, 1]);
  });

  it('asks a quiet session again 8 s after a question without an answer, and soon when it speaks', async () => {
    await lab.clock.advance(600);
    for (let round = 0; round < 5; round += 1) await pauseAfter();
    for (const isQuiet of [false, true]) {
      lab.state = undefined;
      await pauseAfter();
      const { asked } = lab;
      lab.state = stateWith('none');
      if (!isQuiet) {
        await lab.clock.advance(7_000);
        lab.known.hears();
      }
      await lab.clock.advance(isQuiet ? 7_500 : 500);
      expect(lab.asked).toBe(asked);
      await lab.clock.advance(500);
      expect(lab.asked).toBe(asked + 1);
      expect(lab.known.known()).toBeDefined();
    }
  });

  it('does not ask a quiet session before a run of its server is known', async () => {
    lab.run = undefined;
    await lab.clock.advance(60_000);
    // An answer would prove nothing.
    expect(lab.asked).toBe(0);
    lab.run = RUN;
    await lab.clock.advance(8_000);
    expect(lab.asked).toBe(1);
    expect(lab.known.known()).toBeDefined();
    await lab.clock.advance(60_000);
    expect(lab.asked).toBe(1);
  });
});

describe('nothing is known', () => {
  it.each<[string, () => void]>([
    ['of a session that cannot move', () => (lab.found = { kind: 'pinned', reason: 'listening' })],
    ['without an answer', () => (lab.state = undefined)],
    [
      'while the delay of the WAL writer is not known',
      () => (lab.state = { ...stateWith('none'), walWriterDelayMs: undefined }),
    ],
    ['while no WAL position of the member is known', () => (lab.run = undefined)],
  ])('%s', async (_, change) => {
    change();
    await lab.clock.advance(30_000);
    expect(lab.known.known()).toBeUndefined();
    expect(lab.asked).toBeLessThan(6);
  });

  it('after a move, until the next server was asked, although neither side says a word', async () => {
    await lab.clock.advance(600);
    lab.known.reset();
    expect(lab.known.known()).toBeUndefined();
    await lab.clock.advance(600);
    expect(lab.known.known()).toBeDefined();
  });

  it('and no timer stays behind', async () => {
    lab.known.stop();
    expect(lab.clock.pending()).toBe(0);
    lab.known.hears();
    expect(lab.clock.pending()).toBe(0);
    await lab.clock.advance(1_000);
    expect(lab.asked).toBe(0);
  });
});
