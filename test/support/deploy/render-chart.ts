// Renders the chart: with helm where it is installed, else with the stand-in in chart-renderer/, which each test file
// builds once with Debian's Go and libraries.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseManifests } from './manifests.ts';
import type { Manifest } from './manifests.ts';

const run = promisify(execFile);

export const CHART = new URL('../../../deploy/kubernetes/chart', import.meta.url).pathname;
const RENDERER = new URL('chart-renderer/main.go', import.meta.url).pathname;

/** A chart that has ours as a dependency, without that dependency in its folder. */
const APPLICATION_CHART = new URL('../../../deploy/kubernetes/examples/application-chart', import.meta.url).pathname;

export const RELEASE = { name: 'orders', namespace: 'data' } as const;

/** Debian's folder for libraries of Go. */
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

/** Says what to install; undefined when nothing is missing. */
export const missingHelm = hasGo
  ? undefined
  : 'helm, or Go with the libraries that helm is made of (npm run prerequisites installs those)';

export type Rendered =
  | { readonly kind: 'ok'; readonly manifests: readonly Manifest[] }
  /** `why`: the message of helm. */
  | { readonly kind: 'refused'; readonly why: string };

export interface ChartRenderer {
  /** `valueFiles` are full paths. */
  readonly render: (...valueFiles: readonly string[]) => Promise<Rendered>;
  /** The example of an application's chart, with ours as its subchart. */
  readonly renderApplication: (...valueFiles: readonly string[]) => Promise<Rendered>;
  /** The text that helm prints after an installation. */
  readonly notes: (...valueFiles: readonly string[]) => Promise<string>;
  readonly remove: () => Promise<void>;
}

export async function createChartRenderer(): Promise<ChartRenderer> {
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-chart-'));
  const standIn = join(directory, 'renderer');
  if (!hasHelm) await run('go', ['build', '-o', standIn, RENDERER], { env: GO_ENV });
  const application = join(directory, 'application');
  await cp(APPLICATION_CHART, application, { recursive: true });
  await cp(CHART, join(application, 'charts', 'pointsman'), { recursive: true });
  const { name, namespace } = RELEASE;

  async function template(chart: string, valueFiles: readonly string[]): Promise<string> {
    const values = valueFiles.flatMap((file) => ['--values', file]);
    const { stdout } = hasHelm
      ? await run('helm', ['template', name, chart, '--namespace', namespace, '--kube-version', '1.30.0', ...values])
      : await run(standIn, [chart, name, namespace, ...valueFiles]);
    return stdout;
  }

  async function notes(valueFiles: readonly string[]): Promise<string> {
    const values = valueFiles.flatMap((file) => ['--values', file]);
    const { stdout } = hasHelm
      ? await run('helm', ['install', name, CHART, '--namespace', namespace, '--dry-run=client', ...values])
      : await run(standIn, [CHART, name, namespace, ...valueFiles], { env: { ...process.env, NOTES: '1' } });
    return hasHelm ? stdout.slice(stdout.indexOf('NOTES:')) : stdout;
  }

  function render(chart: string, valueFiles: readonly string[]): Promise<Rendered> {
    return template(chart, valueFiles).then(
      (text) => ({ kind: 'ok', manifests: parseManifests(text) }),
      (error: unknown) => ({ kind: 'refused', why: saidBy(error) }),
    );
  }

  return {
    render: (...valueFiles) => render(CHART, valueFiles),
    renderApplication: (...valueFiles) => render(application, valueFiles),
    notes: (...valueFiles) => notes(valueFiles),
    remove: () => rm(directory, { recursive: true }),
  };
}

/** The value sets in ci/, by their file names. */
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
