// The switchovers of the admin port: a refusal because of another operation names it, as the description says.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { CancelResult, OperationStart } from '../../../src/cluster/long-operations.ts';
import { validate, type DescribedAnswer } from '../../support/documents/described-answer.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { anOperation } from '../../support/labs/an-operation.ts';

const TOKEN = '0123456789abcdef-operator';
const RUNNING = anOperation(['check', 'hold', 'drain']);
const ENDED = anOperation(['check', 'release'], { outcome: 'failed', why: 'no' });

let starting: OperationStart;
let cancelling: CancelResult;
let admin: ReturnType<typeof createAdmin>;
let port: number;

beforeEach(async () => {
  const switchovers = {
    ...adminOptions().switchovers,
    start: () => Promise.resolve(starting),
    cancel: () => cancelling,
  };
  admin = createAdmin(adminOptions({ switchovers, token: () => Promise.resolve({ kind: 'token', value: TOKEN }) }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  ({ port } = listening.address);
});
afterEach(() => admin.close());

async function post(path: string): Promise<DescribedAnswer> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: '{}' });
  return { status: answer.status, body: z.record(z.string(), z.unknown()).parse(await answer.json()) };
}

test.each<[string, OperationStart, number, object]>([
  ['it starts', { kind: 'started', operation: RUNNING }, 202, { id: RUNNING.id }],
  ['a switchover runs', { kind: 'busy', operation: RUNNING }, 409, { operation: { id: RUNNING.id } }],
  ['a single request runs', { kind: 'busy' }, 409, { error: expect.stringContaining('another operation runs') }],
])('POST /switchover: %s', async (_, outcome, status, body) => {
  starting = outcome;
  const answer = await post('/switchover');
  expect(answer).toMatchObject({ status, body });
  validate('POST /switchover', answer);
});

test.each<[string, CancelResult, number, object]>([
  ['it is cancelled', { kind: 'cancelled', operation: RUNNING }, 202, { id: RUNNING.id }],
  ['it has ended', { kind: 'ended', operation: ENDED }, 409, { operation: { outcome: 'failed' } }],
  ['there is none', { kind: 'unknown' }, 404, { error: expect.stringContaining('unknown operation') }],
])('POST /operations/ID/cancel: %s', async (_, outcome, status, body) => {
  cancelling = outcome;
  const answer = await post('/operations/k3x9/cancel');
  expect(answer).toMatchObject({ status, body });
  validate('POST /operations/ID/cancel', answer);
});
