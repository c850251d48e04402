// Scenario 29 with answers of real members of two versions: readers of every kind, each pool with its own.
import { describe, expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { parseNodeStatus } from '../../support/patroni/parse.ts';
import { aList, answered, aPolicy, aPool, aSnapshot, aWritePool, openIn } from '../../support/values/builders.ts';
import { bodyText, readCapture } from '../../support/values/captures.ts';
import type { Capture } from '../../support/values/captures.ts';

/** The flags of a body that decide Patroni's answers. */
interface Flags {
  readonly role: MemberStatus['role'];
  readonly isSync: boolean;
  readonly isQuorum: boolean;
}

/** The members with a yes from Patroni. */
const CHECKS: Readonly<Record<string, (flags: Flags) => boolean>> = {
  '/primary': ({ role }) => role === 'primary',
  '/replica': ({ role }) => role === 'replica',
  '/synchronous': ({ isSync }) => isSync,
  '/quorum': ({ isQuorum }) => isQuorum,
  '/asynchronous': ({ role, isSync, isQuorum }) => role === 'replica' && !isSync && !isQuorum,
};

function flagsOf(text: string, { role }: MemberStatus): Flags {
  const body: { sync_standby?: boolean; quorum_standby?: boolean } = JSON.parse(text);
  return { role, isSync: body.sync_standby === true, isQuorum: body.quorum_standby === true };
}

function statusOf(capture: Capture, node: string): MemberStatus {
  const parsed = parseNodeStatus(bodyText(capture, node, '/patroni'));
  if (parsed.kind === 'invalid') throw new Error(parsed.why);
  return parsed.status;
}

/** The open members of each pool after every check of every member. */
function openMembers(version: Capture['patroni'], state: string) {
  const capture = readCapture(version, state);
  const names = ['n1', 'n2', 'n3'];
  const pools = Object.keys(CHECKS).map((check) =>
    check === '/primary' ? aWritePool({ name: check }) : aPool({ name: check, check }),
  );
  const policy = aPolicy({ pools });
  const answers = names.flatMap((member): readonly Observation[] => {
    const body = statusOf(capture, member);
    const flags = flagsOf(bodyText(capture, member, '/patroni'), body);
    return Object.entries(CHECKS).map(([check, isYes], index) =>
      answered({ member, check, at: 10 + index, status: isYes(flags) ? 200 : 503, body }),
    );
  });
  const table = decideRoutes(policy, aSnapshot(policy, aList(0, ...names), ...answers), 100);
  return Object.fromEntries(Object.keys(CHECKS).map((check) => [check, openIn(table, check)]));
}

describe('scenario 29: pools follow the synchronous set', () => {
  test.each(['3.0.2', '4.1.4'] as const)('%s with a synchronous standby', (version) => {
    expect(openMembers(version, 'sync-mode')).toEqual({
      '/primary': ['n2'],
      '/replica': ['n1', 'n3'],
      '/synchronous': ['n3'],
      '/quorum': [],
      '/asynchronous': ['n1'],
    });
  });

  test('4.1.4 with a quorum', () => {
    expect(openMembers('4.1.4', 'quorum-mode')).toEqual({
      '/primary': ['n2'],
      '/replica': ['n1', 'n3'],
      '/synchronous': [],
      '/quorum': ['n1', 'n3'],
      '/asynchronous': [],
    });
  });
});
