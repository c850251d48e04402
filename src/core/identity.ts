// Whether an answer comes from the member that was asked: by its name, its scope and its system identifier.
import type { MemberStatus } from '../model/member-status.ts';
import { shown } from '../model/printable.ts';
import type { IdentityMismatch, MemberRecord, Snapshot } from './snapshot.ts';

interface IdentityDifference {
  readonly expected: string;
  readonly reported: string;
}

/** Both are printable. Undefined: they are the same, or one of them is not known. */
export function difference(pinned: string | undefined, reported: string | undefined): IdentityDifference | undefined {
  if (pinned === undefined || reported === undefined || pinned === reported) return undefined;
  return { expected: shown(pinned), reported: shown(reported) };
}

export function mismatchOf(
  snapshot: Snapshot,
  record: MemberRecord,
  body: MemberStatus | undefined,
): Omit<IdentityMismatch, 'at'> | undefined {
  if (body === undefined) return undefined;
  const scope = difference(snapshot.scope, body.scope);
  const name = difference(record.member.name, body.name);
  const system = difference(snapshot.systemIdentifier, body.systemIdentifier);
  const isOtherSystem = system !== undefined;
  if (scope !== undefined) return { detail: `scope ${scope.reported}, expected ${scope.expected}`, isOtherSystem };
  if (name !== undefined) return { detail: `it is the member ${name.reported}`, isOtherSystem };
  if (isOtherSystem)
    return { detail: `system identifier ${system.reported}, expected ${system.expected}`, isOtherSystem };
  const hidesIdentity = record.hasShownIdentity && !showsIdentity(body);
  return hidesIdentity ? { detail: 'it no longer reports its identity', isOtherSystem } : undefined;
}

export function showsIdentity({ scope, name, systemIdentifier }: MemberStatus): boolean {
  return scope !== undefined || name !== undefined || systemIdentifier !== undefined;
}
