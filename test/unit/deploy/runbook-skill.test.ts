// The runbook for agents agrees with the program: its commands and options are in --help, its paths in the APIs, its
// words in the sources, and it has every finding, every kind and every reason that an incident can have.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSkill } from '../../../src/platform/skill/read-folder.ts';
import { runCli } from '../../../src/cli/program.ts';
import { anyFinding } from '../../../src/incidents/schema-of-findings.ts';
import { INCIDENT_KINDS, MISSING } from '../../../src/incidents/schema.ts';
import { CLOSE_REASONS } from '../../../src/model/close-reason.ts';
import { commandLines, commandsIn, pointsmanArguments } from '../../support/documents/commands.ts';
import { documents, inlineCode } from '../../support/documents/markdown.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';

const FOLDER = 'deploy/skills/pointsman-runbook';
const PAGES = documents().filter(({ file }) => file.startsWith(FOLDER));
const page = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
/** Everything that a reader may copy: inline code, and the lines of shell blocks. */
const CODES = PAGES.flatMap((document) => inlineCode(document).map((code) => ({ file: document.file, code })));
const SHELL = PAGES.flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'sh')).flatMap(commandLines);

test('the skill can be published, and its name is that of its folder', async () => {
  const read = await readSkill(FOLDER);
  expect(read.kind === 'invalid' ? read.problems : read.kind).toBe('skill');
  if (read.kind === 'skill') expect(read.skill).toMatchObject({ slug: 'pointsman-runbook', slugFrom: 'front matter' });
});

test('SKILL.md names every page of the skill', () => {
  const others = PAGES.map(({ file }) => file.slice(FOLDER.length + 1)).filter((file) => file !== 'SKILL.md');
  expect(others.length).toBeGreaterThan(4);
  expect(others.filter((file) => !page('SKILL.md').includes(`](${file}`))).toEqual([]);
});

async function helpOf(command: readonly string[]): Promise<string> {
  let out = '';
  const io = { env: {}, stdout: (text: string) => void (out += text), stderr: () => {} };
  await runCli([...command, '--help'], io, cliParts());
  return out;
}

function pathOf(written: string): string {
  return (written.split('?')[0] ?? '').replace('/incidents/latest', '/incidents/ID');
}

function codesOf(name: string): ReadonlySet<string> {
  return new Set(CODES.filter(({ file }) => file.endsWith(name)).map(({ code }) => code));
}

/** The names of commands at the start of the arguments: `cluster config set`. */
async function commandOf(given: readonly string[]): Promise<readonly string[]> {
  const path: string[] = [];
  for (const word of given) {
    const [, listed = ''] = /^Commands:\n((?: .*\n?)*)/m.exec(await helpOf(path)) ?? [];
    const names = [...listed.matchAll(/^ {2}([a-z][a-z|-]*)/gm)].flatMap(([, name = '']) => name.split('|'));
    if (!names.includes(word)) break;
    path.push(word);
  }
  return path;
}

describe('commands', () => {
  const calls = [
    ...SHELL.map(({ file, words }) => ({ file, words })),
    ...CODES.filter(({ code }) => code.startsWith('pointsman ')).flatMap(({ file, code }) =>
      commandsIn(code).map((words) => ({ file, words })),
    ),
  ].flatMap(({ file, words }) => {
    const given = pointsmanArguments(words);
    return given === undefined ? [] : [{ file, given }];
  });

  test('there are many', () => {
    expect(calls.length).toBeGreaterThan(60);
  });

  test.each([...new Map(calls.map((call) => [call.given.join(' '), call])).values()])(
    '$file: $given is in --help',
    async ({ given }) => {
      const path = await commandOf(given);
      expect(path.length, `pointsman ${given.join(' ')} is no command`).toBeGreaterThan(0);
      const help = await helpOf(path);
      const isGroup = help.includes('\nCommands:\n') && !help.includes('\nArguments:\n');
      const rest = given.slice(path.length);
      // A group may be a command as well, with options: `sessions --pool write`.
      if (isGroup) expect(rest[0] ?? '').toMatch(/^(?:--|$)/);
      const options = rest.filter((word) => /^--?[a-z]/.test(word));
      expect(options.filter((option) => !new RegExp(`(?:^|[\\s,])${option}(?:[\\s,=]|$)`, 'm').test(help))).toEqual([]);
    },
  );

  test('those that change something are in the list of a person, and never in that of safe ones', () => {
    const [, safe = '', unsafe = ''] = /## Safe: [^\n]*\n(.*?)## A person runs these\n(.*?)\n## /s.exec(
      page('SKILL.md'),
    ) ?? ['', '', ''];
    const ofCluster = 'switchover|failover|restart|reinit|reload|pause|resume|cancel|config (?:set|edit|replace)';
    const changing = new RegExp(
      `pointsman (?:cluster (?:${ofCluster})|accept \\w|switchover|drain|resume|kill|reload)`,
    );
    const inSafe = [...safe.matchAll(/`(pointsman [^`]+)`/g)].map(([, command = '']) => command);
    expect(inSafe.length).toBeGreaterThan(12);
    expect(inSafe.filter((command) => changing.test(command) && !command.includes('--dry-run'))).toEqual([]);
    for (const one of ['failover', 'reinit', 'config replace', 'pause']) expect(unsafe).toContain(`cluster ${one}`);
    expect([...unsafe.matchAll(/`(pointsman [^`]+)`/g)].map(([, command = '']) => command)).not.toContain(
      expect.stringContaining('--yes'),
    );
  });
});

