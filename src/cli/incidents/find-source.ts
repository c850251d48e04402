// Where the commands find incidents: a running Pointsman, or the files in a directory.
import { load } from '../configuration.ts';
import { fail } from '../command-end.ts';
import type { CliIo } from '../io.ts';
import { ELSEWHERE, findRunning } from '../running.ts';
import { fromDirectory } from './from-directory.ts';
import { fromRunning } from './from-running.ts';
import type { IncidentsOptions, IncidentSource } from './source.ts';

export async function sourceOf(options: IncidentsOptions, io: CliIo): Promise<IncidentSource> {
  if (options.directory !== undefined) return fromDirectory(options.directory, io);
  const running = findRunning(options, io);
  const reached = await fromRunning(running, io);
  if (!('silent' in reached)) return reached;
  const directory = configuredDirectory(options, io);
  if (directory === undefined) {
    const remedy = '--directory DIRECTORY reads the files of a Pointsman that does not run.';
    return fail(io, `${reached.silent} ${ELSEWHERE} ${remedy}`);
  }
  io.stderr(`pointsman: ${reached.silent} These are the files in ${directory} (incidents.directory).\n`);
  return fromDirectory(directory, io);
}

/** Undefined with --admin: another address may be another Pointsman, with another directory. */
function configuredDirectory({ admin, config }: IncidentsOptions, io: CliIo): string | undefined {
  if (admin !== undefined) return undefined;
  const loaded = load({ config }, io);
  return loaded.kind === 'ok' ? loaded.config.incidents.directory : undefined;
}
