// The state of the page: what each message changes, and that it stays bounded.
import { describe, expect, test } from 'vitest';
import type { RecentEvent } from '../../../../src/documents/events-document.ts';
import type { SamplesDocument } from '../../../../src/documents/samples-document.ts';
import type { StatusDocument } from '../../../../src/documents/status-document.ts';
import { firstState, nextState } from '../../../../src/page/state/next-state.ts';
import type { PageMessage, PageState } from '../../../../src/page/state/next-state.ts';
import { STATUS } from '../../../support/values/console.ts';

const START = Date.UTC(2026, 0, 1);

function aStatus(seconds: number): StatusDocument {
  return { ...STATUS, time: new Date(START + seconds * 1000).toISOString() };
}

function status(seconds: number, id = 'r1-1'): PageMessage {
  return { kind: 'status', status: aStatus(seconds), at: seconds * 1000, id };
}

function anEvent(id: string): RecentEvent {
  return { id, time: new Date(START).toISOString(), event: 'x', level: 'info', message: id, fields: {} };
}

function event(id: string): PageMessage {
  return { kind: 'event', event: anEvent(id) };
}

function after(...messages: readonly PageMessage[]): PageState {
  return messages.reduce(nextState, firstState());
}

const idsOf = ({ events }: PageState): string[] => events.map(({ id }) => id);

const EMPTY: SamplesDocument = { interval_seconds: 5, times: [], pools: {}, members: {} };
const OVERRUN = { kind: 'gap', gap: { why: 'buffer_overrun', message: 'some are missing' } } as const;
const OTHER_RUN = { kind: 'gap', gap: { why: 'other_run', message: 'it has started again' } } as const;

describe('the connection', () => {
  test('it is live with the first status, lost with a reason, and live again with the next status', () => {
    expect(firstState().connection).toEqual({ kind: 'connecting' });
    const lost = after(status(1), { kind: 'lost', why: 'silent' });
    expect(lost).toMatchObject({ connection: { kind: 'lost', why: 'silent' }, status: { time: aStatus(1).time } });
    expect(nextState(lost, status(9)).connection).toEqual({ kind: 'live' });
  });

  test('events alone do not make it live: a reader that catches up shows old values', () => {
    expect(after({ kind: 'lost', why: 'silent' }, event('r1-1')).connection.kind).toBe('lost');
  });

  test('it continues after the newest id, of an event or a status', () => {
    expect(after(event('r1-3')).lastId).toBe('r1-3');
    expect(after(event('r1-3'), status(1, 'r1-9')).lastId).toBe('r1-9');
  });
});

describe('events', () => {
  test('each once, however often a stream repeats it', () => {
    expect(idsOf(after(event('r1-1'), event('r1-2'), event('r1-1')))).toEqual(['r1-1', 'r1-2']);
  });

  test('a gap is a line between them', () => {
    const { events } = after(event('r1-1'), OVERRUN, event('r1-900'));
    expect(events.map(({ message }) => message)).toEqual(['r1-1', 'some are missing', 'r1-900']);
  });

  test('a gap before the first event shows nothing', () => {
    expect(idsOf(after(OVERRUN))).toEqual([]);
  });

  test('the newest 200', () => {
    const ids = Array.from({ length: 500 }, (_, index) => `r1-${index + 1}`);
    expect(idsOf(after(...ids.map(event)))).toEqual(ids.slice(-200));
  });
});

describe('another run of Pointsman', () => {
  const first = after(event('r1-1'), status(1), { kind: 'samples', samples: EMPTY });

  test.each([
    ['a gap', [OTHER_RUN, event('r2-1')]],
    ['an event of it', [event('r2-1')]],
  ])('%s drops everything that the run before told', (_, messages) => {
    const state = messages.reduce(nextState, first);
    expect(idsOf(state)).toEqual(['r2-1']);
    expect([state.samples, state.timeline, state.lastId]).toEqual([undefined, undefined, 'r2-1']);
  });

  test('a status of it does, too', () => {
    const state = nextState(first, status(2, 'r2-0'));
    expect([idsOf(state), state.samples, state.lastId]).toEqual([[], undefined, 'r2-0']);
  });
});

test('a run id may have digits and letters, the number comes behind the last dash', () => {
  expect(idsOf(after(event('a1b-9'), event('a1b-10'), event('a1b-11')))).toEqual(['a1b-9', 'a1b-10', 'a1b-11']);
});
