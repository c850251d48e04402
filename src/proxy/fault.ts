// A fault of Pointsman's own in a step of a session ends this session, and no other. Node keeps track of the step in
// which a socket, a timer or a promise was made: its callbacks belong to the session as well, without a cost for each.
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Clock } from '../model/instant.ts';
import { onOneLine, shown } from '../model/printable.ts';
import type { ProxyEvent } from '../reports/events.ts';
import type { SessionState } from '../reports/session-state.ts';

/** A session. */
export interface Faulty {
  readonly state: SessionState;
  cut(reason: 'internal_error', detail: string): void;
}

const current = new AsyncLocalStorage<Faulty>();
/** Made where there is no step. The way into its scope and back makes no copy of a context, as `run` and `exit` do. */
const outside = new AsyncResource('PointsmanShared');
/** The rest of a stack says how the event loop came there. */
const FRAMES = 4;

/** Runs a step of the session. A fault in it, or later in a callback that it leaves behind, ends the session. */
export function asStepOf(session: Faulty, run: () => void): void {
  if (current.getStore() === session) tryStep(session, run);
  else outside.runInAsyncScope(beginStep, undefined, session, run);
}

function beginStep(session: Faulty, run: () => void): void {
  current.enterWith(session);
  tryStep(session, run);
}

function tryStep(session: Faulty, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!failed(session, error)) throw error;
  }
}

/** For a callback that Node would count to another session. */
export function keepingStep<Values extends readonly unknown[]>(
  run: (...values: Values) => void,
): (...values: Values) => void {
  const session = current.getStore();
  return session === undefined ? run : (...values) => asStepOf(session, () => run(...values));
}

/** Its timers belong to no session: the parts that sessions share use it. */
export function sharedClock(clock: Clock): Clock {
  const schedule: Clock['schedule'] = (delayMs, run) => outside.runInAsyncScope(() => clock.schedule(delayMs, run));
  return { now: () => clock.now(), schedule };
}

/** For calls that leave callbacks behind which belong to no session. */
export function apart<Values extends readonly unknown[]>(
  run: (...values: Values) => void,
): (...values: Values) => void {
  return (...values) => outside.runInAsyncScope(run, undefined, ...values);
}

/**
 * For the program: an exception, or a rejection, that nothing has caught. The process goes on. No route outlives its
 * evidence, so a part of Pointsman that stands still opens nothing.
 */
export function takeFault(error: unknown, onEvent: (event: ProxyEvent) => void): void {
  const session = current.getStore();
  if (session === undefined || !failed(session, error)) onEvent({ kind: 'unexpected_fault', detail: faultText(error) });
}

/** False: it is closed already. */
function failed(session: Faulty, error: unknown): boolean {
  if (session.state === 'closed') return false;
  session.cut('internal_error', faultText(error));
  return true;
}

/** The message, and the innermost places without their folders. */
function faultText(error: unknown): string {
  if (!(error instanceof Error)) return shown(String(error));
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const places = frames.slice(0, FRAMES).map((line) => line.trim().replace(/(?:file:\/\/)?\/[^\s()]*\//, ''));
  return [onOneLine(shown(`${error.name}: ${error.message}`)), ...places].join(' ');
}
