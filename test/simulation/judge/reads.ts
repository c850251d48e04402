// A read session opens only on a replica with known, limited and fresh lag, on the primary's timeline (G5); elsewhere
// by policy alone, and in a limited number (G6). The judge knows where the servers truly were: evidence has an age.
import type { ApiAnswer, Opening } from './observer.ts';
import type { Scene } from '../scene/scene.ts';
import { MOST_DEGRADED, MOST_LAG_BYTES, READ_MAX_AGE_MS, WRITE_MAX_AGE_MS } from '../scene/site.ts';
import { wiresOf } from './conversations.ts';
import type { Law } from './law.ts';

/**
 * Evidence is up to `read_max_age` old; one answer more decides (`probe.fall`), with its interval and timeout; and the
 * API compares with a position that is up to a loop old, or its lock's time. Milliseconds.
 */
const OLDEST_MS = READ_MAX_AGE_MS + 1_900 + 2_000;

/** A primary below the highest timeline is refused for so long, and may count then. Milliseconds. */
const REFUSED_MS = 29_000;
/** Clocks that drift. Milliseconds. */
const LATE_MS = 150;

export const READS: Law = {
  guarantee: 'G5, G6',
  broken(scene) {
    if (scene.plan.shape.workers > 1) return [];
    const first = firstOpenings(scene);
    const [byPrimary, byLag] = [
      first.filter((one) => isOfPrimary(scene, one)),
      first.filter((one) => lagOf(scene, one)),
    ];
    const { degradedReads } = scene.plan.shape;
    const mayLag = degradedReads === 'least lagging';
    return [
      ...first.flatMap((one) => onOldTimeline(scene, one)),
      ...first.flatMap((one) => onOldEvidence(scene, one)),
      ...(mayLag
        ? tooMany(scene, byLag, 'lagging replicas')
        : byLag.map((one) => `${inWords(one)}, ${lagOf(scene, one)}`)),
      ...(degradedReads === 'none' ? byPrimary.map((one) => `${inWords(one)}, which is the primary`) : []),
      ...(degradedReads === 'few' ? tooMany(scene, byPrimary, 'the primary') : []),
    ];
  },
};

/** How each session of the pool began. Later ones are moves, or questions whether a server still lets clients in. */
function firstOpenings({ observer }: Scene): readonly Opening[] {
  const seen = new Set<string>();
  return observer.openings.filter(({ session, server }) => {
    const isFirst = session.startsWith('r') && !seen.has(session);
    seen.add(session);
    return isFirst && server !== undefined;
  });
}

/** And has been so for longer than evidence counts. */
function isOfPrimary({ cluster }: Scene, { at, member, server }: Opening): boolean {
  if (server?.isInRecovery !== false) return false;
  const promotions = cluster.ledger.promotions.filter((one) => one.server === member);
  return promotions.every((one) => at - one.at > OLDEST_MS || one.at > at);
}

/** In words. Undefined: it is small enough. */
function lagOf({ observer }: Scene, { at, server }: Opening): string | undefined {
  const then = observer.samples.findLast((sample) => sample.at <= at - OLDEST_MS)?.primary;
  if (server?.isInRecovery !== true || then?.timeline !== server.timeline) return undefined;
  const lag = then.position - server.position;
  return lag > MOST_LAG_BYTES ? `which lacks ${lag} bytes that ${then.name} had ${OLDEST_MS} ms ago` : undefined;
}

/** As far as an answer has told this Pointsman of a newer timeline. */
function onOldTimeline({ observer }: Scene, opening: Opening): readonly string[] {
  const { at, run, server } = opening;
  const then = observer.samples.findLast((sample) => sample.at <= at - OLDEST_MS)?.primary;
  if (server?.isInRecovery !== true || then === undefined || then.timeline <= server.timeline) return [];
  const isTold = observer.answers.some(
    (one) => one.run === run && one.at <= at && timelineIn(bodyOf(one)) > server.timeline,
  );
  if (!isTold) return [];
  return [`${inWords(opening)} on timeline ${server.timeline}, and ${then.name} was on ${then.timeline} long before`];
}

/**
 * The newest yes of a replica, and its timeline, as its API told them to this Pointsman. With a fallback it may have
 * been the primary a moment ago.
 */
function onOldEvidence({ observer, cluster, plan }: Scene, opening: Opening): readonly string[] {
  const { at, run, member, server } = opening;
  if (server?.isInRecovery !== true) return [];
  const told = observer.answers.filter((one) => one.run === run && one.at <= at && one.at > at - REFUSED_MS);
  const mayBePrimary = plan.shape.degradedReads !== 'none';
  const wasPrimary = (one: ApiAnswer): boolean =>
    mayBePrimary && isYes(one, '/primary') && at - one.askedAt <= WRITE_MAX_AGE_MS + LATE_MS;
  const yes = told.findLast((one) => one.member === member && (isYes(one, '/replica') || wasPrimary(one)));
  const ageMs = at - (yes?.askedAt ?? -Infinity);
  if (ageMs > READ_MAX_AGE_MS + LATE_MS) return [`${inWords(opening)}, whose last yes is ${ageMs.toFixed(0)} ms old`];
  const isOwn = (body: string): boolean => body.includes(cluster.systemIdentifier);
  const primaries = told.filter((one) => isYes(one, '/primary') && isOwn(bodyOf(one)) && isPrimary(bodyOf(one)));
  const highest = Math.max(0, ...primaries.map((one) => timelineIn(bodyOf(one))));
  const own = timelineIn(bodyOf(told.findLast((one) => one.member === member && bodyOf(one) !== '')));
  return own > 0 && own < highest ? [`${inWords(opening)} on timeline ${own}, and a primary is on ${highest}`] : [];
}

function isYes({ path, result }: ApiAnswer, check: string): boolean {
  return path.startsWith(check) && result.kind === 'answered' && result.status === 200;
}

function bodyOf(answer: ApiAnswer | undefined): string {
  return answer?.result.kind === 'answered' && answer.path !== '/cluster' ? answer.result.body : '';
}

function isPrimary(body: string): boolean {
  return /"role":"primary"/.test(body) && /"state":"running"/.test(body);
}

function timelineIn(body: string): number {
  return Number(/"timeline":(\d+)/.exec(body)?.[1] ?? 0);
}

function tooMany(scene: Scene, openings: readonly Opening[], where: string): readonly string[] {
  const { conversations } = wiresOf(scene);
  const open = openings.flatMap((opening) => {
    const leg = conversations.find(({ session }) => session === opening.session)?.legs[0]?.connection;
    return leg === undefined ? [] : [{ opening, until: leg.endedAt ?? Infinity }];
  });
  return open.flatMap(({ opening }) => {
    const others = open.filter(
      (one) => one.opening.run === opening.run && one.opening.at <= opening.at && one.until > opening.at,
    );
    return others.length > MOST_DEGRADED ? [`${inWords(opening)}: ${others.length} are at ${where} then`] : [];
  });
}

function inWords({ session, host, at }: Opening): string {
  return `${session} begins at ${host} at ${at.toFixed(1)}`;
}
