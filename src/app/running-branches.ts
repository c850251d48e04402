// The branches of a running Pointsman. Their code is loaded where they are configured, and nowhere else.
import type { BranchDirectory } from '../branches/directory.ts';
import type { BranchesPolicy, BranchListEvent, BranchLookup, LocateBranch } from '../model/branch.ts';
import type { Clock } from '../model/instant.ts';
import type { PoolName, PoolPolicy, RoutingPolicy } from '../model/policy.ts';
import type { DirectoryView as ShownDirectory } from './branch-report.ts';
import { findPool } from '../model/pool-names.ts';

export interface RunningBranchesOptions {
  /** The pools in effect, and where the directory in use is shown. */
  readonly running: { readonly config: Pick<RoutingPolicy, 'pools'>; branches?: ShownDirectory | undefined };
  readonly clock: Clock;
  readonly onEvent: (event: BranchListEvent) => void;
}

export interface RunningBranches {
  readonly locate: LocateBranch;
  /** Loads the code that the policy needs. The reason if that fails: nothing has changed then. */
  prepare(policy: BranchesPolicy | undefined): Promise<string | undefined>;
  /** Follows the policy from now on. Its code has been loaded. Undefined: there are no branches any more. */
  apply(policy: BranchesPolicy | undefined): void;
  /** Clients that wait for the list are refused. */
  stop(): void;
}

const NOT_CONFIGURED: BranchLookup = { kind: 'unavailable', why: 'no branches are configured' };

export function createRunningBranches({ running, clock, onEvent }: RunningBranchesOptions): RunningBranches {
  let code: Awaited<ReturnType<typeof load>> | undefined;
  let directory: BranchDirectory | undefined;
  const create = (policy: BranchesPolicy): BranchDirectory => {
    if (code === undefined) throw new Error('the code of branches is not loaded');
    return new code.BranchDirectory(policy, {
      clock,
      random: Math.random,
      fetchList: code.readBranchList,
      poolOf: (target) => findPool(target, running.config.pools.map(nameOf)),
      onEvent,
    });
  };
  const stop = (): void => {
    directory?.stop();
    directory = undefined;
    running.branches = undefined;
  };
  return {
    locate: (target, access) => directory?.locate(target, access) ?? NOT_CONFIGURED,
    async prepare(policy) {
      try {
        if (policy !== undefined) code ??= await load();
        return undefined;
      } catch (error) {
        // After an upgrade in place the files of this version are gone.
        return `branches: their code cannot be loaded (${String(error)}): a restart is needed`;
      }
    },
    apply(policy) {
      if (policy === undefined) return stop();
      if (directory !== undefined) return directory.reconfigure(policy);
      directory = create(policy);
      running.branches = directory;
      return directory.start();
    },
    stop,
  };
}

async function load() {
  const [{ BranchDirectory }, { readBranchList }] = await Promise.all([
    import('../branches/directory.ts'),
    import('../branches/list-branches.ts'),
  ]);
  return { BranchDirectory, readBranchList };
}

function nameOf({ name }: PoolPolicy): PoolName {
  return name;
}
