// `pointsman switchover` against an admin server on a real socket: the plan, the question, each phase as it ends, the
// end, Ctrl-C, and a Pointsman that goes away.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { CancelResult, OperationStart } from '../../../src/cluster/long-operations.ts';
import type { OperationDocument } from '../../../src/documents/switchover-document.ts';
import type { HeldSwitchoverRequest } from '../../../src/cluster/switchover/plan.ts';
import type { PlanOfPrimary } from '../../../src/documents/switchover-document.ts';
import type { CliIo } from '../../../src/cli/io.ts';
import { EXIT } from '../../../src/cli/io.ts';
import { runCli } from '../../../src/cli/program.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { PLAN } from '../../support/labs/a-plan.ts';
import { anOperation } from '../../support/labs/an-operation.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { aReport } from '../../support/labs/switchover-lab.ts';
import { until } from '../../support/waiting/until.ts';

const TOKEN = '0123456789abcdef-operator';

const DONE = anOperation(['check', 'hold', 'drain', 'switch', 'confirm', 'release'], {
  outcome: 'done',
  why: 'pg-2 is the primary',
});

let plan: PlanOfPrimary;
let planned: PromiseWithResolvers<PlanOfPrimary> | undefined;
let starting: OperationStart;
let operation: OperationDocument | undefined;
let requests: HeldSwitchoverRequest[];
let cancelled: string[];
let admin: ReturnType<typeof createAdmin>;
let address = '';

