// In a pod the environment has the address of the Kubernetes API server.
import type { Environment } from './environment.ts';
import { isTree, type Tree } from './tree.ts';

/** Fills in `cluster.kubernetes.server` where that section is written without it. */
export function withApiServer(tree: Tree, env: Environment): Tree {
  const { cluster } = tree;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (!isTree(cluster) || !isTree(cluster['kubernetes']) || host === undefined || host === '') return tree;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { ...tree, cluster: { ...cluster, kubernetes: { server, ...cluster['kubernetes'] } } };
}
