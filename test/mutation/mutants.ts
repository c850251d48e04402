// `npm run mutants -- ROOM…`: changes the code of a room at one place after another, and expects a test to fail.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { CORE_SURVIVORS } from './core-survivors.ts';
import { FOLLOW_SURVIVORS } from './follow-survivors.ts';
import { MOVE_SURVIVORS } from './move-survivors.ts';
import { readReport, scoreOf, unexplained } from './report.ts';
import { SOCKET_SURVIVORS } from './socket-survivors.ts';
import { SURVIVORS } from './survivors.ts';
import { WIRE_SURVIVORS } from './wire-survivors.ts';

const USAGE = `npm run mutants -- [--quick] [--every N] [--seeds N] ROOM...
  --quick  with the unit tests of the room's own folder alone, and without the mutants of constants
  --every N  only each Nth mutant
  --seeds N  so many histories of the simulation, in a room over sockets (24)
  ROOM  a folder or a file of src, such as core, core/lag or wire/follow. Its tests are those in the folders of the
        same name in test/unit and test/property.`;
/** The decision, the protocol and the stages of a session: 95 of 100 mutants have to die, elsewhere 90. */
const STRICT = /^(?:core|wire|proxy\/(?:accept|connect|relay))(?:\/|$)/;

const TOP = new URL('../..', import.meta.url).pathname;
/** Stryker and its packages are no dependency of this repository, which all other commands would install. */
const STRYKER = join(TOP, 'node_modules/.cache/mutants');
const PROGRAM = join(STRYKER, 'node_modules/@stryker-mutator/core/bin/stryker.js');

/** Rooms that live on sockets. Their tests over sockets and the simulation judge, too, and no mutant of a constant. */
const OVER_SOCKETS = /^(?:proxy|cluster\/switchover)(?:\/|$)/;
/** Tests that need a program or a process of its own, or that stop all sockets of the process. */
const NOT_IN_PROCESS = new RegExp(
  [
    'support/(?:sandbox/(?:postgres|login-server)|processes|patroni|clusters|applications|moves|containers)',
    'child_process',
    'vanished',
  ].join('|'),
);
const SEEDS = 'test/mutation/seeds.ts';

const { values, positionals: rooms } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    every: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '24' },
  },
});
const isQuick = values.quick;
const overSockets = !isQuick && rooms.some((room) => OVER_SOCKETS.test(room));
const kinds = isQuick ? ['unit'] : ['unit', 'property'];
if (rooms.length === 0) throw new Error(USAGE);
const mutate = rooms.map((room) => {
  if (existsSync(join(TOP, 'src', `${room}.ts`))) return `src/${room}.ts`;
  if (existsSync(join(TOP, 'src', room))) return `src/${room}/**/*.ts`;
  throw new Error(`src/${room} does not exist\n${USAGE}`);
});
const folders = new Set(rooms.map((room) => testsOf(room)));
const MUTANTS_TESTS = [
  ...[...folders].flatMap((folder) => kinds.map((kind) => `test/${kind}/${folder}/**/*.test.ts`)),
  ...(overSockets ? [...rooms.flatMap((room) => inProcess(room)), SEEDS] : []),
].join(',');

install();
const results = readReport(mutated(), Number(values.every));
const left = unexplained(results, [
  ...SURVIVORS,
  ...CORE_SURVIVORS,
  ...FOLLOW_SURVIVORS,
  ...MOVE_SURVIVORS,
  ...SOCKET_SURVIVORS,
  ...WIRE_SURVIVORS,
]);
for (const { file, line, code, mutant } of left) console.log(`${file}:${line}\n  - ${code}\n  + ${mutant}`);
for (const result of results) {
  console.log(`${result.file}: ${scoreOf([result]).toFixed(1)} % of ${result.mutants}, ${result.alive.length} alive`);
}
const score = scoreOf(results);
console.log(`${score.toFixed(1)} % of the mutants died; ${left.length} survivors have no reason in survivors.ts`);
if (score < (rooms.every((room) => STRICT.test(room)) ? 95 : 90) || left.length > 0) process.exitCode = 1;

/** The folder of the tests that run. Beside those of a room over sockets and in a quick run there are no others. */
function testsOf(room: string): string {
  const [wing = room] = room.split('/');
  const nearest = existsSync(join(TOP, 'src', `${room}.ts`)) ? dirname(room) : room;
  return (isQuick || OVER_SOCKETS.test(room)) && existsSync(join(TOP, 'test/unit', nearest)) ? nearest : wing;
}

/** The tests over sockets that need nothing but this process. */
function inProcess(room: string): readonly string[] {
  const folder = existsSync(join(TOP, 'src', `${room}.ts`)) ? dirname(room) : room;
  return globSync(`test/integration/${folder}/**/*.test.ts`, { cwd: TOP })
    .filter((path) => !NOT_IN_PROCESS.test(readFileSync(join(TOP, path), 'utf8')))
    .toSorted();
}

/** It takes vitest from this repository. */
function install(): void {
  mkdirSync(STRYKER, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) {
    cpSync(join(TOP, 'test/mutation', file), join(STRYKER, file));
  }
  if (existsSync(PROGRAM)) return;
  run('npm', ['ci', '--omit=peer', '--ignore-scripts', '--no-audit', '--no-fund'], STRYKER);
}

/** Stryker's report, as JSON. */
function mutated(): string {
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-mutants-'));
  const [config, report] = [join(directory, 'stryker.json'), join(directory, 'report.json')];
  const options = {
    mutate,
    testRunner: 'in-process',
    plugins: ['in-process-runner', 'survivor-reporter'].map((name) => join(TOP, 'test/mutation', `${name}.ts`)),
    // Each load of a file of tests stays in memory.
    maxTestRunnerReuse: 500,
    coverageAnalysis: 'perTest',
    ignoreStatic: isQuick || overSockets,
    warnings: { slow: false },
    // A busy machine kills no mutant.
    timeoutMS: 30_000,
    timeoutFactor: 5,
    dryRunTimeoutMinutes: 30,
    concurrency: 1,
    // It would ask the compiler of another version for it.
    tsconfigFile: 'none',
    tempDirName: join(directory, 'copy'),
    reporters: ['json', 'progress-append-only', 'survivors'],
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
  };
  try {
    writeFileSync(config, JSON.stringify(options));
    run(process.execPath, [PROGRAM, 'run', config], TOP);
    return readFileSync(report, 'utf8');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[], cwd: string): void {
  const env = {
    ...process.env,
    MUTANTS_TESTS,
    MUTANTS_EVERY: values.every,
    MUTANTS_SEEDS: values.seeds,
    MUTANTS_CONSTANTS: String(!isQuick && !overSockets),
  };
  const { status } = spawnSync(program, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
}
