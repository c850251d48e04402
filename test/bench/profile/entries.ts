// The functions of a profile, each with its own share, without its callees.
import { z } from 'zod';

export interface Entry {
  readonly name: string;
  /** The file and the line. */
  readonly place: string;
  /** An amount of microseconds or bytes. */
  readonly amount: number;
}

const frame = z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() });
type Frame = z.infer<typeof frame>;

const cpuProfile = z.object({
  nodes: z.array(z.object({ id: z.number(), callFrame: frame })),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

const heapNode = z.object({
  callFrame: frame,
  selfSize: z.number(),
  get children() {
    return z.array(heapNode);
  },
});

/** Microseconds by function, without idle time and the profiler's own time. */
export function ran(profile: unknown): readonly Entry[] {
  const { nodes, samples, timeDeltas } = cpuProfile.parse(profile);
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const amounts = samples.map((id, at) => [frames.get(id), timeDeltas[at] ?? 0] as const);
  return sumUp(amounts).filter(({ name, place }) => name !== '(idle)' && !place.startsWith('node:inspector'));
}

/** Allocated bytes by function. */
export function allocated(profile: unknown): readonly Entry[] {
  const { head } = z.object({ head: heapNode }).parse(profile);
  const amounts: (readonly [Frame, number])[] = [];
  const left = [head];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    amounts.push([node.callFrame, node.selfSize]);
    left.push(...node.children);
  }
  return sumUp(amounts);
}

function sumUp(amounts: readonly (readonly [Frame | undefined, number])[]): readonly Entry[] {
  const entries = new Map<string, Entry>();
  for (const [found, amount] of amounts) {
    if (found === undefined) continue;
    const name = found.functionName === '' ? '(anonymous)' : found.functionName;
    const file = found.url.replace(/^.*\/dist\//, '').replace(/^file:\/\//, '');
    const place = file === '' ? '' : `${file}:${found.lineNumber + 1}`;
    const key = `${name} ${place}`;
    entries.set(key, { name, place, amount: (entries.get(key)?.amount ?? 0) + amount });
  }
  return [...entries.values()];
}
