// The story of one history, for a person: the plan, the broken laws, and what led to the first of them.
import { parseJson } from '../../src/model/json.ts';
import type { Outcome } from './run-seed.ts';
import { START_MS } from './scene/scene.ts';

const USUAL_EVENTS = new RegExp(
  [
    'probe_finished',
    'discovery_finished',
    'client_accepted',
    'member_reported',
    'session_opened',
    'dial_finished',
    'urgent_probing',
    'listens',
  ].join('|'),
);
/** They tell nothing about a fault. */
const USUAL_FIELDS = / (?:user|database|tls|durationMs|toBackendBytes|toClientBytes)=\S+/g;
const LAST_LINES = 25;
/** The first broken law may tell when. Later events are no cause. */
const INSTANT = / at (\d+\.\d)\b/;

/** `seed`: of the plan before it was made smaller. */
export function storyOf(seed: number, { plan, broken, history }: Outcome): string {
  const { shape } = plan;
  const faults = plan.faults.map(({ kind, atMs, forMs, member }) => {
    const where = member === undefined ? '' : ` (member ${member + 1})`;
    return `  ${seconds(START_MS + atMs)}: ${kind}${where}, for ${seconds(forMs)}`;
  });
  const end = Number(INSTANT.exec(broken[0] ?? '')?.[1] ?? Infinity);
  const unusual = history.lines().filter((line) => !USUAL_EVENTS.test(line) && Number.parseFloat(line) <= end);
  return [
    `seed ${seed}: ${Object.entries(shape)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
    'faults:',
    ...faults,
    'broken:',
    ...broken.slice(0, 5).map((sentence) => `  ${sentence}`),
    'the last events (milliseconds):',
    ...unusual.slice(-LAST_LINES).map(plainly),
  ].join('\n');
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function plainly(line: string): string {
  return line
    .replaceAll(USUAL_FIELDS, '')
    .replaceAll(/=(\{.*?\})(?= \w+=|$)/g, (_, json: string) => `: ${wordsOf(json)}`);
}

/** A standing or a route, as it is in an event. */
function wordsOf(json: string): string {
  const value = parseJson(json);
  const why = field(value, 'why');
  const because = textOf(why, 'detail') ?? textOf(why, 'code') ?? textOf(value, 'cause');
  const targets = field(value, 'targets');
  const names = Array.isArray(targets) ? targets.map((target) => textOf(target, 'member')).join(' and ') : undefined;
  const words = [textOf(value, 'kind'), names, field(value, 'fallback') && 'as a fallback', because && `(${because})`];
  return words.filter(Boolean).join(' ');
}

function field(of: unknown, key: string): unknown {
  return typeof of === 'object' && of !== null ? Reflect.get(of, key) : undefined;
}

function textOf(of: unknown, key: string): string | undefined {
  const text = field(of, key);
  return typeof text === 'string' ? text : undefined;
}
