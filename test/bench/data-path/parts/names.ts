// The parts of the benchmark, in the order in which they run.
export const PART_NAMES = ['ping-pong'] as const;

export type PartName = (typeof PART_NAMES)[number];
