// Moves of single sessions through the management API.
import { z } from 'zod';
import type { PointsmanProcess } from '../processes/pointsman-process.ts';
import { ADMIN_TOKEN } from '../values/canaries.ts';

const listed = z.object({
  sessions: z.array(
    z.looseObject({
      id: z.number(),
      application: z.string().nullable(),
      member: z.string().nullable(),
      state: z.string(),
      client: z.string(),
      tls: z.string().nullable(),
      to_backend_bytes: z.number(),
      moves: z
        .looseObject({
          answer: z.looseObject({ movable: z.boolean() }).nullable(),
          underway: z.looseObject({ waiting: z.boolean(), why: z.string().nullable() }).nullable(),
        })
        .nullish(),
    }),
  ),
});
export type ListedSession = z.output<typeof listed>['sessions'][number];

const answer = z.looseObject({
  result: z.enum(['moved', 'stayed', 'failed']),
  reason: z.string().nullable(),
});
export type MoveAnswer = z.output<typeof answer>;

export async function listSessions(pointsman: PointsmanProcess): Promise<readonly ListedSession[]> {
  const response = await request(pointsman, 'GET', '/sessions?limit=1000');
  return listed.parse(await response.json()).sessions;
}

/** By the name of its application. */
export async function findSession(pointsman: PointsmanProcess, application: string): Promise<ListedSession> {
  const sessions = await listSessions(pointsman);
  const found = sessions.find((session) => session.application === application);
  if (found === undefined) throw new Error(`no session of ${application}\n${pointsman.explain()}`);
  return found;
}

/** `abort`: a transaction that is open when `moves.wait` is over is rolled back. */
export async function moveSession(pointsman: PointsmanProcess, id: number, abort = false): Promise<MoveAnswer> {
  const response = await request(pointsman, 'POST', `/sessions/${id}/move`, abort ? { abort } : {});
  const text = await response.text();
  if (!response.ok) throw new Error(`move of ${id}: ${response.status} ${text}\n${pointsman.explain()}`);
  return answer.parse(JSON.parse(text));
}

export async function move(pointsman: PointsmanProcess, application: string, abort = false): Promise<MoveAnswer> {
  const { id } = await findSession(pointsman, application);
  return moveSession(pointsman, id, abort);
}

export async function request(
  pointsman: PointsmanProcess,
  method: string,
  path: string,
  body: Readonly<Record<string, unknown>> = {},
): Promise<Response> {
  return fetch(`http://127.0.0.1:${await pointsman.port('admin')}${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
  });
}

/** The journey of a session that is parked or moving. */
export async function journeyOf(pointsman: PointsmanProcess, application: string) {
  const { state, moves } = await findSession(pointsman, application);
  return state === 'parked' || state === 'moving' ? (moves?.underway ?? undefined) : undefined;
}

/**
 * Every session waits for a server while `act` runs: its member is drained, and there is no other. `act` may wait until
 * the session's client has sent something.
 */
export async function inTheGap<T>(
  pointsman: PointsmanProcess,
  { session, member }: { readonly session: string; readonly member: string },
  act: (untilWaiting: () => Promise<unknown>) => Promise<T>,
): Promise<T> {
  await pointsman.operate(`/members/${member}/drain`, ADMIN_TOKEN);
  try {
    await pointsman.waitFor(`${session} parked`, () => journeyOf(pointsman, session));
    const isWaiting = async () => (await journeyOf(pointsman, session))?.waiting;
    return await act(() => pointsman.waitFor(`bytes of ${session}`, isWaiting));
  } finally {
    await pointsman.operate(`/members/${member}/resume`, ADMIN_TOKEN);
  }
}
