// A session whose server turns out to be a standby, or to be one no more, at the end of its login.
import { describe, expect, test } from 'vitest';
import { BRANCH, KEY, PG_1, RelayedLab } from '../../../support/labs/relayed-lab.ts';
import {
  AUTHENTICATION_OK,
  backendKeyData,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { aPool } from '../../../support/values/builders.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

function landed(isPooler: boolean): readonly unknown[] {
  return [{ kind: 'landed_on_standby', member: 'pg-1', isPooler }];
}

describe('G3: a server in recovery', () => {
  const STANDBY = parameterStatus('in_hot_standby', 'on');
  const PRIMARY = parameterStatus('in_hot_standby', 'off');
  const END = 'end: landed_on_standby: pg-1: in_hot_standby is on';

  test('is not the one that the client of a primary gets, and its client does not read the report', () => {
    const lab = new RelayedLab();
    lab.start();
    lab.fromServer(AUTHENTICATION_OK);
    lab.fromServer(STANDBY);
    expect([lab.triggers, lab.calls.includes(END)]).toEqual([[], false]);
    lab.fromServer(KEY);
    expect([lab.triggers, lab.calls.at(-1)]).toEqual([landed(false), END]);
    expect([lab.toClient.join(''), lab.keys.size()]).toEqual([text(AUTHENTICATION_OK), 0]);
    expect(lab.relayed.farewell('landed_on_standby')?.message).toBeDefined();
  });

  test('is told of where its login is over without a key, and where it ends within the login', () => {
    const lab = new RelayedLab();
    lab.start();
    lab.fromServer(Buffer.concat([AUTHENTICATION_OK, STANDBY, readyForQuery('I')]));
    expect([lab.triggers, lab.calls.at(-1)]).toEqual([landed(false), END]);
    const cut = new RelayedLab();
    cut.start();
    cut.fromServer(AUTHENTICATION_OK);
    cut.fromServer(STANDBY);
    cut.backend.emit('end');
    expect([cut.triggers, cut.calls.at(-1)]).toEqual([landed(false), END]);
  });

  test('may be a pooler, which has no process ids', () => {
    const lab = new RelayedLab();
    lab.start();
    lab.fromServer(Buffer.concat([AUTHENTICATION_OK, STANDBY, backendKeyData(0x7f00_0000, Buffer.from('key!'))]));
    expect(lab.triggers).toEqual(landed(true));
  });

  test('whose report comes behind a half message: its client cannot be told', () => {
    const lab = new RelayedLab();
    lab.start();
    lab.fromServer(AUTHENTICATION_OK.subarray(0, 4));
    lab.fromServer(Buffer.concat([AUTHENTICATION_OK.subarray(4), STANDBY, KEY]));
    expect([lab.calls.at(-1), lab.relayed.farewell('landed_on_standby')]).toEqual([END, undefined]);
  });

  test.each([
    ['of a pool of replicas', { pool: aPool() }],
    ['that repeats an old report', { server: { ...PG_1, isStandbyReportStale: true } as const }],
    ['that is a branch', { server: BRANCH }],
  ])('is the right one %s', (_, options) => {
    const lab = new RelayedLab(options);
    lab.start();
    lab.fromServer(Buffer.concat([AUTHENTICATION_OK, STANDBY, KEY, readyForQuery('I')]));
    expect([lab.triggers, lab.toClient.length, lab.relayed.activity()]).toEqual([[], 1, 'idle']);
  });

  test.each([
    ['has left recovery', { ...PG_1, isTrial: true } as const, PRIMARY, [{ kind: 'left_recovery', member: 'pg-1' }]],
    ['does not say', { ...PG_1, isTrial: true } as const, Buffer.alloc(0), []],
    ['was in none', PG_1, PRIMARY, []],
  ])('that is tried by one client and %s', (_, server, report, triggers) => {
    const lab = new RelayedLab({ server });
    lab.start();
    lab.fromServer(Buffer.concat([AUTHENTICATION_OK, report]));
    expect(lab.triggers).toEqual([]);
    lab.fromServer(readyForQuery('I'));
    expect(lab.triggers).toEqual(triggers);
  });

  test('that is tried by a client of replicas says nothing of the primary', () => {
    const lab = new RelayedLab({ pool: aPool(), server: { ...PG_1, isTrial: true } });
    lab.start();
    lab.fromServer(Buffer.concat([AUTHENTICATION_OK, PRIMARY, readyForQuery('I')]));
    expect(lab.triggers).toEqual([]);
  });
});
