// The parts of the process and of other rooms that the command line is given.
import type { CliCommand } from './cli-command.ts';
import type { ClusterParts } from './cluster/cluster-context.ts';
import type { CliIo, RunApp, SandboxParts } from './io.ts';
import type { CheckSeeds } from './live-check.ts';

/** Adds commands to the program. Their code is loaded when they are used. */
export type DescribeCommands = (program: CliCommand, io: CliIo) => void;

export interface CliParts {
  readonly runApp: RunApp;
  readonly checkSeeds: CheckSeeds;
  readonly sandbox: SandboxParts;
  readonly cluster: ClusterParts;
  /** The commands of rooms that this one does not know. */
  readonly others: () => Promise<readonly DescribeCommands[]>;
  /** The program's version, without a leading v. */
  readonly version: string;
}
