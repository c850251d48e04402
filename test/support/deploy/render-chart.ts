// The chart rendered: by helm where there is one, else by the stand-in in chart-renderer/, built once per test file with Debian's
// Go and libraries.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseManifests } from './manifests.ts';
import type { Manifest } from './manifests.ts';

const run = promisify(execFile);

export const CHART = new URL('../../../deploy/kubernetes/chart', import.meta.url).pathname;
const RENDERER = new URL('chart-renderer/main.go', import.meta.url).pathname;

export const RELEASE = { name: 'orders', namespace: 'data' } as const;

/** Where Debian puts libraries of Go. */
const GO_ENV = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' };

const hasHelm = await succeeds('helm', ['version']);
const hasGo =
  hasHelm ||
  (await succeeds('go', [
    'list',
    'github.com/Masterminds/sprig',
    'github.com/ghodss/yaml',
    'github.com/xeipuuv/gojsonschema',
  ]));

/** For people; undefined when nothing is. */
export const missingHelm = hasGo
  ? undefined
  : 'helm, or Go with the libraries that helm is made of (npm run prerequisites installs those)';

export type Rendered =
  | { readonly kind: 'ok'; readonly manifests: readonly Manifest[] }
  /** What helm says. */
  | { readonly kind: 'refused'; readonly why: string };

export interface ChartRenderer {
  /** `valueFiles` are full paths. */
  readonly render: (...valueFiles: readonly string[]) => Promise<Rendered>;
  readonly remove: () => Promise<void>;
}

export async function createChartRenderer(): Promise<ChartRenderer> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-chart-'));
  const standIn = join(directory, 'renderer');
  if (!hasHelm) await run('go', ['build', '-o', standIn, RENDERER], { env: GO_ENV });
  const template = async (valueFiles: readonly string[]): Promise<string> => {
    const { name, namespace } = RELEASE;
    const values = valueFiles.flatMap((file) => ['--values', file]);
    const { stdout } = hasHelm
      ? await run('helm', ['template', name, CHART, '--namespace', namespace, '--kube-version', '1.30.0', ...values])
      : await run(standIn, [CHART, name, namespace, ...valueFiles]);
    return stdout;
  };
  return {
    render: (...valueFiles) =>
      template(valueFiles).then(
        (text) => ({ kind: 'ok', manifests: parseManifests(text) }),
        (error: unknown) => ({ kind: 'refused', why: saidBy(error) }),
      ),
    remove: () => rm(directory, { recursive: true }),
  };
}

/** The value sets that the chart promises to be good for. */
export async function valueSets(): Promise<readonly string[]> {
  const names = await readdir(join(CHART, 'ci'));
  return names.toSorted();
}

function saidBy(error: unknown): string {
  return error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return await run(command, args, { env: GO_ENV }).then(
    () => true,
    () => false,
  );
}
