import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { DirectPipe } from '../../../../../src/proxy/relay/direct/direct-pipe.ts';
import { WriteBatch } from '../../../../../src/proxy/relay/direct/write-batch.ts';
import { asStepOf } from '../../../../../src/proxy/fault.ts';
import { FakePipeEnd } from '../../../../support/fakes/fake-pipe-end.ts';
import { freeReadBuffers } from '../../../../support/sockets/free-read-buffers.ts';

/** As long as a small buffer: it is written at once, and the next read uses a large buffer. */
const FULL = 1024;

class Lab {
  readonly source = new FakePipeEnd();
  readonly sink = new FakePipeEnd();
  readonly batch: WriteBatch;
  readonly pipe: DirectPipe;

  constructor(batch = new WriteBatch()) {
    this.batch = batch;
    this.pipe = new DirectPipe(this.source, this.sink, batch);
  }

  /** Everything is sent. */
  flow(): this {
    this.pipe.start({ receive: (bytes) => this.pipe.send(bytes) });
    return this;
  }
}

let lab: Lab;

beforeEach(() => {
  lab = new Lab();
});

/** Another writer has bytes for the end of this turn, so even a small write is gathered. */
function openBatch(batch: WriteBatch): void {
  batch.add({ flush: () => true, failed: () => expect.unreachable() }, Buffer.from('others'));
}

describe('bytes that wait for the kernel', () => {
  test.each([1, 64, FULL])('stay as they are while other sessions read: %i', (length) => {
    const sessions = ['a', 'b', 'c'].map((letter) => ({ text: letter.repeat(length), own: new Lab().flow() }));
    const [first, second] = sessions;
    for (const one of [first, second]) if (one !== undefined) one.own.sink.takesAtOnce = false;
    for (const { text, own } of sessions) own.source.hear(text);
    for (const one of [first, second]) one?.own.sink.takeOne();
    expect(sessions.map(({ own }) => own.sink.taken())).toEqual(sessions.map(({ text }) => text));
  });

  test('stay as they are when they are a part of a read, or go back to where they came from', () => {
    const back = new DirectPipe(lab.sink, lab.source, lab.batch);
    back.start({ receive: () => {} });
    lab.pipe.start({
      receive: (bytes) => {
        lab.pipe.send(bytes.subarray(0, 3));
        back.send(bytes.subarray(3));
      },
    });
    for (const end of [lab.source, lab.sink]) end.takesAtOnce = false;
    lab.source.hear('onetwo');
    new Lab().flow().source.hear('others');
    for (const end of [lab.source, lab.sink]) end.takeOne();
    expect([lab.sink.taken(), lab.source.taken()]).toEqual(['one', 'two']);
  });

  test("stay as they are in Node's stream, when the session has ended in the middle of the read", () => {
    const written: Uint8Array[] = [];
    Object.assign(lab.sink.socket, { write: (bytes: Uint8Array) => written.push(bytes) > 0 });
    lab.pipe.start({
      receive: (bytes) => {
        lab.pipe.detach();
        lab.pipe.send(bytes);
      },
    });
    lab.source.hear('late');
    new Lab().flow().source.hear('others');
    expect(Buffer.concat(written).toString()).toBe('late');
  });

  test('stop the reading until the last of them is written', () => {
    lab.flow().sink.takesAtOnce = false;
    lab.pipe.send(Buffer.from('one'));
    lab.pipe.send(Buffer.from('two'));
    expect(lab.source.isReading).toBe(false);
    lab.sink.takeOne();
    expect(lab.source.isReading).toBe(false);
    lab.sink.takeOne();
    expect(lab.source.isReading).toBe(true);
    expect(lab.sink.taken()).toBe('onetwo');
  });

  test('come before the end of the sink, which happens once', () => {
    let ends = 0;
    lab.flow().sink.takesAtOnce = false;
    lab.pipe.send(Buffer.from('one'));
    lab.pipe.send(Buffer.from('two'));
    lab.pipe.whenFlushed(() => (ends += 1));
    lab.sink.takeOne();
    expect(ends).toBe(0);
    lab.sink.takeOne();
    expect(ends).toBe(1);
    lab.pipe.send(Buffer.from('three'));
    lab.sink.takeOne();
    expect(ends).toBe(1);
  });

  test('end no sink that belongs to another pipe', () => {
    let ends = 0;
    lab.flow().sink.takesAtOnce = false;
    lab.pipe.send(Buffer.from('one'));
    lab.pipe.whenFlushed(() => (ends += 1));
    lab.pipe.detach();
    lab.sink.takeOne();
    expect(ends).toBe(0);
  });
});

