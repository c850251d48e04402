// The parts of the benchmark in the order of a run.
export const PART_NAMES = [
  'ping-pong',
  'pgbench',
  'copy',
  'connects',
  'idle',
  'stalled',
  'start',
  'workers',
  'tls',
  'moves',
] as const;

export type PartName = (typeof PART_NAMES)[number];
