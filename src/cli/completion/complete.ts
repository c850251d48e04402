// One completion: the candidates as the scripts read them.
import type { Command } from 'commander';
import type { z } from 'zod';
import { branchesDocument } from '../../documents/branches-document.ts';
import { incidentList } from '../../documents/incident-list.ts';
import { looseReader } from '../../documents/loose-reader.ts';
import type { CliIo } from '../io.ts';
import { tryDocument } from '../admin-request.ts';
import { runningIfKnown } from '../running.ts';
import { statusReader } from '../status/read-status.ts';
import { candidatesFor, joined, type CompletionNames } from './next-words.ts';

const incidentIds = looseReader(incidentList, { needed: ['incidents id'] });
const branchNames = looseReader(branchesDocument, { needed: ['branches name'] });

/** Somebody waits at the prompt. */
const DEADLINE_MS = 700;

/** A candidate a line, with its description behind a tab; `:files` for a path. */
export async function complete(program: Command, words: readonly string[], io: CliIo): Promise<string> {
  const whole = joined(words);
  const options = { config: valueOf(whole, ['-c', '--config']), admin: valueOf(whole, ['--admin']) };
  const read = async <Document>(path: string, reader: z.ZodType<Document>): Promise<Document | undefined> => {
    const running = await runningIfKnown(options, io);
    return running && (await tryDocument(running, path, reader, DEADLINE_MS));
  };
  const names: CompletionNames = new Map([
    ['pool', async () => (await read('/status', statusReader))?.pools.map(({ name }) => name)],
    ['member', async () => (await read('/status', statusReader))?.members.map(({ name }) => name)],
    ['branch', async () => (await read('/branches', branchNames))?.branches.map(({ name }) => name)],
    [
      'incident',
      async () => ['latest', ...((await read('/incidents', incidentIds))?.incidents.map(({ id }) => id) ?? [])],
    ],
  ]);
  const candidates = await candidatesFor(program, words, names);
  if (candidates === 'files') return ':files\n';
  return candidates.map(({ value, description }) => `${value}\t${description}\n`).join('');
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
