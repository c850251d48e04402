// Whether the source of verifiers answers, and has those of the roles that the configuration names: for
// `pointsman check --live`, and for the plan of a switchover.
import { durationText } from '../core/describe.ts';
import type { TriedRole, VerifiersReport } from '../cli/live-check.ts';
import type { Clock } from '../model/instant.ts';
import { addressText, type Address } from '../model/member.ts';
import type { MovesPolicy, VerifierLookup, VerifierPolicy } from '../model/moves.ts';
import { verifierOpener } from '../verifiers/batch.ts';

/** `primary`: undefined when there is none now. Undefined: the configuration has no verifiers. Never rejects. */
export async function checkVerifiers(
  { roles, verifiers: policy, md5 }: MovesPolicy,
  primary: Address | undefined,
  clock: Clock,
): Promise<VerifiersReport | undefined> {
  if (policy === undefined) return undefined;
  const from = sourceText(policy, primary);
  if (from === undefined) return { kind: 'not_asked', why: 'there is no primary to ask for verifiers' };
  const batch = verifierOpener(clock)(policy, primary ?? NOBODY);
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

/** Why sessions of `primary` could not log in again, one sentence each. Empty: they can. Never rejects. */
export async function verifierFaults(moves: MovesPolicy, primary: Address, clock: Clock): Promise<readonly string[]> {
  const report = await checkVerifiers(moves, primary, clock);
  if (report?.kind === 'failed') {
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
const NOBODY: Address = { host: '127.0.0.1', port: 1 };
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
