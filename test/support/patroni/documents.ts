// Patroni's JSON answers, as far as the harness and its tests read them. Lenient: it is not our server.
import { z } from 'zod';
import type { HttpAnswer } from './http.ts';

export type Tags = Readonly<Record<string, string | number | boolean>>;

const tags = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

const memberStatus = z.looseObject({
  state: z.string().optional(),
  role: z.string().optional(),
  timeline: z.number().optional(),
  tags: tags.optional(),
  /** The standbys that stream from it. */
  replication: z.array(z.looseObject({ application_name: z.string(), state: z.string() })).optional(),
});

/** The body of /patroni and of each health check. */
export type MemberStatus = z.infer<typeof memberStatus>;

const clusterDocument = z.looseObject({
  members: z.array(
    z.looseObject({
      name: z.string(),
      role: z.string(),
      state: z.string(),
      api_url: z.string().optional(),
      host: z.string().optional(),
      port: z.number().optional(),
      timeline: z.number().optional(),
      lag: z.union([z.number(), z.string()]).optional(),
      tags: tags.optional(),
    }),
  ),
});

export type ClusterDocument = z.infer<typeof clusterDocument>;

export function parseMemberStatus(answer: HttpAnswer | undefined): MemberStatus | undefined {
  return memberStatus.safeParse(parseJson(answer)).data;
}

export function parseClusterDocument(answer: HttpAnswer | undefined): ClusterDocument | undefined {
  return clusterDocument.safeParse(parseJson(answer)).data;
}

/** Undefined when there is no answer, or none in JSON. */
export function parseJson(answer: HttpAnswer | undefined): unknown {
  try {
    return answer === undefined ? undefined : JSON.parse(answer.text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
