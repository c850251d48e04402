// The program’s side of the command line, for tests of commands. A part that a test does not give rejects.
import type { CliParts } from '../../../src/cli/program.ts';

const unexpected = (): Promise<never> => Promise.reject(new Error('the command must not use this part'));

export function cliParts(given: Partial<CliParts> = {}): CliParts {
  return {
    runApp: unexpected,
    checkSeeds: unexpected,
    sandbox: { verbs: [], run: unexpected, ask: unexpected, sql: unexpected, config: unexpected },
    cluster: { openCluster: unexpected, now: () => new Date(), sleep: unexpected },
    branches: { openSource: unexpected },
    platform: { openPlatform: unexpected },
    version: '0',
    ...given,
  };
}
