// The operations that a running Pointsman carries out now, from GET /operations.
import { looseReader } from '../../documents/loose-reader.ts';
import { operationList } from '../../documents/switchover-document.ts';
import type { z } from 'zod';
import { durationText } from '../../core/describe.ts';
import { shown } from '../../model/printable.ts';
import { tryDocument } from '../admin-request.ts';
import type { Running } from '../running.ts';

export const operationsReader = looseReader(operationList, { needed: ['operations id kind state phase duration_ms'] });

export type OperationStatus = z.infer<typeof operationsReader>['operations'][number];

/** Empty if there is none, or if this version of Pointsman has none. */
export async function runningOperations(running: Running): Promise<readonly OperationStatus[]> {
  const list = await tryDocument(running, '/operations', operationsReader);
  return list?.operations.filter(({ state }) => state === 'running') ?? [];
}

/** `from pg-1 to pg-2, phase drain, for 3.2 s (op-1)` */
export function operationText({ id, phase, duration_ms: ms, from, to }: OperationStatus): string {
  const between = [from === null ? '' : `from ${shown(from)}`, to === null ? '' : `to ${shown(to)}`];
  const what = [between.filter(Boolean).join(' '), `phase ${shown(phase)}`, `for ${durationText(ms)}`];
  return `${what.filter(Boolean).join(', ')} (${shown(id)})`;
}
