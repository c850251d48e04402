// Where the commands find incidents: a running Pointsman.
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { ELSEWHERE, findRunning } from '../running.ts';
import { fromRunning } from './from-running.ts';
import type { IncidentsOptions, Source } from './source.ts';

export async function sourceOf(options: IncidentsOptions, io: CliIo): Promise<Source | number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const reached = await fromRunning(running, io);
  if (typeof reached === 'number' || !('silent' in reached)) return reached;
  io.stderr(`pointsman: ${reached.silent} ${ELSEWHERE}\n`);
  return EXIT.failure;
}
