// The beta values of the platform. Source: the model platform API, "Versioning".
export const BETAS = {
  skills: 'skills-2025-10-02',
  codeExecution: 'code-execution-2025-08-25',
  files: 'files-api-2025-04-14',
  olderComputer: 'computer-20251124-api',
  agents: 'managed-agents-2026-04-01',
} as const;
export type Beta = (typeof BETAS)[keyof typeof BETAS];

/** The header for these values, each of them once. None: no header. */
export function betaHeaders(name: string, betas: readonly Beta[]): Readonly<Record<string, string>> {
  return betas.length === 0 ? {} : { [name]: [...new Set(betas)].join(',') };
}
