// Whether the source of verifiers answers, and has those of the roles that the configuration names: for
// `pointsman check --live`, and for the plan of a switchover.
import { durationText } from '../core/describe.ts';
import type { TriedRole, UnreadVerifiers, VerifiersReport } from '../cli/live-check.ts';
import type { Config } from '../config/config.ts';
import { readKeyPair } from '../config/files/key-pair.ts';
import { readPem } from '../config/files/pem.ts';
import type { Clock } from '../model/instant.ts';
import { addressText, type Address, type MemberName } from '../model/member.ts';
import type { MovesPolicy, VerifierLookup, VerifierPolicy } from '../model/moves.ts';
import { dialTcp } from '../proxy/connect/dial.ts';
import { memberConnect, memberDial, type MemberServer } from '../proxy/connect/tls/member-dial.ts';
import { verifierOpener } from '../verifiers/batch.ts';

/** The roles that need verifiers, and where these are read. */
type RoleLookup = Pick<MovesPolicy, 'roles' | 'verifiers' | 'md5'>;
type Settings = Pick<Config, 'backend'> & { readonly moves?: RoleLookup | undefined };

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

/**
 * Members from which verifiers cannot be read, by one lookup for each use. Sessions move to another member than
 * `primary`, and log in at each. A file needs no member. Never rejects.
 */
export async function unreadVerifiers(
  { backend, moves, logins }: Pick<Config, 'backend' | 'moves' | 'logins'>,
  members: readonly MemberServer[],
  primary: MemberName | undefined,
  clock: Clock,
): Promise<readonly UnreadVerifiers[]> {
  const check = async (server: MemberServer): Promise<readonly UnreadVerifiers[]> => {
    const { member } = server;
    const unread: UnreadVerifiers[] = [];
    for (const [consequence, verifiers] of [
      ['no session with a password can move to', member === primary ? undefined : moves?.verifiers],
      ['no login can bind to a certificate at', logins?.verifiers],
    ] as const) {
      if (verifiers?.kind !== 'query') continue;
      const report = await checkVerifiers({ backend, moves: { roles: [], verifiers, md5: true } }, server, clock);
      if (report?.kind === 'failed') unread.push({ member, consequence, why: report.why });
    }
    return unread;
  };
  return (await Promise.all(members.map(check))).flat();
}

/** Why sessions of `primary` could not log in again, one sentence each. Empty: they can. Never rejects. */
export async function verifierFaults(
  config: Pick<Config, 'backend' | 'moves'>,
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
