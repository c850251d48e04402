// The cluster document (GET /cluster): the members as the configuration store has them. Each member is read separately:
// an unreadable one is skipped and named, the others stay. The document is no evidence of liveness.
import { isRecord } from '../model/json.ts';
import { z } from 'zod';
import { onOneLine, shown } from '../model/printable.ts';
import { amount, anything, flag, identifier, line, maybe, port, present, timeline } from './fields.ts';
import { roleIn } from './node-status.ts';
import { readRestartState, type RestartState } from './restart-state.ts';
import { parseTags } from './tags.ts';

export type ClusterRole = 'leader' | 'standby_leader' | 'sync_standby' | 'quorum_standby' | 'replica' | 'unknown';

export interface DocumentMember {
  readonly name: string;
  readonly role: ClusterRole;
  /** `running`, `streaming`, `in archive recovery`, `stopped` …; may be empty. */
  readonly state?: string;
  /** As published: not checked, may be unroutable. */
  readonly apiUrl?: string;
  readonly host?: string;
  readonly port?: number;
  readonly timeline?: number;
  readonly tags: ReadonlyMap<string, string>;
  /** Bytes behind the leader: replayed where the version reports it (Patroni 4.1.0), else received. */
  readonly lag?: number;
  /** Undefined: none is needed or scheduled. */
  readonly restart?: RestartState;
}

export interface PlannedSwitchover {
  /** ISO 8601 with offset, as given. */
  readonly at: string;
  /** Wall clock, milliseconds since the epoch; undefined when `at` is no timestamp. */
  readonly atMs: number | undefined;
  readonly from?: string;
  readonly to?: string;
}

export interface SkippedMember {
  /** The member's name, or its position in the list: `member 3`. */
  readonly name: string;
  readonly why: string;
}

export interface ClusterDocument {
  readonly members: readonly DocumentMember[];
  readonly skipped: readonly SkippedMember[];
  /** Patroni 3.2.0 and later. */
  readonly scope?: string;
  readonly pause: boolean;
  readonly scheduledSwitchover?: PlannedSwitchover;
}

export type ParsedClusterDocument =
  | { readonly kind: 'cluster'; readonly cluster: ClusterDocument }
  | { readonly kind: 'invalid'; readonly why: string };

const ROLES: Readonly<Record<string, ClusterRole>> = {
  leader: 'leader',
  primary: 'leader',
  master: 'leader',
  standby_leader: 'standby_leader',
  sync_standby: 'sync_standby',
  quorum_standby: 'quorum_standby',
  replica: 'replica',
};

const name = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => onOneLine(text) === text);

const member = z.object({
  name,
  role: anything.transform((role) => roleIn(ROLES, role)),
  state: maybe(line),
  api_url: maybe(z.string().min(1).max(2048)),
  host: maybe(z.string().min(1).max(1024)),
  port: maybe(port),
  timeline: maybe(timeline),
  tags: anything.transform(parseTags),
  // Patroni writes "unknown" for a position that it does not know.
  replay_lag: maybe(amount),
  lag: maybe(amount),
});

const switchover = maybe(z.object({ at: z.string().max(64), from: maybe(identifier), to: maybe(identifier) }));

const cluster = z.object({
  members: z.array(z.unknown()),
  scope: maybe(identifier),
  pause: flag,
  scheduled_switchover: switchover,
});

function toMember(fields: z.infer<typeof member>, entry: unknown): DocumentMember {
  const restart = readRestartState(entry);
  return {
    name: fields.name,
    role: fields.role,
    tags: fields.tags?.tags ?? new Map(),
    ...present({
      state: fields.state,
      apiUrl: fields.api_url,
      host: fields.host,
      port: fields.port,
      timeline: fields.timeline,
      lag: fields.replay_lag ?? fields.lag,
      restart: restart.isPending || restart.scheduledAt !== undefined ? restart : undefined,
    }),
  };
}

function toSwitchover(fields: z.infer<typeof switchover>): PlannedSwitchover | undefined {
  if (fields === undefined) return undefined;
  const atMs = Date.parse(fields.at);
  return {
    at: shown(fields.at),
    atMs: Number.isNaN(atMs) ? undefined : atMs,
    ...present({ from: fields.from, to: fields.to }),
  };
}

const ofPointsman = z.object({ members: z.array(z.object({ api: z.string() })).min(1) });

/** GET /cluster of a Pointsman has the members as well, in another form. */
function whyNotPointsman(json: unknown): string {
  const api = ofPointsman.safeParse(json).data?.members[0]?.api;
  const right = api === undefined ? 'http://HOST:8008' : shown(api);
  return `this is the admin address of a Pointsman, not a management API: give that of a member, such as ${right}`;
}

/** Reads a parsed JSON value. Only a missing `members` array makes the whole document invalid. */
export function readClusterDocument(json: unknown): ParsedClusterDocument {
  if (!isRecord(json)) return { kind: 'invalid', why: 'not a JSON object' };
  if ('api_version' in json && 'refused_members' in json) return { kind: 'invalid', why: whyNotPointsman(json) };
  const document = cluster.safeParse(json);
  if (!document.success) return { kind: 'invalid', why: 'no members array' };
  const members: DocumentMember[] = [];
  const skipped: SkippedMember[] = [];
  for (const [index, entry] of document.data.members.entries()) {
    const parsed = member.safeParse(entry);
    if (parsed.success) members.push(toMember(parsed.data, entry));
    else skipped.push({ name: `member ${index + 1}`, why: isRecord(entry) ? 'no usable name' : 'not an object' });
  }
  const { scope, pause = false, scheduled_switchover: scheduled } = document.data;
  return {
    kind: 'cluster',
    cluster: { members, skipped, pause, ...present({ scope, scheduledSwitchover: toSwitchover(scheduled) }) },
  };
}
