// The program’s side of the command line, for tests of commands. A part that a test does not give rejects.
import { branchCommands } from '../../../src/branching/commands/branch-commands.ts';
import type { BranchParts } from '../../../src/branching/commands/branch-context.ts';
import type { CliParts } from '../../../src/cli/parts.ts';
import { platformCommands } from '../../../src/platform/platform-commands.ts';
import type { PlatformParts } from '../../../src/platform/platform-context.ts';

const unexpected = (): Promise<never> => Promise.reject(new Error('the command must not use this part'));

interface GivenParts extends Partial<CliParts> {
  readonly branches?: BranchParts;
  readonly platform?: PlatformParts;
}

export function cliParts(given: GivenParts = {}): CliParts {
  const { branches = { openSource: unexpected }, platform = { openPlatform: unexpected }, ...others } = given;
  return {
    runApp: unexpected,
    checkSeeds: unexpected,
    sandbox: { verbs: [], run: unexpected, ask: unexpected, sql: unexpected, config: unexpected },
    cluster: { openCluster: unexpected, now: () => new Date(), sleep: unexpected },
    others: () => Promise.resolve([branchCommands(branches), platformCommands(platform)]),
    version: '0',
    ...others,
  };
}
