// One PostgreSQL of the sandbox with two Pointsmans before it: one that moves sessions, and one that does not. For all
// tests of a describe block.
import { afterAll, beforeAll } from 'vitest';
import type { SandboxCluster, SandboxClusterOptions } from '../clusters/sandbox-cluster.ts';
import type { ClusterWithPointsman } from '../clusters/cluster-with-pointsman.ts';
import type { SandboxLab } from '../clusters/describe-on-clusters.ts';
import type { Credentials } from '../patroni/settings.ts';
import { configFor } from '../processes/pointsman-config.ts';
import { type PointsmanProcess, startPointsman } from '../processes/pointsman-process.ts';
import { movesConfig, prepareDatabase } from './prepared-database.ts';
import type { ProgramTarget } from './programs.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { ADMIN_TOKEN } from '../values/canaries.ts';

export interface MovingLab {
  readonly cluster: SandboxCluster;
  /** With `moves:`. */
  readonly moving: PointsmanProcess;
  /** Without. */
  readonly plain: PointsmanProcess;
  /** For the files of the programs. */
  readonly directory: string;
  /** The write pool. Where it has TLS and moves, the application binds its logins. */
  target(pointsman: PointsmanProcess, as?: Partial<Credentials>): Promise<ProgramTarget>;
}

export interface MovingLabOptions {
  readonly cluster?: SandboxClusterOptions;
  /** Merged into the section `moves`. */
  readonly moves?: Readonly<Record<string, unknown>>;
  /** Other sections of the one that moves sessions. */
  readonly pointsman?: Readonly<Record<string, unknown>>;
}

/** With it sessions are parked while their member is drained. */
export const MOVES_WHEN_DRAINED = { pools: { write: { on_leave: { operator: 'move' } } } };

/** Call inside describe; the parts are there from the first test on. */
export function movingLab(
  on: SandboxLab,
  { cluster = {}, moves = {}, pointsman = {} }: MovingLabOptions = {},
): MovingLab {
  const directory = temporaryDirectory();
  let plain: PointsmanProcess | undefined;
  const lab: ClusterWithPointsman<SandboxCluster> = on.clusterWithPointsman({
    cluster: { members: 1, ...cluster },
    async pointsman(started) {
      await prepareDatabase(started);
      return { ...pointsman, ...movesConfig(started, directory.path, moves) };
    },
  });
  beforeAll(async () => {
    const admin = { address: '127.0.0.1:0', token: ADMIN_TOKEN };
    plain = await startPointsman(configFor(lab.cluster, { admin }));
    await Promise.all([plain.waitUntilReady(), lab.pointsman.waitUntilReady()]);
  });
  afterAll(async () => {
    await plain?.stop();
  });
  return {
    get cluster() {
      return lab.cluster;
    },
    get moving() {
      return lab.pointsman;
    },
    get plain() {
      if (plain === undefined) throw new Error('used before beforeAll');
      return plain;
    },
    get directory() {
      return directory.path;
    },
    async target(to, as = {}) {
      const isBound = to !== plain && as.user === undefined;
      return { port: await to.port('write'), as: { ...lab.cluster.app, ...as }, isBound };
    },
  };
}

/** A further Pointsman with `moves:` before the same server. Call inside describe, behind the lab. */
export function besideLab(
  lab: MovingLab,
  wanted: () => Promise<Omit<MovingLabOptions, 'cluster'>>,
): () => PointsmanProcess {
  let started: PointsmanProcess | undefined;
  beforeAll(async () => {
    const { moves, pointsman } = await wanted();
    started = await startPointsman(
      configFor(lab.cluster, { ...pointsman, ...movesConfig(lab.cluster, lab.directory, moves) }),
    );
    await started.waitUntilReady();
  });
  afterAll(() => started?.stop());
  return () => {
    if (started === undefined) throw new Error('used before beforeAll');
    return started;
  };
}
