// The key of a session that moves: its client keeps the first one, and its requests go to the next server.
import { expect, test } from 'vitest';
import { CancelKeys } from '../../../../src/proxy/cancel/cancel-keys.ts';
import type { Cancels } from '../../../../src/proxy/cancel/cancel.ts';
import { SessionKey } from '../../../../src/proxy/cancel/session-key.ts';
import type { CancelKey } from '../../../../src/wire/messages/cancel-key.ts';

const FIRST: CancelKey = { processId: 7, secret: '1234' };
const NEXT: CancelKey = { processId: 9, secret: '5678' };
const server = (member: string) => ({ member, address: { host: member, port: 5432 } });

test.each([
  ['its new key', NEXT, NEXT],
  ['the first one, where the next server tells none', undefined, FIRST],
])('the next server is sent %s', (_, told, expected) => {
  const keys = new CancelKeys();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no request is sent
  const key = new SessionKey({ keys } as Cancels, { takesCancel: () => false });
  expect(key.cancelStatement()).toBe(false);
  key.learn(FIRST, server('pg-1'));
  key.leadsTo(server('pg-2'), told);
  expect(keys.find(FIRST)).toMatchObject({ current: expected, server: { member: 'pg-2' } });
  key.remove();
  key.remove();
  expect(keys.size()).toBe(0);
});
