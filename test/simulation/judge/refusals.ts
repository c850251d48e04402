// A client that waits and does not get a session reads an error that it can parse, with a code and a reason (G9). Only
// a killed Pointsman, or one that does not listen, is silent.
import { framesOf, wiresOf, type Conversation } from './conversations.ts';
import type { Scene } from '../scene/scene.ts';
import type { Law } from './law.ts';

const SILENT_ENDS: readonly (string | undefined)[] = ['closed by the server', 'closed', 'error', 'ECONNRESET', 'EPIPE'];

export const REFUSALS: Law = {
  guarantee: 'G9',
  broken(scene) {
    const { clients, pointsmen, world } = scene;
    const killedAt = pointsmen.map((pointsman) => pointsman.killedAt).filter((at) => at !== undefined);
    const untold = clients.flatMap(({ account }) =>
      account.sessions.flatMap(({ number, startedAt, readyAt, endedAt = world.now(), ending }) => {
        const isKilled = killedAt.some((at) => at >= startedAt && at <= endedAt);
        // It has ended its half before it was served: as for PostgreSQL, it is gone.
        const hasLeft = account.mischief.some(
          ({ what, at }) => what === 'half-closes' && at >= startedAt && at <= endedAt,
        );
        const isExcused = isKilled || hasLeft || isCutOff(scene, `${account.name}-${number}`);
        if (readyAt !== undefined || isExcused || !SILENT_ENDS.includes(ending)) return [];
        return [`${account.name}-${number} got no session and no error: ${ending}, at ${endedAt.toFixed(1)}`];
      }),
    );
    return [...untold, ...wiresOf(scene).conversations.flatMap(unreadable)];
  },
};

/** Half a message of a server is there, behind which no error can be told; or no Pointsman has accepted the client. */
function isCutOff(scene: Scene, session: string): boolean {
  const { conversations } = wiresOf(scene);
  const own = conversations.find((one) => one.session === session);
  if (own === undefined) return true;
  const { rest } = framesOf(own.client.answers, false);
  const isStopped = scene.pointsmen.some(({ drainedAt }) => drainedAt !== undefined);
  return rest > 0 || (isStopped && own.client.answers.length === 0 && own.legs.length === 0);
}

/** Each error that Pointsman itself has written is whole, or cut by the end of the connection. */
function unreadable({ session, client, legs }: Conversation): readonly string[] {
  const last = framesOf(client.answers, false).frames.at(-1);
  if (last?.type !== 'E' || legs.some(({ answers }) => answers.includes(last.body))) return [];
  const fields = new Map(
    last.body
      .toString('utf8')
      .split('\0')
      .filter((text) => text !== '')
      .map((text) => [text.slice(0, 1), text.slice(1)]),
  );
  const isWhole =
    fields.get('S') === 'FATAL' &&
    fields.get('V') === 'FATAL' &&
    /^[0-9A-Z]{5}$/.test(fields.get('C') ?? '') &&
    /^pointsman: .*\(\w+\)$/.test(fields.get('M') ?? '') &&
    last.body.at(-1) === 0;
  return isWhole ? [] : [`${session}: the error to its client is ${JSON.stringify(last.body.toString('utf8'))}`];
}
