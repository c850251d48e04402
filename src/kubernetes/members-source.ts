// Contact points from Kubernetes: the pods with Patroni's labels, or the endpoints of a Service. They are possible
// addresses of an API; only the API's own answer shows which member it is and its state. A changed role label is a
// reason to probe.
import type { EndpointList, KubernetesConfig } from '../model/cluster-config.ts';
import type { Clock } from '../model/instant.ts';
import type { ApiEndpoint } from '../model/member.ts';
import { readNamespace } from './api-server.ts';
import { readingPods, readingSlices, type KubernetesObject } from './kubernetes-documents.ts';
import { follow, type Collection, type FollowState, type RetryPace } from './follow.ts';

export interface MembersSourceOptions {
  readonly config: KubernetesConfig;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called when endpoints or role labels changed. */
  readonly onNews: () => void;
  readonly pace?: Partial<RetryPace>;
}

export interface MembersSource {
  /** The first call starts following and waits shortly for the first list. Never rejects. */
  readonly find: () => Promise<EndpointList>;
  readonly close: () => void;
}

/**
 * How long the first call waits for the first list, and the jitter for events that all proxies see at once.
 * Milliseconds.
 */
const FIRST_LIST_MS = 2000;
const SPREAD_MS = 500;

export function createMembersSource({ config, clock, random, onNews, pace }: MembersSourceOptions): MembersSource {
  const name = nameOf(config);
  const first = Promise.withResolvers<void>();
  let followed: FollowState | undefined;
  let end: (() => void) | undefined;
  let isClosed = false;
  let cancelNews: (() => void) | undefined;

  function onChange(next: FollowState): void {
    const isNews = followed !== undefined && newsOf(followed) !== newsOf(next);
    followed = next;
    first.resolve();
    if (isNews) {
      cancelNews ??= clock.schedule(SPREAD_MS * random(), () => {
        cancelNews = undefined;
        onNews();
      });
    }
  }

  async function settled(): Promise<void> {
    if (followed !== undefined) return;
    const cancel = clock.schedule(FIRST_LIST_MS, first.resolve);
    await first.promise;
    cancel();
  }

  return {
    find: async () => {
      if (!isClosed)
        end ??= follow({ collection: () => collectionOf(config), clock, random, onChange, pace: pace ?? {} });
      await settled();
      if (followed === undefined) return { name, endpoints: [], failing: { why: 'not listed yet', since: undefined } };
      const { entries, isListed, failing } = followed;
      const since = isListed ? failing?.since : undefined;
      return { name, endpoints: endpointsOf(entries, config.scheme), failing: failing && { why: failing.why, since } };
    },
    close: () => {
      isClosed = true;
      end?.();
      cancelNews?.();
      first.resolve();
    },
  };
}

function nameOf({ service, labels, namespace }: KubernetesConfig): string {
  const what = service === undefined ? `pods ${labels}` : `service ${service}`;
  return `kubernetes ${what}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

async function collectionOf(config: KubernetesConfig): Promise<Collection> {
  const { server: url, credentials, service, labels, port, roleLabel } = config;
  if (url === undefined) {
    throw new Error('this is no pod (KUBERNETES_SERVICE_HOST is not set): give cluster.kubernetes.server');
  }
  const server = { url, credentials };
  const namespace = encodeURIComponent(config.namespace ?? (await readNamespace(server)));
  if (service === undefined) {
    return { server, path: `/api/v1/namespaces/${namespace}/pods`, labels, read: readingPods(port, roleLabel) };
  }
  return {
    server,
    path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    // The label that links a slice to its Service.
    labels: `kubernetes.io/service-name=${service}`,
    read: readingSlices(service, port),
  };
}

/** Each address and port once, in a stable order. */
function endpointsOf(entries: ReadonlyMap<string, KubernetesObject>, scheme: 'http' | 'https'): readonly ApiEndpoint[] {
  const byAddress = new Map<string, ApiEndpoint>();
  for (const { places } of [...entries.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const { ip, port, hostName } of places) {
      if (port === undefined) continue;
      const host = ip.includes(':') ? `[${ip}]` : ip;
      // With TLS the certificate is for the name.
      const named = scheme === 'https' && hostName !== undefined ? hostName : host;
      byAddress.set(`${host}:${port}`, { url: `${scheme}://${named}:${port}`, address: { host: ip, port } });
    }
  }
  return [...byAddress.values()];
}

/** The fields whose change is a reason to probe. Readiness is not among them. */
function newsOf({ entries }: FollowState): string {
  const told = [...entries.values()].map(({ name, role, places }) =>
    JSON.stringify([name, role, places.map(({ ip, port }) => [ip, port])]),
  );
  return told.toSorted((a, b) => (a < b ? -1 : 1)).join();
}
