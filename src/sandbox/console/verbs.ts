// Carries out a verb on the sandbox and reports it in one line.
import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox, SandboxMember } from '../sandbox.ts';
import { VERBS, type VerbName, type VerbOutcome } from './verb-list.ts';
import { connectionUrl } from './connection-url.ts';
import { runStatement } from './statement.ts';
import { exchange } from '../../http/exchange.ts';

/** More than the default lag limit of a read pool (16 MB). */
const LAG_MEGABYTES = 32;
/** Less than the default timeout of a probe (800 ms): the member stays in use. */
const SLOW_MS = 500;
const REJOIN_WITHIN_MS = 30_000;
const POLL_MS = 50;

/** `target` is `primary`, `replica` or a member's name. Never rejects. */
export async function perform(sandbox: Sandbox, verb: VerbName, target: string | undefined): Promise<VerbOutcome> {
  try {
    if (verb === 'heal') return await heal(sandbox, target);
    if (verb === 'switchover') return await switchover(sandbox, target);
    const member = resolve(sandbox, target ?? usualTarget(verb));
    if ('kind' in member) return member;
    return { kind: 'done', text: await inflict(sandbox, verb, member) };
  } catch (error) {
    return { kind: 'failed', text: `${verb}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function inflict(
  sandbox: Sandbox,
  verb: Exclude<VerbName, 'heal' | 'switchover'>,
  member: SandboxMember,
): Promise<string> {
  const { name } = member;
  switch (verb) {
    case 'kill':
      await sandbox.kill(name);
      return `${name} is dead: its manager and its PostgreSQL refuse connections`;
    case 'crash':
      await sandbox.crashPostgres(name);
      return `the PostgreSQL of ${name} has crashed; its manager runs`;
    case 'freeze':
      await sandbox.freezeManager(name);
      return `the manager of ${name} is frozen: its API accepts connections and never answers; its PostgreSQL goes on`;
    case 'partition':
      await sandbox.partition(name);
      return `${name} is cut off from the other members and the store; Pointsman and clients still reach it`;
    case 'slow':
      await sandbox.slow(name, SLOW_MS);
      return `${name}: its API answers ${SLOW_MS} ms later, and as a replica it applies WAL ${SLOW_MS} ms later`;
    case 'lag': {
      const leader = sandbox.leader();
      if (leader?.name === name) throw new Error(`${name} is the primary: only a replica can lag`);
      if (leader === undefined) throw new Error('there is no primary to lag behind');
      await sandbox.pauseReplay(name);
      await writeWal(leader, sandbox, LAG_MEGABYTES);
      return `${name} has stopped replaying WAL and lags by ${LAG_MEGABYTES} MB`;
    }
  }
}

async function heal(sandbox: Sandbox, target: string | undefined): Promise<VerbOutcome> {
  const member = target === undefined ? undefined : resolve(sandbox, target);
  if (member !== undefined && 'kind' in member) return member;
  await sandbox.heal(member?.name);
  const who = member?.name ?? 'every member';
  if (await becomesHealthy(sandbox))
    return { kind: 'done', text: `${who} is healed; all replicas stream from the primary` };
  return { kind: 'done', text: `${who} is healed, but the cluster is not healthy yet` };
}

/** A returning member may need a new base backup. */
async function becomesHealthy(sandbox: Sandbox): Promise<boolean> {
  const endsAt = performance.now() + REJOIN_WITHIN_MS;
  while (!(await sandbox.isHealthy())) {
    if (performance.now() > endsAt) return false;
    await delay(POLL_MS);
  }
  return true;
}

async function switchover(sandbox: Sandbox, target: string | undefined): Promise<VerbOutcome> {
  const leader = sandbox.leader();
  if (leader === undefined) return { kind: 'refused', text: 'there is no primary to switch over from' };
  const candidate = target === undefined || target === 'replica' ? undefined : resolve(sandbox, target);
  if (candidate !== undefined && 'kind' in candidate) return candidate;
  return requestSwitchover(leader, candidate?.name);
}

function usualTarget(name: VerbName): string {
  return VERBS.find((verb) => verb.name === name)?.target ?? 'primary';
}

function resolve(sandbox: Sandbox, target: string): SandboxMember | VerbOutcome {
  const { members } = sandbox;
  const leader = sandbox.leader();
  if (target === 'primary') return leader ?? { kind: 'refused', text: 'there is no primary at the moment' };
  const faulty = sandbox.faulty();
  if (target === 'replica') {
    const replica = members.find(({ name }) => name !== leader?.name && !faulty.includes(name));
    return replica ?? { kind: 'refused', text: 'no healthy replica is left: heal one first (h)' };
  }
  const named = members.find(({ name }) => name === target);
  if (named !== undefined) return named;
  const names = members.map(({ name }) => name).join(', ');
  return { kind: 'unknown', text: `there is no member ${target}: primary, replica or one of ${names}` };
}

async function writeWal(primary: SandboxMember, { superuser, tls }: Sandbox, megabytes: number): Promise<void> {
  const { host, port } = primary;
  const url = connectionUrl({ ...superuser, database: 'postgres' }, `${host}:${port}`, tls);
  const message = `pg_logical_emit_message(false, 'pointsman sandbox', repeat('x', 1024 * 1024))`;
  await runStatement(url, `select count(${message}) from generate_series(1, ${megabytes})`);
}

const DEADLINE_MS = 30_000;

/**
 * As an operator would: POST /switchover of the primary's management API. Resolves when the new primary accepts writes,
 * or with the manager's own reason.
 */
async function requestSwitchover(leader: SandboxMember, candidate: string | undefined): Promise<VerbOutcome> {
  const { status, body } = await exchange({
    url: leader.api,
    method: 'POST',
    path: '/switchover',
    json: { leader: leader.name, ...(candidate === undefined ? {} : { candidate }) },
    deadlineMs: DEADLINE_MS,
  });
  const text = body.trim();
  if (status === 200) return { kind: 'done', text };
  return { kind: status === 412 ? 'refused' : 'failed', text: `switchover: ${text}` };
}
