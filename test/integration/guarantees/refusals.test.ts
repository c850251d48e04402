// Every refused client reads the reason. The test provokes each reason once, and reads one whole ErrorResponse and then
// the end.
import { afterEach, describe, expect, test } from 'vitest';
import { CLOSE_REASONS } from '../../../src/model/close-reason.ts';
import type { BranchLookup } from '../../../src/model/branch.ts';
import type { CloseReason } from '../../../src/model/close-reason.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { aWritePool } from '../../support/values/builders.ts';
import { aBranch } from '../../support/values/branches.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { until } from '../../support/waiting/until.ts';

let lab: ProxyLab;
let clock: ManualClock;

interface Case {
  readonly options?: ProxyLabOptions;
  readonly provoke: (client: RawClient) => Promise<void> | void;
}

const OPEN = { write: { open: { 'pg-1': { host: '127.0.0.1', port: 1 } } } };
const CLOSED = { write: { otherwise: 'closed' } } as const;

function asks(client: RawClient): void {
  client.socket.write(aStartup());
}

async function waits(client: RawClient): Promise<void> {
  asks(client);
  await until('the hold', () => lab.events.some(({ kind }) => kind === 'hold_started'));
}

function asksForBranch({ socket }: RawClient): void {
  socket.write(aStartup({ user: 'app', database: 'shop@pr-1' }));
}

/** A lab whose lookup of every branch gives that. */
function branchCase(lookup: BranchLookup): Case {
  return { options: { table: OPEN, locateBranch: () => lookup }, provoke: asksForBranch };
}

const CASES: Partial<Record<CloseReason, Case>> = {
  startup_timeout: { provoke: () => clock.advance(10_000) },
  not_postgres: { provoke: ({ socket }) => void socket.write('hello, is anybody there?') },
  tls_required: { options: { client: { tls: { mode: 'require', ...SERVER } } }, provoke: asks },
  unknown_pool: {
    options: { table: OPEN },
    provoke: ({ socket }) => void socket.write(aStartup({ user: 'app', database: 'shop@nowhere' })),
  },
  unknown_branch: branchCase({ kind: 'unknown' }),
  branch_not_allowed: branchCase({ kind: 'not_allowed', branch: aBranch(), why: 'root' }),
  ambiguous_branch: branchCase({ kind: 'ambiguous', ids: ['br-1', 'br-2'] }),
  branches_unavailable: branchCase({ kind: 'unavailable', why: 'no answer' }),
  branch_unreachable: branchCase({ kind: 'no_backend', branch: aBranch(), why: 'no template' }),
  causal_reads_unreadable: {
    options: { table: OPEN, pools: [aWritePool({ causalReads: { scope: 'cluster', waitMs: 500, late: 'error' } })] },
    provoke: ({ socket }) => void socket.write(aStartup({ user: 'app', replication: 'true' })),
  },
  too_many_sessions: { options: { client: { maxSessions: 0 } }, provoke: asks },
  hold_full: { options: { hold: { maxSessions: 0 } }, provoke: asks },
  hold_timeout: {
    provoke: async (client) => {
      await waits(client);
      await clock.advance(30_000);
    },
  },
  no_route: { options: { table: CLOSED }, provoke: asks },
  connect_failed: {
    options: {
      table: OPEN,
      hold: { clientTimeoutMs: 50 },
      dial: (_address, { clock: own }, onResult) =>
        own.schedule(1, () =>
          onResult({ kind: 'failed', outcome: 'refused', isLocalFault: false, detail: 'connection refused' }),
        ),
    },
    provoke: async (client) => {
      asks(client);
      await until('the dial', () => clock.pending() > 0 && lab.events.some(({ kind }) => kind === 'client_accepted'));
      await until('the answer', () => {
        void clock.advance(10);
        return client.received().length > 0;
      });
    },
  },
  killed_by_operator: {
    provoke: async (client) => {
      await waits(client);
      const { sessions } = await lab.proxy.sessions({ limit: 1 });
      await lab.proxy.kill(sessions[0]?.id ?? 0);
    },
  },
  shutdown: {
    provoke: async (client) => {
      await waits(client);
      void lab.proxy.drain(60_000);
    },
  },
};

/** Their tests: tls-startup, faults, first-reply (the server's own words), and proxy/login. */
const ELSEWHERE: readonly CloseReason[] = [
  'unsupported_protocol',
  'internal_error',
  'backend_refused',
  'login_unbound',
  'login_unchecked',
  'login_malformed',
  'password_unencrypted',
  'binding_failed',
  'server_unproven',
];

test('G9: the list has every reason to refuse', () => {
  const refusals = Object.entries(CLOSE_REASONS).filter(
    ([, { phase, told }]) => phase !== 'relayed' && told !== 'never',
  );
  const cases = [...Object.keys(CASES), ...ELSEWHERE];
  expect(cases.toSorted()).toEqual(refusals.map(([reason]) => reason).toSorted());
});

describe('each reason', () => {
  afterEach(async () => {
    lab.proxy.close();
    await until('no timer left', () => clock.pending() === 0);
  });

  test.each(Object.entries(CASES))('G9: %s: one whole error, then the end', async (reason, { options, provoke }) => {
    clock = new ManualClock();
    lab = await startProxyLab({ ...options, clock });
    const client = await connectRaw(lab.address('write'));
    await until('the accept', () => lab.events.some(({ kind }) => kind === 'client_accepted'));
    await provoke(client);
    const fields = await until('the error', () => errorFields(client.received()));
    const facts = Object.entries(CLOSE_REASONS).find(([known]) => known === reason)?.[1];
    expect(fields).toMatchObject({
      S: 'FATAL',
      V: 'FATAL',
      // A session in its startup gets the code that PostgreSQL uses.
      C: reason === 'shutdown' ? '57P03' : facts?.sqlState,
      M: expect.stringContaining(`(${reason})`),
    });
    await until('the end', () => client.hasEnded);
    const bytes = client.received();
    expect(bytes.length, 'nothing but that message').toBe(1 + bytes.readInt32BE(1));
    client.socket.end();
    await until('the close', () => lab.reasons().length === 1);
    expect(lab.reasons()).toEqual([reason]);
  });
});
