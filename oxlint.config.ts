// The linter's rules. ROOMS is the dependency table of src/README.md: a room imports what its row names, nothing else.
import { defineConfig } from 'oxlint';
import type { OxlintOverride } from 'oxlint';

interface Room {
  /** Rooms that this room may import, type-only imports included. */
  readonly may: readonly string[];
  /** One file alone may be imported of this room. */
  readonly only?: readonly [room: string, file: string];
  /** The rooms above give types alone. */
  readonly isTypesOnly?: true;
  /** Libraries that live in this room. */
  readonly libraries?: readonly string[];
  /** No node:*, no library, no clock, no chance, no I/O. */
  readonly isPure?: true;
}

const CLI_LIBRARIES = 'commander cli-table3 diff eventsource-parser yaml'.split(' ');
/** Each belongs to the rooms that name it, and to `app`. */
const LIBRARIES = ['undici', 'pino', 'prom-client', 'preact', 'uplot', 'playwright-core', 'pg', ...CLI_LIBRARIES];

/** The rooms by wing, in the order of src/README.md. */
export const WINGS: Readonly<Record<string, Readonly<Record<string, Room>>>> = {
  decide: {
    model: { may: [], isPure: true },
    core: { may: ['model'], isPure: true },
    reports: { may: ['model', 'core'], isPure: true },
  },
  watch: {
    http: { may: ['model'], libraries: ['undici'] },
    patroni: { may: ['model', 'http'] },
    discovery: { may: ['model', 'core', 'reports', 'patroni'] },
    monitor: { may: ['model', 'core', 'reports'] },
    kubernetes: { may: ['model', 'http'] },
  },
  serve: {
    wire: { may: ['model'], isPure: true },
    proxy: { may: ['model', 'core', 'reports', 'wire', 'discovery'], only: ['discovery', 'never-contacted'] },
    workers: { may: ['model', 'core', 'reports', 'monitor', 'proxy'], only: ['monitor', 'decider'] },
    verifiers: { may: ['model'], libraries: ['pg'] },
    positions: { may: ['model', 'reports', 'wire'] },
  },
  tell: {
    history: { may: ['model', 'core', 'reports'], isPure: true },
    telemetry: { may: ['model', 'core', 'reports', 'history'], libraries: ['pino', 'prom-client'] },
    incidents: { may: ['model', 'core', 'reports', 'history'] },
    documents: { may: ['model', 'core', 'reports', 'incidents'] },
    admin: {
      may: 'model core reports history incidents documents cluster config'.split(' '),
      only: ['config', 'closest'],
    },
    console: { may: ['model', 'core', 'reports', 'wire', 'documents', 'admin'] },
    page: { may: ['documents'], isTypesOnly: true, libraries: ['preact', 'uplot'] },
  },
  operate: {
    cluster: { may: ['model', 'core', 'reports', 'patroni', 'history', 'documents'] },
    cli: { may: 'model core reports http incidents documents config telemetry cluster'.split(' '), libraries: CLI_LIBRARIES },
  },
  around: {
    branches: { may: ['model', 'http'] },
    branching: { may: ['model', 'core', 'http', 'config', 'branches', 'documents', 'cli'], libraries: ['commander'] },
    platform: {
      may: ['model', 'http', 'config', 'incidents', 'documents', 'cli'],
      libraries: ['yaml', 'playwright-core', 'commander'],
    },
  },
  lab: { sandbox: { may: ['model', 'http', 'patroni'], libraries: LIBRARIES } },
  run: {
    config: { may: ['model'], libraries: ['yaml'] },
    systemd: { may: ['model', 'core', 'reports'] },
  },
};
const ROOMS: Readonly<Record<string, Room>> = Object.assign({}, ...Object.values(WINGS));

/** Folders of test/support that each of them may import: test/README.md. */
export const SUPPORT: Readonly<Record<string, readonly string[]>> = {
  runner: [],
  waiting: [],
  values: [],
  documents: [],
  page: ['values'],
  deploy: ['waiting', 'values'],
  sockets: ['waiting', 'values'],
  fakes: ['waiting', 'values', 'sockets'],
  branches: ['waiting', 'values', 'sockets'],
  platform: ['waiting', 'values', 'fakes', 'branches'],
  sandbox: ['runner', 'waiting', 'values', 'sockets', 'branches', 'platform'],
  patroni: ['runner', 'waiting', 'values', 'sockets'],
  processes: ['waiting', 'values', 'sockets', 'patroni'],
  labs: ['waiting', 'values', 'sockets', 'fakes', 'sandbox', 'processes'],
  clusters: ['runner', 'waiting', 'values', 'sockets', 'sandbox', 'patroni', 'processes'],
  contract: ['waiting', 'patroni', 'clusters'],
  applications: ['runner', 'waiting', 'sockets', 'patroni', 'clusters'],
  containers: ['waiting', 'patroni', 'applications'],
  moves: 'runner waiting values sockets sandbox patroni processes clusters applications'.split(' '),
  browser: ['runner', 'waiting', 'values', 'sockets', 'fakes', 'patroni', 'processes', 'clusters'],
};

/** Lists in these rooms are as long as another program likes. */
const TAKES_OUTSIDE_BYTES =
  'wire verifiers positions proxy http patroni kubernetes branches branching discovery console admin incidents telemetry workers'
    .split(' ')
    .map((room) => `src/${room}/**/*.ts`);
/** These files may import every room. */
const COMPOSITION = ['src/app/**/*.ts', 'src/sandbox/run-sandbox.ts', 'src/sandbox/narration.ts'];
const PROGRAMS = ['main', 'worker-main', 'healthcheck-main', 'index'];
/** The second program, and the file that needs a binding of Node which `process` alone gives. */
const USES_PROCESS = ['src/sandbox/postgres/*.ts', 'src/proxy/plain/internals.ts'];
const WHY = 'Knowledge flows one way (src/README.md).';
const IMPURE = 'Date performance process setTimeout setInterval setImmediate fetch Buffer console'.split(' ');

