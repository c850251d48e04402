// Each step of a session that moves, on simulated hosts.
import { describe, test } from 'vitest';
import { expectQuickScript } from '../../../support/labs/session-script.ts';
import { STEPS } from '../../../support/labs/step-scripts.ts';

describe.each(Object.entries(STEPS))('%s', (_step, scripts) => {
  for (const [title, script, options] of scripts) test(title, () => expectQuickScript(script, options));
});
