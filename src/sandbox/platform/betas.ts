// The beta values of a request. Source: the model platform's API, "Versioning". The contract leaves the first part of
// the header's name open, so the sandbox has a name of its own.
import type { LabRequest } from '../http-server.ts';
import { PlatformRefusal } from './refused.ts';

export const BETA_HEADER = 'sandbox-beta';

export const BETA = {
  skills: 'skills-2025-10-02',
  codeExecution: 'code-execution-2025-08-25',
  files: 'files-api-2025-04-14',
  computer: 'computer-20251124-api',
  agents: 'managed-agents-2026-04-01',
} as const;

const KNOWN: readonly string[] = Object.values(BETA);

/** A value that the contract does not name is refused, so that a mistyped one shows. */
export function betasOf({ headers }: LabRequest): ReadonlySet<string> {
  const values = [headers[BETA_HEADER] ?? []].flat().flatMap((line) => line.split(','));
  const given = values.map((value) => value.trim()).filter((value) => value !== '');
  const unknown = given.find((value) => !KNOWN.includes(value));
  if (unknown !== undefined)
    throw new PlatformRefusal(400, `${BETA_HEADER}: there is no beta value ${unknown}, only ${KNOWN.join(', ')}`);
  return new Set(given);
}

export function requireBeta(betas: ReadonlySet<string>, value: string, why: string): void {
  if (!betas.has(value)) throw new PlatformRefusal(400, `${why} needs the value ${value} in the header ${BETA_HEADER}`);
}
