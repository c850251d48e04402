// Faults in the proxy's own callbacks: each listener of a socket, timer, continuation of a promise and reader of the
// direct relay is a site, named by the line that made it. The first call of one chosen site throws. For that it
// puts functions in the place of Node's own.
/* oxlint-disable typescript/unbound-method, typescript/no-unsafe-type-assertion, unicorn/no-thenable */
import { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../../src/model/instant.ts';
import { takeFault } from '../../../src/proxy/fault.ts';
import { PlainSocket } from '../../../src/proxy/plain/plain-socket.ts';
import { NodeHandle } from '../../../src/proxy/relay/direct/node-handle.ts';
import type { ProxyEvent } from '../../../src/reports/events.ts';

type Run = (...values: readonly never[]) => unknown;

export interface Chosen {
  /** Its next call throws, once. Undefined: none throws. */
  readonly site?: string;
  /** After the callback has done its work; else before. */
  readonly isAfter?: boolean;
}

export interface Faults {
  /** All sites that have run since the first call of `arm`. */
  readonly seen: ReadonlySet<string>;
  arm(chosen: Chosen): void;
  /** Since the last site was chosen. */
  hasThrown(): boolean;
  clock(clock: Clock): Clock;
  /** Ends it. */
  end(): void;
}

export const FAULT = 'a fault of the test';

/** The faults that no session owns, until the test ends. The test runner would fail at them. */
export function unownedFaults(): ProxyEvent[] {
  const unowned: ProxyEvent[] = [];
  const take = (error: unknown): void => takeFault(error, (event) => unowned.push(event));
  for (const kind of ['uncaughtException', 'unhandledRejection']) {
    const before = process.rawListeners(kind);
    process.removeAllListeners(kind).on(kind, take);
    onTestFinished(() => {
      process.off(kind, take);
      for (const listener of before) process.on(kind, listener as () => void);
    });
  }
  return unowned;
}

export function throwFaults(): Faults {
  const { then } = Promise.prototype;
  const sockets = [Socket.prototype, PlainSocket.prototype].map((kind) => ({
    kind,
    own: { on: kind.on, once: kind.once, off: kind.off },
  }));
  const { readInto, whenWritten } = NodeHandle.prototype;
  /** By the listener that the proxy knows. */
  const wrappers = new WeakMap<Run, readonly Run[]>();
  const seen = new Set<string>();
  let armed: Chosen | undefined;
  let hasThrown = false;
  const faults: Faults = {
    seen,
    arm(chosen) {
      armed = chosen;
      if (chosen.site !== undefined) hasThrown = false;
    },
    hasThrown: () => hasThrown,
    clock: (clock) => ({
      now: () => clock.now(),
      schedule: (delayMs, run) => clock.schedule(delayMs, faulty('timer', run)),
    }),
    end: () => {
      for (const { kind, own } of sockets) Object.assign(kind, own);
      Object.assign(NodeHandle.prototype, { readInto, whenWritten });
      void Object.assign(Promise.prototype, { then });
    },
  };
  const mayThrow = (site: string): void => {
    if (armed?.site !== site) return;
    armed = {};
    hasThrown = true;
    throw new Error(FAULT);
  };
  function faulty<One extends Run>(kind: string, run: One): One {
    const place = placeOf(new Error().stack ?? '');
    if (place === undefined) return run;
    const site = `${kind} at ${place}`;
    const wrapped = function wrapped(this: unknown, ...values: readonly never[]): unknown {
      if (armed !== undefined) seen.add(site);
      if (armed?.isAfter !== true) mayThrow(site);
      const result: unknown = Reflect.apply(run, this, values);
      mayThrow(site);
      return result;
    };
    return wrapped as unknown as One;
  }
  for (const { kind, own } of sockets) {
    for (const name of ['on', 'once'] as const) {
      const add: Run = own[name];
      Object.assign(kind, {
        [name](this: unknown, event: string, listener: Run) {
          const wrapped = faulty(event, listener);
          wrappers.set(listener, [...(wrappers.get(listener) ?? []), wrapped]);
          return Reflect.apply(add, this, [event, wrapped]);
        },
      });
    }
    const remove: Run = own.off;
    Object.assign(kind, {
      off(this: unknown, event: string, listener: Run) {
        for (const one of wrappers.get(listener) ?? []) Reflect.apply(remove, this, [event, one]);
        return Reflect.apply(remove, this, [event, listener]);
      },
    });
  }
  Object.assign(NodeHandle.prototype, {
    readInto(this: NodeHandle, buffer: Uint8Array, reader: { read(length: number): Uint8Array | undefined }) {
      const read = faulty('read', (length: number) => reader.read(length));
      Reflect.apply(readInto, this, [buffer, { read }]);
    },
    whenWritten(this: NodeHandle, run: () => void) {
      Reflect.apply(whenWritten, this, [faulty('written', run)]);
    },
  });
  void Object.assign(Promise.prototype, {
    then(this: Promise<unknown>, ...runs: readonly (Run | null | undefined)[]) {
      const faultyRuns = runs.map((run) => (run ? faulty('promise', run) : run));
      return Reflect.apply(then, this, faultyRuns) as unknown;
    },
  });
  return faults;
}

/** The first line of the proxy in the stack. Undefined: the callback belongs to no session. */
function placeOf(stack: string): string | undefined {
  const place = /\/src\/proxy\/(?!relay\/direct\/self-test)([^\s):]+:\d+)/.exec(stack)?.[1];
  // A timer of the clock that sessions share.
  return place?.startsWith('fault.ts') === true ? undefined : place;
}
