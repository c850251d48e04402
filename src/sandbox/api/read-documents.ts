// The documents that GET returns besides the health checks. /cluster, /history and /config read the store. While the
// store is down real Patroni leaves the client without an answer; here the client gets an error.
import type { ClusterView } from '../manager/view.ts';
import { json, type ManagerAnswer } from './api-answer.ts';
import { clusterDocument, historyDocument } from './cluster-document.ts';
import type { ApiDialect } from './dialect.ts';
import { metricsText } from './metrics.ts';
import { nodeDocument } from './node-document.ts';
import type { RequestRouting } from './routing.ts';

type ReadDocument = (routing: RequestRouting) => ManagerAnswer | Promise<ManagerAnswer>;

const READS: ReadonlyMap<string, ReadDocument> = new Map<string, ReadDocument>([
  ['/cluster', (routing) => fromStore(routing, (cluster) => clusterDocument(cluster, routing.dialect))],
  ['/history', (routing) => fromStore(routing, (cluster) => historyDocument(cluster.history))],
  ['/config', (routing) => fromStore(routing, (cluster) => cluster.config)],
  ['/metrics', readMetrics],
]);

export function isRead(path: string, dialect: ApiDialect): boolean {
  return path === `/${dialect.name}` || READS.has(path);
}

export async function read(path: string, routing: RequestRouting): Promise<ManagerAnswer> {
  const { operations, about, dialect } = routing;
  if (path === `/${dialect.name}`) return json(200, nodeDocument(await operations.look(), about, dialect));
  const answer = await READS.get(path)?.(routing);
  if (answer === undefined) throw new Error(`${path} is no document`);
  return answer;
}

function fromStore({ operations }: RequestRouting, document: (cluster: ClusterView) => unknown): ManagerAnswer {
  const cluster = operations.readCluster();
  if (cluster === undefined) return json(503, { error: 'the configuration store does not answer' });
  return json(200, document(cluster));
}

async function readMetrics({ operations, about, dialect }: RequestRouting): Promise<ManagerAnswer> {
  const { type, text } = await metricsText(await operations.look(), about, dialect);
  return { status: 200, content: { type, body: text } };
}
