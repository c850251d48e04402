// When a switchover can begin: the list of members is older than the members' own answers.
import { z } from 'zod';
import type { ClusterWithPointsman } from './cluster-with-pointsman.ts';

const PATIENCE_MS = 40_000;
const plan = z.looseObject({ candidates: z.array(z.looseObject({ eligible: z.boolean() })) });

/** Resolves when the cluster is healthy, and Pointsman would take both replicas as the next primary. */
export async function waitForCandidates({ cluster, pointsman }: ClusterWithPointsman): Promise<void> {
  await pointsman.waitUntilReady();
  await cluster.waitUntilHealthy();
  const isReached = async (): Promise<boolean> => {
    const { candidates } = plan.parse(JSON.parse((await pointsman.admin('/switchover')).text));
    return candidates.length === 2 && candidates.every(({ eligible }) => eligible);
  };
  await pointsman.waitFor('two eligible candidates', isReached, PATIENCE_MS);
}
