// The part of Pointsman's status document that scenarios look at.
import { z } from 'zod';
import type { PointsmanProcess } from './pointsman-process.ts';

const standing = z.object({ standing: z.string(), cause: z.string().optional(), why: z.string() });

const member = z.object({
  name: z.string(),
  role: z.string().nullable(),
  state: z.string().nullable(),
  timeline: z.number().nullable(),
  paused: z.boolean(),
  failsafe: z.boolean(),
  pools: z.record(z.string(), standing),
});

const document = z.object({ members: z.array(member) });

export type ShownMember = z.infer<typeof member>;

/** By name. */
export async function shownMembers(pointsman: PointsmanProcess): Promise<ReadonlyMap<string, ShownMember>> {
  const { text } = await pointsman.admin('/status');
  return new Map(document.parse(JSON.parse(text)).members.map((shown) => [shown.name, shown]));
}

/** How often routes changed since it started. */
export function routeChanges(pointsman: PointsmanProcess): number {
  return pointsman.lines.filter((line) => line['event'] === 'route_changed').length;
}
