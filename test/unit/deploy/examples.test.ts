// The program accepts every configuration of the repository without a warning: those in config/, and each
// pointsman.yaml or *.pointsman.yaml in deploy/.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { formatProblems } from '../../../src/config/fault.ts';

const TOP = new URL('../../../', import.meta.url).pathname;

function filesIn(directory: string, name: RegExp): readonly string[] {
  const entries = readdirSync(join(TOP, directory), { recursive: true, encoding: 'utf8' });
  return entries.filter((entry) => name.test(entry)).map((entry) => join(directory, entry));
}

const FILES = [...filesIn('config', /\.yaml$/), ...filesIn('deploy', /(?:^|[/.])pointsman\.yaml$/)];

test('there are some configurations', () => {
  expect(FILES).toEqual(expect.arrayContaining(['config/pointsman.yaml', 'deploy/compose/pointsman.yaml']));
});

test.each(FILES)('%s', (file) => {
  const load = (env: Readonly<Record<string, string>>): ReturnType<typeof loadConfig> =>
    loadConfig({ file: join(TOP, file), env });
  const alone = load({});
  // Some leave the contact points to the environment, and nothing else.
  const loaded = alone.kind === 'ok' ? alone : load({ POINTSMAN_CLUSTER_SEEDS: 'http://10.0.0.11:8008' });
  expect(loaded.kind === 'ok' ? loaded.warnings : formatProblems(loaded.problems)).toEqual([]);
});
