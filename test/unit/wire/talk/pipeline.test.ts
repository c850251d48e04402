// A server may say only so much unasked while Pointsman speaks to it.
import { expect, test } from 'vitest';
import { Pipeline } from '../../../../src/wire/talk/pipeline.ts';
import { aMessage, readyForQuery } from '../../../support/sockets/messages.ts';

function told(count: number, size: number): { readonly kept: number; readonly end: string | undefined } {
  let kept = 0;
  const note = (): void => void (kept += 1);
  const pipeline = new Pipeline(1_000, () => {}, note).sync();
  pipeline.send();
  const one = aMessage('A', Buffer.alloc(size));
  const end = pipeline.take(Buffer.concat([...Array.from({ length: count }, () => one), readyForQuery('I')]));
  return { kept, end: end?.kind };
}

test('many notifications arrive while a client listens', () => {
  expect(told(20_000, 50)).toEqual({ kept: 20_000, end: 'ready' });
});

test.each([
  ['bytes', 5_000, 900],
  // Each takes memory of its own, some 100 bytes of it.
  ['messages, however short', 200_000, 0],
])('a server that says too much ends the session: %s', (_, count, size) => {
  const { kept, end } = told(count, size);
  expect(end).toBe('over');
  expect(kept).toBeLessThan(40_000);
});
