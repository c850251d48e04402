// Runs `pointsman cluster …` on a fake cluster, with a terminal that answers questions.
import type { CliIo } from '../../../src/cli/io.ts';
import { runCli } from '../../../src/cli/program.ts';
import { cliParts } from './cli-parts.ts';
import type { FakeCluster } from './fake-cluster.ts';

export interface Terminal {
  /** Typed by the operator, question by question. Absent: no terminal. */
  readonly answers?: readonly (string | undefined | (() => string))[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Called instead of waiting. */
  readonly onSleep?: (ms: number) => void;
  readonly onInterrupt?: CliIo['onInterrupt'];
  /** Columns of the terminal on standard output. */
  readonly columns?: number;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly asked: readonly string[];
  /** The seeds of the configuration that was opened. */
  readonly seeds: readonly string[];
}

export const NOW = new Date('2026-01-31T12:00:00Z');

export async function clusterCli(
  argv: readonly string[],
  cluster: FakeCluster,
  { answers, env = {}, files = {}, onSleep = () => {}, onInterrupt, columns }: Terminal = {},
): Promise<Ran> {
  let [out, err] = ['', ''];
  const asked: string[] = [];
  const seeds: string[] = [];
  const left = [...(answers ?? [])];
  let nowMs = NOW.getTime();
  const io = {
    env: {
      POINTSMAN_CLUSTER_SEEDS: 'http://10.0.0.1:8008',
      // Not the usual port, where a Pointsman of this machine may answer.
      POINTSMAN_ADMIN_ADDRESS: '127.0.0.1:1',
      PATH: process.env['PATH'],
      ...env,
    },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    readFile: (file: string) => {
      const text = files[file];
      if (text === undefined) throw Object.assign(new Error(file), { code: 'ENOENT' });
      return text;
    },
    ...(answers && {
      readLine: (question: string) => {
        asked.push(question);
        const answer = left.shift();
        return Promise.resolve(typeof answer === 'function' ? answer() : answer);
      },
    }),
    ...(onInterrupt && { onInterrupt }),
    ...(columns !== undefined && { screen: { size: () => ({ columns, rows: 24 }) } }),
  };
  const parts = cliParts({
    cluster: {
      openCluster: (config) => {
        seeds.push(...config.seeds.map(({ url }) => url));
        return Promise.resolve(cluster);
      },
      now: () => new Date(nowMs),
      sleep: (ms) => {
        nowMs += ms;
        onSleep(ms);
        return Promise.resolve();
      },
    },
  });
  const code = await runCli(['cluster', ...argv], io, parts);
  return { code, out, err, asked, seeds };
}
