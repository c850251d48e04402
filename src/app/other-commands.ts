// The commands of rooms that the room of the command line does not know.
import { branchCommands } from '../branching/commands/branch-commands.ts';
import type { DescribeCommands } from '../cli/parts.ts';
import type { Clock } from '../model/instant.ts';
import { platformCommands } from '../platform/platform-commands.ts';

export function otherCommands(clock: Clock): readonly DescribeCommands[] {
  return [
    branchCommands({
      openSource: async (source) => {
        const { createBranchControl } = await import('../branching/control-branches.ts');
        return createBranchControl(source, { clock, random: Math.random });
      },
    }),
    platformCommands({
      openPlatform: async (policy) => {
        const { createPlatformClient } = await import('../platform/client/client.ts');
        return createPlatformClient({ policy, clock, random: Math.random });
      },
    }),
  ];
}
