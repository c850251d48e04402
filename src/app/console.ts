// The console in the PostgreSQL protocol: loaded only where it is configured, because most processes serve none.
import type { ListenOutcome } from '../admin/listen.ts';
import type { Console, ConsoleOptions } from '../console/console-server.ts';
import type { Address } from '../model/member.ts';

export interface ConsoleControl {
  /** Undefined: the console is off. */
  readonly listen: () => Promise<ListenOutcome | undefined>;
  readonly close: () => Promise<void>;
}

type ConsoleListenOptions = Omit<ConsoleOptions, 'address'> & { readonly address: Address | undefined };

export function createConsoleOf({ address, ...options }: ConsoleListenOptions): ConsoleControl {
  let loaded: Console | undefined;
  return {
    async listen() {
      if (address === undefined) return undefined;
      const { createConsole } = await import('../console/console-server.ts');
      loaded = createConsole({ ...options, address });
      return loaded.listen();
    },
    close: async () => loaded?.close(),
  };
}
