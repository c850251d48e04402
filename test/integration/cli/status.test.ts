// `pointsman status` against an admin server on a real socket: its output and its exit code.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noticesOf } from '../../../src/admin/notices.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import { buildStatus } from '../../../src/admin/status.ts';
import type { StatusDocument } from '../../../src/documents/status-document.ts';
import { runCli } from '../../../src/cli/program.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { aList, aPolicy, aSnapshot, isPrimary, isReplica, silent } from '../../support/values/builders.ts';
import { STATUS_BASICS } from '../../support/values/status-basics.ts';

const POLICY = aPolicy();
const LIST = aList(0, 'pg-1', 'pg-2');

function statusAt(now: number, ...later: Parameters<typeof aSnapshot>[1][]): StatusDocument {
  const snapshot = aSnapshot(POLICY, LIST, isPrimary('pg-1', 0), isReplica('pg-2', 0), ...later);
  return buildStatus({
    ...STATUS_BASICS,
    version: '0',
    startedAt: 0,
    now,
    readiness: { ready: true },
    pools: POLICY.pools,
    table: decideRoutes(POLICY, snapshot, now),
    snapshot,
    counts: new Map(),
  });
}

const SERVING = statusAt(300);
const WITHOUT_PRIMARY = statusAt(6000, isReplica('pg-2', 5500), silent({ at: 1000 }));

let status = SERVING;
let admin: ReturnType<typeof createAdmin>;
let address = '';
beforeEach(async () => {
  status = SERVING;
  admin = createAdmin(adminOptions({ status: () => status }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  address = `127.0.0.1:${listening.address.port}`;
});
afterEach(() => admin.close());

async function cli(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  let [out, err] = ['', ''];
  const io = { env, stdout: (text: string) => void (out += text), stderr: (text: string) => void (err += text) };
  const code = await runCli([...argv, '--admin', address], io, cliParts());
  return { code, out, err };
}

describe('status', () => {
  test('the screen; every pool serves: exit code 0', async () => {
    const { code, out, err } = await cli(['status']);
    expect(out).toMatch(/^cluster lab {2}timeline 1 {2}primary pg-1 +seen by 127\.0\.0\.1:\d+, up 0 ms\n\nMEMBER/);
    expect(out).toContain('● open on pg-1');
    expect(out).not.toContain('no rival on timeline 1');
    expect([code, err]).toEqual([0, '']);
  });

  test('a pool that does not serve: exit code 1, and 0 for the other one', async () => {
    status = WITHOUT_PRIMARY;
    const all = await cli(['status']);
    expect([all.code, all.err]).toEqual([1, '']);
    expect(all.out).toMatch(/\nwrite {2}◐ no eligible member, clients wait/);
    const { code, out } = await cli(['status', '--pool', 'read']);
    expect(code).toBe(0);
    expect(out).not.toContain('write');
  });

  test.each(['status', 'explain', 'top --count 1 --interval 100ms'])(
    '%s: all that needs attention',
    async (command) => {
      const facts = {
        ...SERVING,
        not_ready_because: 'shutting down',
        cluster: {
          ...SERVING.cluster,
          drained: ['pg-2', 'pg-7'],
          scheduled_switchover: { in_seconds: 5400, from: 'pg-1' },
        },
        members: SERVING.members.map((member) => ({
          ...member,
          paused: true,
          pending_restart: member.name === 'pg-1',
        })),
      };
      status = { ...facts, notices: noticesOf(facts) };
      const { out } = await cli(command.split(' '), { COLUMNS: '200' });
      expect(out.split('ATTENTION\n')[1]?.split('\n').slice(0, 6)).toEqual([
        'not ready        Not ready: shutting down.',
        'switchover       A switchover away from pg-1 is scheduled in 90 min.',
        'drained          Drained by the operator: pg-2. (pointsman resume pg-2)',
        'drained          Drained by the operator: pg-7, which is no member now. (pointsman resume pg-7)',
        'pending restart  A restart is pending: pg-1. (pointsman cluster restart --role any --pending)',
        'paused           Cluster paused: automatic failover is off. (pointsman cluster resume)',
      ]);
    },
  );

  test('--why adds the evidence', async () => {
    const { out } = await cli(['status', '--why'], { COLUMNS: '200' });
    expect(out).toContain(
      '\npool write (/primary): open on pg-1\n  pg-1  routed        answered 200 to /primary 300 ms ago',
    );
  });

  test('--json is the document of /status, and has the exit code, too', async () => {
    status = WITHOUT_PRIMARY;
    const { code, out } = await cli(['status', '--json'], { FORCE_COLOR: '1' });
    expect(JSON.parse(out)).toMatchObject(JSON.parse(JSON.stringify(WITHOUT_PRIMARY)));
    expect(code).toBe(1);
  });

  test('an unknown pool: exit code 2', async () => {
    const { code, err } = await cli(['status', '--pool', 'wriet']);
    expect([code, err]).toEqual([2, 'pointsman: unknown pool wriet: did you mean write? The pools are write, read\n']);
  });

  test('no answer: exit code 1', async () => {
    await admin.close();
    const { code, err } = await cli(['status']);
    expect([code, err]).toEqual([1, expect.stringContaining(`no answer from ${address}`)]);
  });
});
