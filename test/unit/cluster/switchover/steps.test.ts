// The steps of a switchover follow each other as soon as they can, and need nothing that a site may not have.
import { beforeEach, expect, test } from 'vitest';
import { answered, aPolicy, aPool, aWritePool, openIn, READ_CHECK } from '../../../support/values/builders.ts';
import { SwitchoverLab } from '../../../support/labs/switchover-lab.ts';

let lab: SwitchoverLab;

beforeEach(() => {
  lab = new SwitchoverLab();
});

test('goes on as soon as nobody connects, and as soon as no session is left', async () => {
  [lab.connecting, lab.sessions] = [1, 1];
  lab.start();
  await lab.reach('hold');
  lab.connecting = 0;
  await lab.clock.advance(25);
  expect(lab.document().phase).toBe('drain');
  lab.sessions = 0;
  await lab.clock.advance(25);
  expect(lab.document().phase).toBe('switch');
});

test('events of sessions make nobody count the sessions of all processes again', async () => {
  lab.sessions = 2;
  lab.start();
  // Nobody is counted yet.
  lab.tell({ kind: 'session_parked', pool: 'write', session: 5, member: 'pg-1', cause: 'switchover' });
  await lab.reach('drain');
  const { counts } = lab;
  for (const session of [6, 7, 8]) {
    lab.tell({ kind: 'hold_started', pool: 'write', session, cause: 'switchover' });
    await lab.clock.advance(0);
    lab.tell({ kind: 'session_parked', pool: 'write', session, member: 'pg-1', cause: 'switchover' });
    await lab.clock.advance(0);
  }
  expect(lab.counts).toBe(counts);
});

test('reports the confirmation as soon as the cluster does', async () => {
  lab.start();
  await lab.reach('switch');
  lab.answer.give({ kind: 'done', text: 'Done.', reason: '' });
  await lab.clock.advance(0);
  expect(lab.document().phase).toBe('confirm');
});

test('needs neither sessions that can move nor an open route of another pool', async () => {
  const policy = aPolicy({ pools: [aWritePool(), aPool()] });
  lab = new SwitchoverLab({ policy, moves: 'off' });
  for (const member of ['pg-2', 'pg-3']) {
    lab.silent.add(member);
    // A replica leaves with the second such answer.
    for (const ms of [1, 2]) lab.take(answered({ member, check: READ_CHECK, at: lab.clock.now() + ms, status: 503 }));
  }
  expect(openIn(lab.table(), 'read')).toEqual([]);
  lab.start();
  await lab.reach('switch');
  lab.promote('pg-2');
  lab.silent.delete('pg-2');
  expect(await lab.end()).toMatchObject({ outcome: 'done', primary: 'pg-2' });
});
