// The terminal and the signals, as a command gets them.
import type { CliIo } from '../cli/io.ts';

const SIGNALLED = 128;
const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type TerminalIo = Pick<CliIo, 'screen' | 'readLine' | 'readLines' | 'onKey' | 'onInterrupt'>;

export function terminalIo(process: NodeJS.Process): TerminalIo {
  const { stdin, stdout, stderr } = process;
  return {
    ...(stdout.isTTY && { screen: { size: () => ({ columns: stdout.columns, rows: stdout.rows }) } }),
    // A question goes to stderr, so that the output of the command may be a file.
    ...(stdin.isTTY && stderr.isTTY && { readLine: (question) => ask(process, question) }),
    readLines: () => linesOf(stdin),
    ...(stdin.isTTY && { onKey: (listener) => listenToKeys(stdin, listener) }),
    onInterrupt: (listener) => {
      // As a shell reports a process that a signal ended.
      const onSignal = (_: string, number: number): void => listener(SIGNALLED + number);
      for (const signal of INTERRUPTS) process.on(signal, onSignal);
      return () => INTERRUPTS.forEach((signal) => process.off(signal, onSignal));
    },
  };
}

async function ask({ stdin, stderr }: NodeJS.Process, question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  return new Promise((resolve) => {
    lines.on('SIGINT', () => lines.close());
    lines.on('close', () => {
      stderr.write('\n');
      resolve(undefined);
    });
    lines.question(question, (answer) => {
      lines.removeAllListeners('close').close();
      resolve(answer);
    });
  });
}

async function* linesOf(stdin: NodeJS.ReadStream): AsyncGenerator<string> {
  const { createInterface } = await import('node:readline');
  yield* createInterface({ input: stdin, crlfDelay: Infinity });
}

function listenToKeys(stdin: NodeJS.ReadStream, listener: (key: string) => void): () => void {
  const onData = (keys: Buffer): void => Array.from(keys.toString()).forEach(listener);
  stdin.setRawMode(true).on('data', onData);
  return () => stdin.off('data', onData).setRawMode(false).pause();
}
