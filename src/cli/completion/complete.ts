// One completion: the candidates as the scripts read them.
import type { Command } from 'commander';
import { branchesDocument } from '../../documents/branches-document.ts';
import { incidentList } from '../../documents/incident-list.ts';
import { looseReader } from '../../documents/loose-reader.ts';
import type { CliIo } from '../io.ts';
import { tryRequest } from '../admin-request.ts';
import { CommandEnd, unlessEnded } from '../command-end.ts';
import { findRunning } from '../running.ts';
import { statusReader, type Status } from '../status/read-status.ts';
import { candidatesFor, joined } from './next-words.ts';

const incidentIds = looseReader(incidentList, { needed: ['incidents id'] });
const branchNames = looseReader(branchesDocument, { needed: ['branches name'] });

/** Somebody waits at the prompt. */
const DEADLINE_MS = 700;

/** A candidate a line, with its description behind a tab; `:files` for a path. */
export async function complete(program: Command, words: readonly string[], io: CliIo): Promise<string> {
  const read = async (): Promise<Status | undefined> =>
    statusReader.safeParse(await readQuietly(words, '/status', io)).data;
  const incidents = async (): Promise<readonly string[]> =>
    incidentIds.safeParse(await readQuietly(words, '/incidents', io)).data?.incidents.map(({ id }) => id) ?? [];
  const branches = async (): Promise<readonly string[]> =>
    branchNames.safeParse(await readQuietly(words, '/branches', io)).data?.branches.map(({ name }) => name) ?? [];
  const candidates = await candidatesFor(program, words, {
    pools: async () => (await read())?.pools.map(({ name }) => name) ?? [],
    members: async () => (await read())?.members.map(({ name }) => name) ?? [],
    incidents: async () => ['latest', ...(await incidents())],
    branches,
  });
  if (candidates === 'files') return ':files\n';
  return candidates.map(({ value, description }) => `${value}\t${description}\n`).join('');
}

/** A document of the Pointsman that the command would talk to; undefined if there is none. */
async function readQuietly(words: readonly string[], path: string, io: CliIo): Promise<unknown> {
  const whole = joined(words);
  const options = { config: valueOf(whole, ['-c', '--config']), admin: valueOf(whole, ['--admin']) };
  const running = await unlessEnded(() => findRunning(options, { ...io, stderr: () => {} }));
  if (running instanceof CommandEnd) return undefined;
  const answer = await tryRequest(running, { method: 'GET', path, deadlineMs: DEADLINE_MS });
  return answer.kind === 'failed' ? undefined : answer.body;
}

function valueOf(words: readonly string[], flags: readonly string[]): string | undefined {
  for (const flag of flags) {
    const at = words.lastIndexOf(flag);
    if (at !== -1) return words[at + 1];
    const assigned = words.find((word) => word.startsWith(`${flag}=`));
    if (assigned !== undefined) return assigned.slice(flag.length + 1);
  }
  return undefined;
}
