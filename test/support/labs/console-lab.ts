// A console on a free port of loopback, with the sources of test/support/values/console.ts.
import { onTestFinished } from 'vitest';
import { createConsole } from '../../../src/console/console-server.ts';
import type { ConsoleOptions } from '../../../src/console/console-server.ts';
import type { Address } from '../../../src/model/member.ts';
import { aConsoleSources } from '../values/console.ts';

export const TOKEN = '0123456789abcdef';

/** With a token unless told otherwise. Ends with the test. */
export async function startConsole(overrides: Partial<ConsoleOptions> = {}): Promise<Address> {
  const console = createConsole({
    address: { host: '127.0.0.1', port: 0 },
    sources: aConsoleSources(),
    token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
    ...overrides,
  });
  const listening = await console.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  onTestFinished(() => console.close());
  return listening.address;
}

export const NO_TOKEN: ConsoleOptions['token'] = () => Promise.resolve({ kind: 'none' });