/** Two pipes of two sessions, which have bytes in one turn. */
function talking(batch: WriteBatch) {
  const cut: string[] = [];
  const labs = ['first', 'second'].map((name) => {
    let made: Lab | undefined;
    const session = { state: 'relaying', cut: (_: unknown, why: string) => cut.push(`${name}: ${why}`) } as const;
    asStepOf(session, () => (made = new Lab(batch).flow()));
    return { session, lab: made ?? expect.fail() };
  });
  const speak = (): void => {
    batch.add({ flush: () => true, failed: () => void cut.push('opener') }, Buffer.from('others'));
    for (const one of labs) asStepOf(one.session, () => one.lab.source.hear('little'));
  };
  return { cut, sinks: labs.map((one) => one.lab.sink), speak };
}

describe('a fault at the end of a turn', () => {
  test('in the write of one session ends that session, and no other', async () => {
    const { cut, sinks, speak } = talking(new WriteBatch());
    Object.assign(sinks[1] ?? {}, { write: () => expect.unreachable('broken') });
    speak();
    await nextTurn();
    expect(cut).toEqual([expect.stringMatching(/^second: .*broken/)]);
    expect(sinks[0]?.taken()).toBe('little');
  });

  test('in the check before the writes ends one session; the others and the next turn are checked anew', async () => {
    let checks = 0;
    const check = (): void => {
      checks += 1;
      if (checks === 1) throw new Error('undecided');
    };
    const { cut, sinks, speak } = talking(new WriteBatch(check));
    speak();
    await nextTurn();
    expect(cut).toEqual(['opener']);
    speak();
    await nextTurn();
    expect(sinks.map((sink) => sink.taken())).toEqual(['littlelittle', 'littlelittle']);
    expect(checks).toBe(3);
  });
});

describe('gathered bytes', () => {
  test('are written at the end of the turn', async () => {
    lab.flow();
    openBatch(lab.batch);
    lab.source.hear('little');
    expect(lab.sink.taken()).toBe('');
    await nextTurn();
    expect(lab.sink.taken()).toBe('little');
  });

  test('are written before later bytes of the same turn', () => {
    lab.flow();
    openBatch(lab.batch);
    lab.source.hear('little');
    lab.source.hear('x'.repeat(FULL));
    expect(lab.sink.taken()).toBe(`little${'x'.repeat(FULL)}`);
  });

  test('are written before the sink ends', () => {
    lab.flow();
    openBatch(lab.batch);
    lab.source.hear('little');
    let before = '';
    lab.pipe.whenFlushed(() => (before = lab.sink.taken()));
    expect(before).toBe('little');
  });

  test('are dropped with the pipe', async () => {
    lab.flow();
    openBatch(lab.batch);
    lab.source.hear('little');
    lab.pipe.detach();
    await nextTurn();
    expect(lab.sink.taken()).toBe('');
  });
});

describe('large buffers', () => {
  test('come back when both ends have closed', () => {
    const free = freeReadBuffers();
    lab.flow().source.hear('x'.repeat(FULL));
    expect(freeReadBuffers()).toBe(free - 1);
    lab.pipe.closed();
    expect(freeReadBuffers()).toBe(free);
  });

  test.each([
    ['little', 10],
    ['much', 2000],
  ])('come back once if the session ends in the middle of a read of %s', (_, length) => {
    const free = freeReadBuffers();
    lab.pipe.start({
      receive: (bytes) => {
        lab.pipe.send(bytes);
        if (bytes.length === length) lab.pipe.detach();
      },
    });
    lab.source.hear('x'.repeat(FULL));
    lab.source.hear('x'.repeat(length));
    expect(freeReadBuffers()).toBe(free);
    lab.pipe.detach();
    lab.pipe.closed();
    expect(freeReadBuffers()).toBe(free);
  });

  test('come back once if the session ends while bytes wait', () => {
    const free = freeReadBuffers();
    lab.flow().source.hear('x'.repeat(FULL));
    lab.sink.takesAtOnce = false;
    lab.source.hear('x'.repeat(2 * FULL));
    lab.pipe.closed();
    lab.sink.takeOne();
    expect(freeReadBuffers()).toBe(free);
  });
});
