// The parts by name.
import type { Lab } from '../lab.ts';
import type { Sample } from '../sample.ts';
import { connects } from './connects.ts';
import { copy } from './copy.ts';
import { idle } from './idle.ts';
import { moves } from './moves.ts';
import type { PartName } from './names.ts';
import { pgbench } from './pgbench.ts';
import { pingPong } from './ping-pong.ts';
import { stalled } from './stalled.ts';
import { start } from './start.ts';
import { tls } from './tls.ts';
import { workers } from './workers.ts';

export const PARTS: Readonly<Record<PartName, (lab: Lab) => Promise<readonly Sample[]>>> = {
  'ping-pong': pingPong,
  pgbench,
  copy,
  connects,
  idle,
  stalled,
  start,
  workers,
  tls,
  moves,
};
