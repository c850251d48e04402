// The operations of Patroni's REST API that the harness uses: switchover, dynamic configuration, reload.
import { isDeepStrictEqual } from 'node:util';
import type { Etcd } from './etcd.ts';
import type { HttpAnswer } from './http.ts';
import type { AskedMember } from './member.ts';
import { isRecord, parseJson, type Tags } from './documents.ts';
import { waitUntil } from '../waiting/wait.ts';

type Explain = () => Promise<string>;

/**
 * Returns when the leader has accepted, which its answer does not tell: that comes when all is over. The
 * request lies in etcd in between; afterwards the key stays, as an empty document.
 */
export async function requestSwitchover(
  leader: AskedMember,
  candidate: string | undefined,
  etcd: Etcd,
  scope: string,
  explain: Explain,
): Promise<{ refusal(): string | undefined }> {
  const key = `/service/${scope}/failover`;
  const before = await etcd.read(key);
  let answer: HttpAnswer | undefined;
  const post = async () => {
    const body = { leader: leader.name, candidate };
    answer = await leader.ask('/switchover', { method: 'POST', body, timeoutMs: 30_000 });
  };
  void post();
  const isAccepted = async () => {
    if (answer !== undefined) return true;
    const now = await etcd.read(key);
    return now !== undefined && now.revision !== before?.revision && now.value.includes('"leader"');
  };
  await waitUntil('switchover accepted', isAccepted, { timeoutMs: 10_000, everyMs: 10, explain });
  const refusal = () => {
    if (answer === undefined || answer.status === 200) return undefined;
    return `switchover refused by ${leader.name}: ${answer.status} ${answer.text}`;
  };
  const refused = refusal();
  if (refused !== undefined) throw new Error(`${refused}\n${await explain()}`);
  return { refusal };
}

/** Returns when the member's PostgreSQL runs again. */
export async function restartPostgres(member: AskedMember, explain: Explain): Promise<void> {
  const answer = await member.ask('/restart', { method: 'POST', body: {}, timeoutMs: 30_000 });
  if (answer?.status === 200) return;
  throw new Error(`restart of ${member.name}: ${answer?.status} ${answer?.text ?? 'no answer'}\n${await explain()}`);
}

export async function patchConfig(
  members: readonly AskedMember[],
  patch: Readonly<Record<string, unknown>>,
  explain: Explain,
): Promise<void> {
  const attempt = async () => {
    for (const member of members) {
      const answer = await member.ask('/config', { method: 'PATCH', body: patch, timeoutMs: 5000 });
      if (answer?.status === 200) return containsPatch(parseJson(answer), patch);
      if (answer !== undefined) throw new Error(`${member.name}: ${answer.status} ${answer.text}`);
    }
    return false;
  };
  await waitUntil('configuration patched', attempt, { timeoutMs: 10_000, everyMs: 200, explain });
}

export async function waitForTags(member: AskedMember, tags: Tags, explain: Explain): Promise<void> {
  const answer = await member.ask('/reload', { method: 'POST' });
  if (answer === undefined || answer.status >= 300) {
    throw new Error(`${member.name} did not reload: ${answer?.text ?? 'no answer'}\n${await explain()}`);
  }
  const shown = visibleTags(tags);
  const showsThem = async () => isDeepStrictEqual((await member.status())?.tags ?? {}, shown);
  await waitUntil(`tags of ${member.name} are ${JSON.stringify(shown)}`, showsThem, { timeoutMs: 15_000, explain });
}

/** Patroni hides its own tags when they are not set. */
function visibleTags(tags: Tags): Tags {
  const hidden = ['clonefrom', 'nofailover', 'noloadbalance', 'nosync'];
  return Object.fromEntries(Object.entries(tags).filter(([tag, value]) => !hidden.includes(tag) || Boolean(value)));
}

function containsPatch(config: unknown, patch: unknown): boolean {
  if (!isRecord(patch)) return isDeepStrictEqual(config, patch);
  return Object.entries(patch).every(([key, value]) => {
    const present = isRecord(config) ? config[key] : undefined;
    return value === null ? present === undefined : containsPatch(present, value);
  });
}
