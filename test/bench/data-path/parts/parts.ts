// Each part by its name.
import type { Lab } from '../lab.ts';
import type { Sample } from '../sample.ts';
import type { PartName } from './names.ts';
import { pingPong } from './ping-pong.ts';

export const PARTS: Readonly<Record<PartName, (lab: Lab) => Promise<readonly Sample[]>>> = {
  'ping-pong': pingPong,
};