function noImport(regex: string, message: string): object {
  return { regex, message: `${message} ${WHY}` };
}

const NO_PROGRAM = noImport(`^(?:\\.\\./)+(?:${PROGRAMS.join('|')})\\.ts$`, 'No room imports a program.');
const NO_PROCESS = noImport('^(?:node:)?process$', 'Only the programs in src/ touch process: pass what is needed.');

function rulesOf([name, { may, only, isTypesOnly, libraries = [], isPure }]: [string, Room]): OxlintOverride {
  const others = [...Object.keys(ROOMS), 'app'].filter((other) => other !== name && !may.includes(other));
  const where = (library: string): string =>
    Object.keys(ROOMS)
      .filter((room) => room !== 'sandbox' && ROOMS[room]?.libraries?.includes(library))
      .map((room) => `src/${room}`)
      .join(', ');
  const patterns = [
    noImport(
      `^(?:\\.\\./)+(?:${others.join('|')})/`,
      `src/${name} may import ${may.join(', ') || 'no other room'} only.`,
    ),
    NO_PROGRAM,
    NO_PROCESS,
    // Before the next pattern, whose exception would let it through.
    ...(isTypesOnly ? [{ ...noImport('^(?:\\.\\./)+documents/', 'Types alone.'), allowTypeImports: true }] : []),
    ...(only
      ? [{ group: [`**/${only[0]}/**`, `!**/${only[0]}/${only[1]}.ts`], message: `The ${only[1]} alone. ${WHY}` }]
      : []),
    ...(isPure ? [noImport('^[^.]', `src/${name} is pure: pass what it needs as an argument.`)] : []),
    ...LIBRARIES.filter((library) => !libraries.includes(library)).map((library) =>
      noImport(`^${library}(?:/|$)`, `${library} lives in ${where(library)}.`),
    ),
  ];
  const globals = IMPURE.map((global) => ({
    name: global,
    message: `src/${name} is pure: take it as an argument. ${WHY}`,
  }));
  const chance = {
    object: 'Math',
    property: 'random',
    message: `src/${name} is pure: take a number as an argument. ${WHY}`,
  };
  return {
    files: [`src/${name}/**/*.{ts,tsx}`],
    rules: {
      'no-restricted-imports': ['error', { patterns }],
      ...(isPure && { 'no-restricted-globals': ['error', ...globals], 'no-restricted-properties': ['error', chance] }),
    },
  };
}

function supportRulesOf([folder, may]: [string, readonly string[]]): OxlintOverride {
  const others = Object.keys(SUPPORT).filter((other) => other !== folder && !may.includes(other));
  const regex = `^(?:\\.\\./)+(?:${[...others, 'unit', 'property', 'integration', 'e2e', 'bench'].join('|')})/`;
  const message = `test/support/${folder} may import ${may.join(', ') || 'no other folder'} only (test/README.md).`;
  return {
    files: [`test/support/${folder}/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex, message }] }] },
  };
}

const size = (max: number) => ({ max, skipBlankLines: true, skipComments: true });

export default defineConfig({
  plugins: ['typescript', 'import', 'promise', 'unicorn', 'oxc', 'node'],
  jsPlugins: ['./.oxlint-rules.ts'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { node: true, es2024: true },
  ignorePatterns: ['/deploy', '/dist', 'node_modules'],
  rules: {
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-console': 'error',
    'max-lines': ['error', size(300)],
    'max-lines-per-function': ['error', size(60)],
    'import/no-default-export': 'error',
    'import/no-cycle': 'error',
    'unicorn/prefer-node-protocol': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/no-unnecessary-condition': 'error',
    'typescript/explicit-module-boundary-types': 'error',
    'typescript/no-deprecated': 'error',
    'typescript/prefer-readonly': 'error',
    'no-restricted-globals': [
      'error',
      { name: 'process', message: 'Only the programs in src/ touch process; pass what is needed.' },
    ],
    'no-underscore-dangle': 'off',
    'no-shadow': 'off',
    'no-await-in-loop': 'off',
    'typescript/consistent-return': 'off',
    'consistent-return': 'off',
  },
  overrides: [
    ...Object.entries(ROOMS).map((row) => rulesOf(row)),
    ...Object.entries(SUPPORT).map((row) => supportRulesOf(row)),
    { files: TAKES_OUTSIDE_BYTES, rules: { 'pointsman/no-spread-arguments': 'error' } },
    { files: COMPOSITION, rules: { 'no-restricted-imports': ['error', { patterns: [NO_PROGRAM, NO_PROCESS] }] } },
    { files: ['src/page/**/*.{ts,tsx}'], env: { node: false, browser: true } },
    { files: USES_PROCESS, rules: { 'no-restricted-imports': 'off' } },
    { files: PROGRAMS.map((program) => `src/${program}.ts`), rules: { 'no-restricted-globals': 'off' } },
    // One class has all transitions of a session.
    { files: ['src/proxy/session.ts'], rules: { 'max-lines': ['error', size(320)] } },
    { files: ['src/app/app.ts'], rules: { 'max-lines-per-function': ['error', size(100)] } },
    {
      files: ['test/**/*.ts', '*.config.ts', './.oxlint-rules.ts', '.github/*.ts'],
      rules: {
        'max-lines': ['error', size(320)],
        'max-lines-per-function': 'off',
        'no-restricted-globals': 'off',
        'import/no-default-export': 'off',
        'no-console': 'off',
        'typescript/explicit-module-boundary-types': 'off',
      },
    },
  ],
});
