// One question for the WAL position of each member for `check --live`, with the login of `questions`.
import type { PositionsReport } from '../cli/positions-report.ts';
import type { Config } from '../config/config.ts';
import { readKeyPair } from '../config/files/key-pair.ts';
import { readPem } from '../config/files/pem.ts';
import type { Clock } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { openPositions } from '../positions/positions.ts';
import { dialTcp } from '../proxy/connect/dial.ts';
import { memberDial, type MemberServer } from '../proxy/connect/tls/member-dial.ts';
import { positionsBy } from '../proxy/login/own-logins.ts';

/** `primary`: undefined when there is none now. Undefined: no server would be asked. Never rejects. */
export async function checkPositions(
  { backend, questions }: Pick<Config, 'backend' | 'questions'>,
  members: readonly (MemberServer & { readonly timeline: number | undefined })[],
  primary: MemberName | undefined,
  clock: Clock,
): Promise<readonly PositionsReport[] | undefined> {
  if (questions === undefined) return undefined;
  const parts = { clock, readPem, readKeyPair, openPositions, onEvent: () => {} };
  const dial = memberDial({ ...parts, dial: dialTcp, memberTls: () => backend.tls });
  const positions = positionsBy(parts, dial, () => ({ questions }));
  const ask = async ({ member, address, timeline }: (typeof members)[number]): Promise<PositionsReport> => {
    const isPrimary = member === primary;
    const server = { member, address };
    const word = await (isPrimary ? positions.askPrimary(server) : positions.askReplica(server));
    const unreported = timeline === undefined ? 'its management API does not report its timeline' : undefined;
    return { member, isPrimary, why: 'why' in word ? word.why : unreported };
  };
  try {
    return await Promise.all(members.map(ask));
  } finally {
    positions.end();
  }
}