describe('paths', () => {
  const openapi: { paths: Record<string, Record<string, unknown>> } = JSON.parse(
    readFileSync('deploy/admin-api.openapi.json', 'utf8'),
  );
  const ADMIN = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'ID')}`),
  );
  /** Paths of the management API: deploy/skills may name these. Source: the management API, "Endpoints". */
  const MANAGEMENT = [
    'GET /manager',
    'GET /cluster',
    'GET /history',
    'GET /config',
    'PATCH /config',
    'PUT /config',
    'POST /restart',
    'POST /reload',
    'POST /switchover',
    'POST /failover',
    'POST /reinitialize',
  ];

  test('each request in the text is one of the admin API or of the management API', () => {
    const requests = CODES.filter(({ code }) => /^(?:GET|POST|PUT|PATCH|DELETE) \//.test(code));
    expect(requests.length).toBeGreaterThan(10);
    const known = new Set([...ADMIN, ...MANAGEMENT]);
    expect(requests.filter(({ code }) => !known.has(pathOf(code)))).toEqual([]);
  });

  test('each curl reads a path of the API that has this port', () => {
    const urls = PAGES.flatMap(({ text }) => [...text.matchAll(/curl -s '?http:\/\/[\d.]+:(\d+)(\/[^\s'`]*)/g)]);
    expect(urls.length).toBeGreaterThan(2);
    for (const [, port, path = ''] of urls) {
      expect(port === '8432' ? ADMIN : MANAGEMENT).toContain(`GET ${pathOf(path)}`);
    }
    expect(PAGES.filter(({ text }) => /curl[^\n]*-X|curl[^\n]* -d/.test(text))).toEqual([]);
  });
});

describe('words', () => {
  test('every finding, kind, gap and cause of an incident is explained', () => {
    const codes = codesOf('references/incident.md');
    const findings = anyFinding.options.map(({ shape }) => shape.finding.value);
    const plans = [
      'pointsman_switchover',
      'pointsman_restart',
      'scheduled_switchover',
      'operator_drain',
      'cluster_manager',
    ];
    const causes = ['starting', 'no_member', 'two_primaries', 'drained', 'switchover', 'restart'];
    const all = [...findings, ...INCIDENT_KINDS, ...MISSING, ...plans, ...causes, 'open', 'keep', 'leave'];
    expect(all.filter((word) => !codes.has(word))).toEqual([]);
  });

  test('every reason for which a session on a member is cut is explained, and every refusal', () => {
    const codes = codesOf('references/incident.md');
    /** Ends by the client, requests to cancel, logins and mistakes of a client, and those of branches. */
    const others =
      /^(?:client_|cancel_|no_startup|startup_|not_postgres|unsupported|tls_|unknown_|login_|password_|binding)|branch/;
    expect(Object.keys(CLOSE_REASONS).filter((reason) => !others.test(reason) && !codes.has(reason))).toEqual([]);
  });

  test('the words of `pointsman explain` are quoted as they are', () => {
    const sources = globSync('src/{core/{describe,standing,why},admin/places}.ts').map((file) =>
      readFileSync(file, 'utf8'),
    );
    const [, table = ''] = /## Words of pointsman explain\n(.*?)\n## /s.exec(page('references/diagnose.md')) ?? [];
    const quoted = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words),
    );
    expect(quoted.length).toBeGreaterThan(18);
    expect(quoted.filter((words) => !sources.some((source) => source.includes(words)))).toEqual([]);
  });

  test('the parts of the text of an incident have these titles', () => {
    const source = readFileSync('src/incidents/incident-text.ts', 'utf8');
    const titles = ['What happened', 'Sessions that were cut', 'What is unknown, and why', 'Before', 'During', 'After'];
    expect(titles.filter((title) => !source.includes(`'${title}'`))).toEqual([]);
    const codes = codesOf('references/incident.md');
    expect(titles.filter((title) => !codes.has(`## ${title}`))).toEqual([]);
  });

  test('the label on the status page is that of the page', () => {
    expect(page('SKILL.md')).toContain('`Switch over …`');
    expect(readFileSync('src/page/operate/operation-buttons.tsx', 'utf8')).toContain('Switch over …');
  });

  test('the parameters with an order are those that the program orders', () => {
    const source = readFileSync('src/cluster/restart-order.ts', 'utf8');
    const [, list = ''] = /LIMITED\b[^=]*= new Map\(\[([^;]*)\]\)/.exec(source) ?? [];
    const limited = [...list.matchAll(/\['(\w+)'/g)];
    const listed = [...page('references/parameters.md').matchAll(/^- `(\w+)`$/gm)].map(([, name]) => name);
    expect(limited.length).toBe(5);
    expect(listed).toEqual(limited.map(([, name]) => name));
  });
});
