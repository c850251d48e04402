// Each step of a session that moves, on sockets: with servers in plain text, and with TLS to them.
import { describe, test } from 'vitest';
import { expectScript } from '../../../support/labs/session-script.ts';
import { STEPS } from '../../../support/labs/step-scripts.ts';

describe.each(Object.entries(STEPS))('%s', (_step, scripts) => {
  for (const [title, script, options] of scripts) test(title, () => expectScript(script, options));
});
