// Carries out a key or a command from the second terminal, and reports it in one line.
import { READ_STATEMENT, WRITE_STATEMENT } from './banner.ts';
import { actionOf, keysText } from './keys.ts';
import type { SandboxScreen } from './sandbox-screen.ts';
import { runStatement } from './statement.ts';
import type { SteadyTraffic } from './traffic.ts';
import { isVerbName, VERBS, type VerbOutcome } from './verb-list.ts';
import { perform } from './verbs.ts';
import type { Sandbox } from '../sandbox.ts';

export interface ActionOptions {
  readonly sandbox: Sandbox;
  /** Connection URLs through Pointsman. */
  readonly write: string;
  readonly read: string;
  readonly screen: SandboxScreen;
  readonly traffic: SteadyTraffic;
  /** For a second Pointsman. */
  readonly config: () => string;
  readonly end: () => void;
}

export interface Actions {
  readonly perform: (verb: string, target: string | undefined) => Promise<VerbOutcome>;
  readonly onKey: (key: string) => void;
}

export function createActions(options: ActionOptions): Actions {
  const { sandbox, screen, traffic, config, end } = options;
  const tell = (text: string): void => screen.line('sandbox', text);

  async function performAndTell(verb: string, target: string | undefined): Promise<VerbOutcome> {
    if (verb === 'traffic') {
      const text = switchTraffic();
      return { kind: 'done', text };
    }
    if (!isVerbName(verb)) {
      return { kind: 'refused', text: `unknown verb ${verb}: use one of ${VERBS.map(({ name }) => name).join(', ')}` };
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

  function switchTraffic(): string {
    const isOn = !traffic.isOn();
    if (isOn) traffic.start();
    const text = isOn ? 'steady traffic: 20 writes a second by each way; the same again stops it' : traffic.stop();
    if (!isOn) screen.status('');
    tell(text);
    return text;
  }

  return {
    perform: performAndTell,
    onKey(key) {
      const action = actionOf(key);
      if (action === undefined) {
        if (/^[a-z0-9]$/i.test(key)) tell(`the key ${key} has no meaning: ? shows the keys`);
        return;
      }
      switch (action.kind) {
        case 'verb':
          return void performAndTell(action.verb, action.target);
        case 'write':
        case 'read':
          return void run(action.kind);
        case 'traffic':
          return void switchTraffic();
        case 'config':
          return screen.block(`\n${config()}`);
        case 'help':
          return screen.block(keysText());
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
