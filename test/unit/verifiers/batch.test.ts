// A batch of moves has one source of verifiers. Nothing of a verifier is left behind its end, whenever an answer comes.
import { beforeEach, expect, test } from 'vitest';
import { nothing } from '../../../src/model/once.ts';
import { Batch } from '../../../src/verifiers/batch.ts';
import type { VerifierAnswer, VerifierSource } from '../../../src/verifiers/source.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const MD5 = 'md50123456789abcdef0123456789abcdef';
const OVER = { kind: 'failed', why: 'its batch of moves is over' };

class FakeSource implements VerifierSource {
  /** It says something, and not yet the answer. */
  onHeard = nothing;
  readonly asked: string[] = [];
  readonly answers = new Map<string, (answer: VerifierAnswer) => void>();
  isClosed = false;

  read(role: string, signal: AbortSignal): Promise<VerifierAnswer> {
    this.asked.push(role);
    const { promise, resolve, reject } = Promise.withResolvers<VerifierAnswer>();
    signal.addEventListener('abort', () => reject(signal.reason instanceof Error ? signal.reason : new Error('late')));
    this.answers.set(role, resolve);
    return promise;
  }

  close(): void {
    this.isClosed = true;
  }
}

let clock: ManualClock;
let source: FakeSource;
let loads: number;
let batch: Batch;

beforeEach(() => {
  clock = new ManualClock();
  source = new FakeSource();
  loads = 0;
  batch = new Batch((onHeard) => {
    loads += 1;
    source.onHeard = onHeard;
    return Promise.resolve(source);
  }, clock);
});

/** The question has arrived at the source. */
async function answer(role: string, verifier: Uint8Array): Promise<void> {
  await clock.advance(0);
  source.answers.get(role)?.({ kind: 'found', verifier });
}

test('one source for all roles, which is closed at the end; no timer is left', async () => {
  const lookups = ['app', 'other', 'app'].map((role) => batch.find(role));
  for (const role of ['app', 'other']) await answer(role, Buffer.from(MD5));
  expect((await Promise.all(lookups)).map(({ kind }) => kind)).toEqual(['found', 'found', 'found']);
  expect([loads, source.asked, clock.pending()]).toEqual([1, ['app', 'other'], 0]);
  batch.end();
  await clock.advance(0);
  expect(source.isClosed).toBe(true);
});

test('a verifier that comes behind the end is overwritten, and nobody gets it', async () => {
  const lookup = batch.find('app');
  await clock.advance(0);
  batch.end();
  const verifier = Buffer.from(MD5);
  await answer('app', verifier);
  expect(await lookup).toEqual(OVER);
  expect(verifier.every((byte) => byte === 0)).toBe(true);
});

test('what is no verifier is overwritten', async () => {
  const lookup = batch.find('app');
  const password = Buffer.from('a plain password');
  await answer('app', password);
  expect(await lookup).toMatchObject({ kind: 'refused' });
  expect(password.every((byte) => byte === 0)).toBe(true);
});

test('behind the end nobody is asked', async () => {
  batch.end();
  expect(await batch.find('app')).toEqual(OVER);
  expect([loads, source.asked]).toEqual([0, []]);
});

test('the work of a source that says something is not thrown away, however busy its host is', async () => {
  const lookups = ['app', 'other'].map((role) => batch.find(role));
  for (let said = 0; said < 2; said += 1) {
    await clock.advance(9_900);
    source.onHeard();
  }
  await clock.advance(9_900);
  for (const role of ['app', 'other']) await answer(role, Buffer.from(MD5));
  expect((await Promise.all(lookups)).map(({ kind }) => kind)).toEqual(['found', 'found']);
  expect([source.asked, clock.pending()]).toEqual([['app', 'other'], 0]);
});

test('a silent source is a failure for all that wait for it, and is asked again', async () => {
  const lookup = batch.find('app');
  await clock.advance(4_000);
  source.onHeard();
  const late = batch.find('other');
  await clock.advance(10_000);
  const silent = { kind: 'failed', why: 'silent for 10 s' };
  expect([await lookup, await late, clock.pending()]).toEqual([silent, silent, 0]);
  const again = batch.find('app');
  await answer('app', Buffer.from(MD5));
  expect([(await again).kind, source.asked]).toEqual(['found', ['app', 'other', 'app']]);
});

test('a word of the source that came in time counts, although a stall lets the deadline run first', async () => {
  const lookup = batch.find('app');
  clock.schedule(10_000, () => source.onHeard());
  await clock.advance(10_000);
  await answer('app', Buffer.from(MD5));
  expect([(await lookup).kind, clock.pending()]).toEqual(['found', 0]);
});

test('a source that says something for ever and never the answer is a failure', async () => {
  const lookup = batch.find('app');
  for (let said = 0; said < 30; said += 1) {
    await clock.advance(1_000);
    source.onHeard();
  }
  expect([await lookup, clock.pending()]).toEqual([{ kind: 'failed', why: 'no answer within 30 s' }, 0]);
});