beforeEach(async () => {
  plan = PLAN;
  planned = undefined;
  operation = DONE;
  starting = { kind: 'started', operation: anOperation(['check']) };
  [requests, cancelled] = [[], []];
  const cancel = (id: string): CancelResult => {
    cancelled.push(id);
    operation = anOperation(['check', 'hold', 'release'], { outcome: 'cancelled', why: 'by the operator' });
    return { kind: 'cancelled', operation };
  };
  const switchovers = {
    plan: (request: HeldSwitchoverRequest) => (requests.push(request), planned?.promise ?? Promise.resolve(plan)),
    start: (request: HeldSwitchoverRequest) => (requests.push(request), Promise.resolve(starting)),
    list: () => [],
    find: () => operation,
    cancel,
  };
  admin = createAdmin(adminOptions({ switchovers, token: () => Promise.resolve({ kind: 'token', value: TOKEN }) }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  address = `127.0.0.1:${listening.address.port}`;
});
afterEach(() => admin.close());

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function cli(argv: readonly string[], more: Partial<CliIo> = {}, watch?: (out: string) => void): Promise<Ran> {
  let [out, err] = ['', ''];
  const io: CliIo = {
    env: { POINTSMAN_ADMIN_TOKEN: TOKEN },
    stdout(text) {
      out += text;
      watch?.(out);
    },
    stderr: (text) => void (err += text),
    ...more,
  };
  return runCli(['switchover', ...argv, '--admin', address], io, cliParts()).then((code) => ({ code, out, err }));
}

test('the plan, each phase with its duration, and one line at the end', async () => {
  const { code, out, err } = await cli(['--yes']);
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe(
    [
      'Switchover from pg-1 to the member that the cluster chooses',
      '',
      'CANDIDATE  ROLE     STATE          LAG  ELIGIBLE',
      'pg-2       replica  streaming      0 B  yes',
      'pg-3       replica  streaming  unknown  no: its lag is unknown',
      '',
      '100 sessions on pg-1 will end: between two transactions, or after 10 s.',
      '3 of them cannot be read (TLS with the server): they are cut after 10 s.',
      'New clients of the primary will wait, for 28 s at most.',
      '',
      'check       10 ms',
      'hold        20 ms',
      'drain       30 ms  99 sessions ended, 1 cut',
      'switch      40 ms',
      'confirm     50 ms',
      'release     60 ms  12 clients held',
      'done: pg-2 is the primary; 12 clients held (the longest for 5.8 s), 99 sessions ended, 1 cut, ' +
        'no primary for 2.5 s',
      '',
    ].join('\n'),
  );
});

test('the plan says how many sessions move, and why the others stay', async () => {
  const moves = { movable: 76, stays: { listening: 12, temporary_objects: 3, authentication: 2 }, unknown: 7 };
  plan = { ...PLAN, unreadable_sessions_on_primary: 0, moves };
  const { out } = await cli(['--dry-run']);
  expect(out).toContain(
    [
      '100 sessions on pg-1: 76 can move, 7 are busy or were not asked in time ' +
        '(checked when they become idle), 17 stay: 12 listen, ' +
        '3 have temporary objects, 2 have logins that cannot be repeated.',
      'Sessions that stay will end: between two transactions, or after 10 s.',
      '',
    ].join('\n'),
  );
  plan = { ...plan, sessions_on_primary: 3, moves: { movable: 1, stays: { listening: 1 }, unknown: 1 } };
  const { out: few } = await cli(['--dry-run']);
  expect(few).toContain(
    '3 sessions on pg-1: 1 can move, 1 is busy or was not asked in time (checked when it becomes idle), 1 stays: ',
  );
  plan = { ...plan, sessions_on_primary: 100, moves: { movable: 100, stays: {}, unknown: 0 } };
  expect((await cli(['--dry-run'])).out).toContain('100 sessions on pg-1: 100 can move.\nNew clients');
});

test('the options reach the operation', async () => {
  await cli(['--yes', '--to', 'pg-2', '--transaction-timeout', '2500ms']);
  const asked = { to: 'pg-2', transactionMs: 2500 };
  expect(requests).toEqual([asked, asked]);
});

test('each phase and the end say how many sessions were parked and moved', async () => {
  const sessions = { ...DONE.sessions, ended: 15, cut: 2, parked: 83, aborted: 3, moved: 82, move_failed: 1 };
  operation = { ...DONE, sessions };
  const { out } = await cli(['--yes']);
  expect(out).toContain('drain       30 ms  15 sessions ended, 2 cut, 83 parked\n');
  expect(out).toContain('release     60 ms  12 clients held, 82 moved\n');
  expect(out).toContain('held (the longest for 5.8 s), 82 sessions moved, ');
  expect(out).toContain('3 transactions rolled back, 1 could not move, 15 sessions ended, 2 cut');
});

describe('before the operation', () => {
  test('--dry-run shows the plan, also as JSON, and needs no token', async () => {
    const { code, out } = await cli(['--dry-run'], { env: {} });
    expect([code, out.includes('Switchover from pg-1')]).toEqual([0, true]);
    const { out: json } = await cli(['--dry-run', '--json'], { env: {} });
    expect(JSON.parse(json)).toEqual({ api_version: 1, ...PLAN });
    expect(requests.length).toBe(2);
  });

  test('each problem is told, and nothing begins', async () => {
    plan = { ...PLAN, problems: ['one thing', 'another thing'] };
    const { code, err } = await cli(['--yes']);
    expect([code, err]).toEqual([1, 'pointsman: one thing\npointsman: another thing\n']);
    expect(await cli(['--yes', '--to', 'pg-9']), 'an unknown member is wrong usage').toMatchObject({ code: 2 });
    expect(requests.length).toBe(2);
  });

  test('it asks on a terminal, and takes no for an answer', async () => {
    const questions: string[] = [];
    const readLine = (question: string) => (questions.push(question), Promise.resolve('n'));
    expect(await cli([], { readLine })).toMatchObject({ code: 1 });
    expect(questions).toEqual(['Switch over from pg-1? [y/N] ']);
    expect(requests.length).toBe(1);
  });

  test('without a terminal it needs --yes; a wrong duration and a missing token are wrong usage', async () => {
    expect(await cli([])).toMatchObject({ code: 2, err: expect.stringContaining('Add --yes.') });
    const wrong = await cli(['--transaction-timeout', '10']);
    expect([wrong.code, wrong.err]).toEqual([
      2,
      'pointsman: --transaction-timeout: 10 has no unit: write 10s or 10ms\n',
    ]);
    expect(await cli(['--yes'], { env: {} })).toMatchObject({ code: 2, err: expect.stringContaining('admin token') });
  });

  test('another operation runs', async () => {
    starting = { kind: 'busy', operation: anOperation(['check', 'hold', 'drain']) };
    const { code, err } = await cli(['--yes']);
    expect(code).toBe(1);
    expect(err).toBe(
      'pointsman: another operation runs: switchover k3x9, phase drain\n' +
        'It began at 2026-01-01T00:00:00.000Z: GET /operations/k3x9\n',
    );
  });
});

test('--json prints the final document alone', async () => {
  const { code, out } = await cli(['--yes', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ api_version: 1, ...DONE });
});

test('a failure shows the state of the cluster', async () => {
  operation = anOperation(['check', 'release'], { outcome: 'failed', why: 'no', primary: 'pg-1', cluster: aReport() });
  const { code, out } = await cli(['--yes']);
  expect(code).toBe(1);
  expect(out).toContain('failed: no; 12 clients held');
  expect(out).toContain(
    'pg-1 takes clients of the primary now.\n\nMEMBER  ROLE     STATE      TL  LAG\npg-1    leader',
  );
  operation = anOperation(['check', 'release'], { outcome: 'failed', why: 'no', primary: null, cluster: null });
  const unread = await cli(['--yes']);
  expect(unread.out).toContain('No primary takes clients now. The cluster could not be read');
});

test('a slow plan says what it waits for, and Ctrl-C in that time changes nothing', async () => {
  planned = Promise.withResolvers();
  let err = '';
  const { code, out } = await cli(['--yes'], {
    stderr: (text) => void (err += text),
    onInterrupt: (listener) => {
      void until('the line', () => err.includes('asking the cluster')).then(() => listener(EXIT.interrupted));
      return () => {};
    },
  });
  planned.resolve(PLAN);
  expect([code, out]).toEqual([130, '']);
  expect(err).toMatch(/^asking the cluster.*\npointsman: interrupted: nothing was changed\n$/);
});

describe('Ctrl-C', () => {
  let interrupt: () => void;
  const onInterrupt = (listener: (code: number) => void) => ((interrupt = () => listener(EXIT.interrupted)), () => {});

  test('cancels the operation, and the end is shown', async () => {
    operation = anOperation(['check', 'hold']);
    const { code, out, err } = await cli(['--yes'], { onInterrupt }, (text) => {
      if (text.includes('check  ') && cancelled.length === 0) interrupt();
    });
    expect(code).toBe(1);
    expect(cancelled).toEqual(['k3x9']);
    expect(err).toBe('pointsman: cancelling: all clients are released\n');
    expect(out).toContain('cancelled: by the operator');
  });

  test('while the request is under way cancels the operation too', async () => {
    operation = anOperation(['check']);
    const { code, err } = await cli(['--yes'], {
      onInterrupt: (listener) => (requests.length > 0 ? listener(EXIT.interrupted) : undefined, () => {}),
    });
    expect([code, cancelled, err]).toEqual([1, ['k3x9'], 'pointsman: cancelling: all clients are released\n']);
  });

  test('in phase switch tells that clients wait, and twice that they are released', async () => {
    const switching = anOperation(['check', 'hold', 'drain', 'switch']);
    operation = switching;
    const running = cli(['--yes'], { onInterrupt }, (text) => {
      if (text.includes('drain  ') && cancelled.length === 0) interrupt();
    });
    await until('the first', () => cancelled.length === 1);
    operation = switching;
    interrupt();
    const { err } = await running;
    expect(cancelled).toEqual(['k3x9', 'k3x9']);
    expect(err).toContain('cannot be taken back: clients wait until a primary is proven.');
    expect(err).toContain('releasing all clients now');
  });

  test('twice does not wait for the end', async () => {
    operation = anOperation(['check', 'hold']);
    const running = cli(['--yes'], { onInterrupt });
    await until('the start', () => requests.length === 2);
    const still = anOperation(['check', 'hold']);
    await until('the listener', () => {
      interrupt();
      operation = still;
      return cancelled.length > 0;
    });
    interrupt();
    operation = still;
    expect(await running).toMatchObject({ code: 1, err: expect.stringContaining('stopped by another signal') });
  });
});

test('a Pointsman that does not know the operation any more', async () => {
  operation = undefined;
  const { code, err } = await cli(['--yes']);
  expect(code).toBe(1);
  expect(err).toContain('the switchover cannot be followed any more: the Pointsman does not know operation k3x9');
  expect(err).toContain('pointsman status');
});

test('a Pointsman that goes away', async () => {
  operation = anOperation(['check', 'hold']);
  const running = cli(['--yes'], {}, (out) => {
    if (out.includes('check  ')) void admin.close();
  });
  expect(await running).toMatchObject({ code: 1, err: expect.stringContaining('The cluster may have switched over') });
});

describe('a switchover of the fleet', () => {
  const FLEET = { ahead_ms: 23_000, hold_before_ms: 1_000 };

  test('the plan tells the time, the hold at each Pointsman, and what is not known', async () => {
    plan = { ...PLAN, fleet: FLEET, longest_hold_ms: 16_000 };
    const { code, out } = await cli(['--fleet', '--dry-run']);
    expect(code).toBe(0);
    expect(requests).toEqual([{ to: undefined, transactionMs: 10_000, fleet: true }]);
    expect(out.split('\n').slice(6)).toEqual([
      'The cluster schedules it, 23 s ahead: until then every Pointsman reads the list of members twice.',
      'From 1 s before that time new clients of the primary wait (hold.before_switchover), for 16 s at most.',
      'Here, 100 sessions on pg-1 will end when it stops.',
      'How many sessions every other Pointsman has, and whether it holds its clients, is not known here.',
      '',
    ]);
  });

  test('with moves it tells which sessions of this Pointsman move', async () => {
    plan = { ...PLAN, fleet: FLEET, moves: { movable: 98, stays: { listening: 2 }, unknown: 0 } };
    const { out } = await cli(['--dry-run']);
    expect(requests).toEqual([{ to: undefined, transactionMs: 10_000, fleet: undefined }]);
    expect(out).toMatch(/^Here, 100 sessions on pg-1: 98 can move, 2 stay: .*\. The rest ends when pg-1 stops\.$/m);
  });

  test('it is started as one, or by this Pointsman alone', async () => {
    await cli(['--fleet', '--yes']);
    await cli(['--no-fleet', '--yes']);
    expect(requests.map(({ fleet }) => fleet)).toEqual([true, true, false, false]);
  });
});
