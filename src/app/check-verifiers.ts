// Whether the source of verifiers answers, and has those of the roles that the configuration names: for
// `pointsman check --live`, and for the plan of a switchover.
import { durationText } from '../core/describe.ts';
import type { TriedRole, UnreadVerifiers, VerifiersReport } from '../cli/live-check.ts';
import type { Config } from '../config/config.ts';
import { readKeyPair } from '../config/files/key-pair.ts';
import { readPem } from '../config/files/pem.ts';
import type { Clock } from '../model/instant.ts';
import { addressText, type Address } from '../model/member.ts';
import type { VerifierLookup, VerifierPolicy } from '../model/moves.ts';
import { dialTcp } from '../proxy/connect/dial.ts';
import { memberConnect, memberDial, type MemberServer } from '../proxy/connect/tls/member-dial.ts';
import { verifierOpener } from '../verifiers/batch.ts';

type Settings = Pick<Config, 'moves' | 'backend'>;

/** `primary`: undefined when there is none now. Undefined: the configuration has no verifiers. Never rejects. */
export async function checkVerifiers(
  { moves, backend }: Settings,
  primary: MemberServer | undefined,
  clock: Clock,
): Promise<VerifiersReport | undefined> {
  const { roles = [], verifiers: policy, md5 = false } = moves ?? {};
  if (policy === undefined) return undefined;
  const from = sourceText(policy, primary?.address);
  if (from === undefined) return { kind: 'not_asked', why: 'there is no primary to ask for verifiers' };
  const files = { clock, readPem, readKeyPair, onEvent: () => {} };
  const dial = memberDial({ ...files, dial: dialTcp, memberTls: () => backend.tls });
  const server = primary ?? NOBODY;
  const batch = verifierOpener(clock)(policy, server.address, memberConnect(dial, clock)(server));
  try {
    const named = roles.filter((role) => !role.includes('*'));
    const tried: TriedRole[] = [];
    // Patterns alone: any name shows whether the source answers.
    for (const role of named.length === 0 ? [UNKNOWN_ROLE] : named) {
      const lookup = await batch.find(role);
      if (lookup.kind === 'failed') return { kind: 'failed', why: lookup.why };
      tried.push({ role, why: whyNot(lookup, md5) });
    }
    return { kind: 'read', from, roles: named.length === 0 ? [] : tried };
  } finally {
    batch.end();
  }
}

/** Members from which verifiers cannot be read: one lookup at each. A file needs none. Never rejects. */
export async function checkVerifiersOf(
  config: Settings,
  members: readonly MemberServer[],
  clock: Clock,
): Promise<readonly UnreadVerifiers[]> {
  const { moves } = config;
  if (moves?.verifiers?.kind !== 'query') return [];
  const one = { ...config, moves: { ...moves, roles: [UNKNOWN_ROLE] } };
  const reports = members.map(async (server) => ({ ...server, report: await checkVerifiers(one, server, clock) }));
  const read = await Promise.all(reports);
  return read.flatMap(({ member, report }) => (report?.kind === 'failed' ? [{ member, why: report.why }] : []));
}

/** Why sessions of `primary` could not log in again, one sentence each. Empty: they can. Never rejects. */
export async function verifierFaults(
  config: Settings,
  primary: MemberServer,
  clock: Clock,
): Promise<readonly string[]> {
  const report = await checkVerifiers(config, primary, clock);
  const { moves } = config;
  if (report?.kind === 'failed' && moves !== undefined) {
    const limit = `${durationText(moves.parkTimeoutMs)} (moves.park_timeout)`;
    const because = `because verifiers cannot be read: ${report.why}`;
    return [`sessions that log in with a password will wait for ${limit} and then end, ${because}`];
  }
  if (report?.kind !== 'read') return [];
  return report.roles.flatMap(({ role, why }) =>
    why === undefined ? [] : [`sessions of role ${role} that log in with a password will end: ${why}`],
  );
}

/** A file needs no server. */
const NOBODY: MemberServer = { member: '', address: { host: '127.0.0.1', port: 1 } };
const UNKNOWN_ROLE = 'pointsman';

function sourceText(policy: VerifierPolicy, primary: Address | undefined): string | undefined {
  if (policy.kind === 'file') return policy.file;
  return primary && `role "${policy.user}" on ${addressText(primary)}`;
}

function whyNot(lookup: Exclude<VerifierLookup, { kind: 'failed' }>, md5: boolean): string | undefined {
  if (lookup.kind === 'refused') return lookup.why;
  const isMd5 = Buffer.from('md5').equals(lookup.verifier.subarray(0, 3));
  return isMd5 && !md5 ? 'its stored secret is an md5 hash, and moves.md5 is false' : undefined;
}
