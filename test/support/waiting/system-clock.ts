// The real clock of this process.
import { hrtime } from 'node:process';
import { createSystemClock } from '../../../src/app/system-clock.ts';

export const systemClock = createSystemClock(hrtime);
