// What a key or an order from the second terminal leads to, and the line that tells it.
import { READ_STATEMENT, WRITE_STATEMENT } from './banner.ts';
import { deedOf, keysText } from './keys.ts';
import { runStatement } from './statement.ts';
import { isVerbName, VERBS } from './verb-list.ts';
import { perform } from './verbs.ts';
import type { VerbOutcome } from './verbs.ts';
import type { Sandbox } from '../sandbox.ts';

export interface DeedOptions {
  readonly sandbox: Sandbox;
  /** Connection URLs through Pointsman. */
  readonly write: string;
  readonly read: string;
  readonly tell: (line: string) => void;
  readonly end: () => void;
}

export interface Deeds {
  readonly perform: (verb: string, target: string | undefined) => Promise<VerbOutcome>;
  readonly onKey: (key: string) => void;
}

export function createDeeds(options: DeedOptions): Deeds {
  const { sandbox, tell, end } = options;

  async function performAndTell(verb: string, target: string | undefined): Promise<VerbOutcome> {
    if (!isVerbName(verb)) {
      return { kind: 'refused', text: `${verb} is none of ${VERBS.map(({ name }) => name).join(', ')}` };
    }
    const outcome = await perform(sandbox, verb, target);
    tell(outcome.text);
    return outcome;
  }

  async function run(pool: 'write' | 'read'): Promise<void> {
    try {
      const statement = pool === 'write' ? WRITE_STATEMENT : READ_STATEMENT;
      const { rows, tookMs } = await runStatement(options[pool], statement);
      tell(`${pool}: ${rowText(rows[0])} (${Math.round(tookMs)} ms, with the connect)`);
    } catch (error) {
      tell(`${pool}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    perform: performAndTell,
    onKey(key) {
      const deed = deedOf(key);
      if (deed === undefined) return;
      switch (deed.kind) {
        case 'verb':
          return void performAndTell(deed.verb, deed.target);
        case 'write':
        case 'read':
          return void run(deed.kind);
        case 'help':
          return tell(keysText());
        case 'end':
          return end();
      }
    },
  };
}

/** `id 4, written_on pg-2` */
function rowText(row: Readonly<Record<string, unknown>> | undefined): string {
  const entries = Object.entries(row ?? {}).filter(([, value]) => !(value instanceof Date));
  return entries.map(([name, value]) => `${name} ${String(value)}`).join(', ');
}
