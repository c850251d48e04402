// The release workflow: the stamped manifests, and the facts of its files that a test can check without GitHub.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { differences, LINKED, stamp, withRunbook } from '../../../.github/stamp-release.ts';

const TOP = new URL('../../../', import.meta.url).pathname;
const read = (file: string): string => readFileSync(join(TOP, file), 'utf8');
const MANIFESTS = {
  manifest: read('package.json'),
  chart: read('deploy/kubernetes/chart/Chart.yaml'),
  values: read('deploy/kubernetes/chart/values.yaml'),
};
const { version } = z.object({ version: z.string() }).parse(JSON.parse(MANIFESTS.manifest));
const REPOSITORY = 'https://github.com/example/pointsman';
const RELEASE = { version, repository: REPOSITORY, image: 'ghcr.io/example/pointsman' };

/** The lines of `after` that `before` lacks. */
function added(before: string, after: string): readonly string[] {
  const known = new Set(before.split('\n'));
  return after.split('\n').filter((line) => !known.has(line));
}

function linksIn(text: string): readonly string[] {
  return text.match(/\S*deploy\/runbook\.md/g) ?? [];
}

describe('the stamped manifests', () => {
  const stamped = stamp(MANIFESTS, RELEASE);

  test('the package may be published, and names its repository', () => {
    expect(JSON.parse(MANIFESTS.manifest)).toMatchObject({ private: true, publishConfig: { provenance: true } });
    const { private: isPrivate, ...kept } = z.looseObject({}).parse(JSON.parse(stamped.manifest));
    const { private: _, ...own } = z.looseObject({}).parse(JSON.parse(MANIFESTS.manifest));
    expect(isPrivate).toBeUndefined();
    expect(kept).toEqual({
      ...own,
      homepage: `${REPOSITORY}#readme`,
      repository: { type: 'git', url: `git+${REPOSITORY}.git` },
      bugs: { url: `${REPOSITORY}/issues` },
    });
  });

  test('the chart names its home, its sources and an icon that exists', () => {
    expect(parse(stamped.chart)).toEqual({
      ...parse(MANIFESTS.chart),
      home: REPOSITORY,
      sources: [REPOSITORY],
      icon: `${REPOSITORY}/raw/v${version}/deploy/kubernetes/chart/icon.svg`,
    });
    expect(read('deploy/kubernetes/chart/icon.svg')).toContain('<svg');
  });

  test('the values name the published image; every other line stays unchanged', () => {
    expect(added(MANIFESTS.values, stamped.values)).toEqual(['  repository: ghcr.io/example/pointsman']);
    expect(stamped.values.split('\n').length).toBe(MANIFESTS.values.split('\n').length);
  });

  test('alerts and dashboards link to the runbook of this version', () => {
    const page = `${REPOSITORY}/blob/v${version}/deploy/runbook.md`;
    expect(LINKED.length).toBe(8);
    for (const file of LINKED) {
      const [before, after] = [read(file), withRunbook(read(file), RELEASE)];
      expect(linksIn(after).length, file).toBeGreaterThan(0);
      expect(
        linksIn(after).filter((link) => !link.endsWith(page)),
        file,
      ).toEqual([]);
      expect(after.replaceAll(page, 'deploy/runbook.md')).toBe(before);
    }
  });
});

test('the manifests name one version, and another tag is refused with the places', () => {
  expect(differences(MANIFESTS, version)).toEqual([]);
  expect(differences(MANIFESTS, '9.9.9')).toEqual([
    `the tag names version 9.9.9, version in package.json is ${version}`,
    `the tag names version 9.9.9, version in Chart.yaml is ${version}`,
    `the tag names version 9.9.9, appVersion in Chart.yaml is ${version}`,
  ]);
});

const step = z.looseObject({ uses: z.string().optional(), run: z.string().optional() });
const job = z.looseObject({
  needs: z.array(z.string()).default([]),
  permissions: z.record(z.string(), z.string()).default({}),
  environment: z.string().optional(),
  steps: z.array(step).default([]),
});
const workflow = z.looseObject({ permissions: z.record(z.string(), z.string()), jobs: z.record(z.string(), job) });

describe.each(['ci.yml', 'release.yml'])('%s', (name) => {
  const text = read(`.github/workflows/${name}`);
  const { jobs, permissions } = workflow.parse(parse(text));

  test('actions are pinned to commits, each with its version in a comment', () => {
    const uses = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action);
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses) expect(action).toMatch(/^(\.\/\S+|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/);
  });

  test('the programs and paths in its commands exist', () => {
    const { scripts } = z
      .looseObject({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    for (const { run } of Object.values(jobs).flatMap(({ steps }) => steps)) {
      for (const [path] of run?.matchAll(/(?:\.ci|\.github|deploy)\/[\w./-]+/g) ?? []) {
        const file = path === 'deploy/kubernetes/chart' ? `${path}/Chart.yaml` : path;
        expect(read(file), path).not.toBe('');
      }
      for (const [, script = ''] of run?.matchAll(/npm run ([\w:-]+)/g) ?? []) expect(scripts).toHaveProperty(script);
    }
  });

  test('only jobs of the environment `release` may write, and only after the tests', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const [id, { permissions: own, environment }] of Object.entries(jobs)) {
      if (!Object.values(own).includes('write')) continue;
      expect(environment, id).toBe('release');
      expect(before(id, jobs), id).toContain('test');
    }
  });
});

/** The jobs that a job waits for. */
function before(id: string, jobs: Readonly<Record<string, z.infer<typeof job>>>): readonly string[] {
  const needs = jobs[id]?.needs ?? [];
  return [...needs, ...needs.flatMap((one) => before(one, jobs))];
}
