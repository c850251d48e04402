// Reads documents of the Kubernetes API: lists, watch events, pods, EndpointSlices. Each object is read separately, and
// unreadable parts are left out. Pure.
import { z } from 'zod';

/** A possible endpoint of a member's API. */
export interface ApiPlace {
  /** As the API server gives it. */
  readonly ip: string;
  /** The port with the configured name. Undefined: no port has that name. */
  readonly port: number | undefined;
  /** The name in certificates: `pg-0.pg.db.svc`. */
  readonly hostName: string | undefined;
}

/** One pod, or one EndpointSlice. */
export interface KubernetesObject {
  readonly name: string;
  readonly places: readonly ApiPlace[];
  /** A pod's label; a hint and never evidence. */
  readonly role: string | undefined;
}

export type ReadEntry = (json: unknown) => KubernetesObject | undefined;

const text = z.string().max(1024);
const metadata = z.object({
  name: text,
  namespace: text.optional(),
  labels: z.record(z.string(), z.string()).optional(),
});
const port = z.object({ name: text.optional(), containerPort: z.int().optional(), port: z.int().nullish() });

const pod = z.object({
  metadata,
  spec: z.object({
    hostname: text.optional(),
    subdomain: text.optional(),
    containers: z.array(z.object({ ports: z.array(port).nullish() })).optional(),
  }),
  status: z.object({ phase: text.optional(), podIP: text.optional() }).optional(),
});

const slice = z.object({
  metadata,
  addressType: text,
  endpoints: z.array(z.object({ addresses: z.array(text), hostname: text.nullish() })).nullish(),
  ports: z.array(port).nullish(),
});

/** In these phases the pod's address may belong to another pod. */
const ENDED = ['Succeeded', 'Failed'];
const MAX_PLACES = 1000;

/** Ignores readiness and termination: the member's own API decides that. */
export function readingPods(wanted: number | string, roleLabel: string): ReadEntry {
  return (json) => {
    const parsed = pod.safeParse(json);
    if (!parsed.success) return undefined;
    const { metadata: meta, spec, status } = parsed.data;
    const role = meta.labels?.[roleLabel];
    const ip = status?.podIP;
    if (ip === undefined || ip === '' || ENDED.includes(status?.phase ?? ''))
      return { name: meta.name, places: [], role };
    const named = spec.containers?.flatMap(({ ports }) => ports ?? []).find(({ name }) => name === wanted);
    const hostName = serviceName(spec.hostname, spec.subdomain, meta.namespace);
    const found = typeof wanted === 'number' ? wanted : named?.containerPort;
    return { name: meta.name, places: [{ ip, port: found, hostName }], role };
  };
}

/**
 * The first address of each endpoint: the API defines the others as equivalent. Names instead of addresses are
 * deprecated.
 */
export function readingSlices(service: string, wanted: number | string): ReadEntry {
  return (json) => {
    const parsed = slice.safeParse(json);
    if (!parsed.success) return undefined;
    const { metadata: meta, addressType, endpoints, ports } = parsed.data;
    const named = ports?.find(({ name }) => name === wanted)?.port ?? undefined;
    const found = typeof wanted === 'number' ? wanted : named;
    const isAddress = addressType === 'IPv4' || addressType === 'IPv6';
    const places = (isAddress ? (endpoints ?? []) : []).slice(0, MAX_PLACES).flatMap(({ addresses, hostname }) => {
      const [ip] = addresses;
      return ip === undefined
        ? []
        : [{ ip, port: found, hostName: serviceName(hostname ?? undefined, service, meta.namespace) }];
    });
    return { name: meta.name, places, role: undefined };
  };
}

function serviceName(
  host: string | undefined,
  service: string | undefined,
  namespace: string | undefined,
): string | undefined {
  if (host === undefined || service === undefined || namespace === undefined) return undefined;
  return `${host}.${service}.${namespace}.svc`;
}

const list = z.object({
  metadata: z.object({ resourceVersion: text, continue: z.string().optional() }),
  items: z.array(z.unknown()).nullish(),
});

export interface ObjectList {
  readonly version: string;
  readonly items: readonly unknown[];
  /** The list has more objects than were sent. */
  readonly isCut: boolean;
}

export function readList(json: unknown): ObjectList | undefined {
  const parsed = list.safeParse(json);
  if (!parsed.success) return undefined;
  const { metadata: meta, items } = parsed.data;
  return { version: meta.resourceVersion, items: items ?? [], isCut: (meta.continue ?? '') !== '' };
}

const event = z.object({ type: text, object: z.unknown() });
const versioned = z.object({ metadata: z.object({ resourceVersion: text, name: text.optional() }) });
const status = z.object({ message: z.string().optional(), code: z.int().optional() });

export type WatchEvent =
  | { readonly kind: 'changed' | 'deleted'; readonly version: string; readonly name: string; readonly object: unknown }
  | { readonly kind: 'bookmark'; readonly version: string }
  | { readonly kind: 'error'; readonly code: number | undefined; readonly message: string };

/** Undefined for anything that is not a watch event. */
export function readEvent(json: unknown): WatchEvent | undefined {
  const parsed = event.safeParse(json);
  if (!parsed.success) return undefined;
  const { type, object } = parsed.data;
  if (type === 'ERROR') return { kind: 'error', ...readStatus(object) };
  const meta = versioned.safeParse(object);
  if (!meta.success) return undefined;
  const { resourceVersion: version, name } = meta.data.metadata;
  if (type === 'BOOKMARK') return { kind: 'bookmark', version };
  if (name === undefined) return undefined;
  if (type === 'DELETED') return { kind: 'deleted', version, name, object };
  return type === 'ADDED' || type === 'MODIFIED' ? { kind: 'changed', version, name, object } : undefined;
}

/** A short readable form of the API server's error. */
export function readStatus(json: unknown): { readonly code: number | undefined; readonly message: string } {
  const parsed = status.safeParse(json);
  const { code, message = '' } = parsed.success ? parsed.data : {};
  return { code, message: message.replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, 300) };
}
