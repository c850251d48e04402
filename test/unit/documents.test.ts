// The documents agree with the program: their links, anchors, settings, variables, metrics, codes and configurations
// exist. test/integration/deploy/documents.test.ts runs their commands.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblems } from '../../src/config/fault.ts';
import { alternatives, fileShape } from '../../src/config/schema/shape.ts';
import type { Shape } from '../../src/config/schema/shape.ts';
import { SUPPORT, WINGS } from '../../oxlint.config.ts';
import { CLOSE_REASONS } from '../../src/model/close-reason.ts';
import { anchors, documents, inlineCode, internalLinks, TOP } from '../support/documents/markdown.ts';
import type { Document } from '../support/documents/markdown.ts';

const DOCUMENTS = documents();
/** The pages for users. The others (src, test) describe the code. */
const PAGES = DOCUMENTS.filter(({ file }) => !/^(?:src|test)\//.test(file));
const WIDTH = 120;
const CHART = 'deploy/kubernetes/chart/values.schema.json';

const named = (file: string): Document => {
  const found = DOCUMENTS.find((document) => document.file === file);
  if (found === undefined) throw new Error(`there is no ${file}`);
  return found;
};

/** A page that is longer is read once, by its author. */
test.each([
  ['README.md', 140],
  ['src/README.md', 250],
])('%s has at most %i lines', (file, most) => {
  expect(named(file).text.trimEnd().split('\n').length).toBeLessThanOrEqual(most);
});

test('the map of the code has the import table of the linter, wing by wing', () => {
  const rows = named('src/README.md').prose.flatMap((line) => {
    const [, room = '', may] = /^\| (?:\*\*\w+\*\*)? ?\| `([a-z]+)\/` \|.*\| ([^|]*) \|$/.exec(line) ?? [];
    return may === undefined ? [] : [[room, may.split(', ').filter(Boolean)] as const];
  });
  const rooms = Object.values(WINGS).flatMap((wing) => Object.entries(wing).map(([room, { may }]) => [room, may]));
  expect(rows).toEqual([...rooms, ['app', ['every room']]]);
});

test('the map of the tests has the walls of the linter', () => {
  const { prose } = named('test/README.md');
  const rows = prose.slice(prose.findIndex((line) => line.startsWith('## `support/`'))).flatMap((line) => {
    const [, folder = '', may] = /^\| `([a-z]+)\/` \|[^|]*\| ([^|]*)\|$/.exec(line) ?? [];
    return may === undefined ? [] : [[folder, may.trim().split(', ').filter(Boolean)] as const];
  });
  expect(rows).toEqual(Object.entries(SUPPORT));
});

test('no line of a page is too long, code included, except tables, links and terminal output', () => {
  const long = [...PAGES, named('test/bench/README.md')].flatMap(({ file, text, blocks }) => {
    const recorded = new Set(blocks.filter((block) => block.isRecorded).flatMap((block) => block.text.split('\n')));
    return text.split('\n').flatMap((line, index) => {
      const isExcepted = line.startsWith('|') || /^\s*(?:- )?\[[^\]]*\]\([^)]*\)/.test(line) || recorded.has(line);
      return line.length <= WIDTH || isExcepted ? [] : [`${file}:${index + 1}`];
    });
  });
  expect(long).toEqual([]);
});

test('every file that a page about the code names exists', () => {
  const pages = DOCUMENTS.filter(({ file }) => file.startsWith('src/'));
  expect(pages.length).toBeGreaterThan(10);
  const gone = pages.flatMap((page) => {
    const [room] = /^src\/[a-z]+\//.exec(page.file) ?? ['src/'];
    return inlineCode(page)
      .filter((code) => /^(?:[a-z]+\/)?(?:[\w-]+\/)*[\w-]+\.(?:ts|md)$/.test(code) && !code.startsWith('dist/'))
      .filter((code) =>
        // A name without a folder is of the page's own room.
        code.includes('/')
          ? !existsSync(join(TOP, 'src', code)) && !existsSync(join(TOP, code))
          : globSync(`${room}**/${code}`, { cwd: TOP }).length === 0,
      )
      .map((code) => `${page.file}: ${code}`);
  });
  expect(gone).toEqual([]);
});

test('the page of a room names each of its folders', () => {
  const pages = DOCUMENTS.filter(({ file }) => /^src\/[a-z]+\/README\.md$/.test(file));
  expect(pages.length).toBeGreaterThan(10);
  const unnamed = pages.flatMap(({ file, text }) => {
    const folders = globSync(`${dirname(file)}/*/`, { cwd: TOP }).map((folder) => basename(folder));
    return folders.filter((folder) => !text.includes(`${folder}/`)).map((folder) => `${file}: ${folder}/`);
  });
  expect(unnamed).toEqual([]);
});

test('the reading order of core/ has each of its files', () => {
  const names = new Set(inlineCode(named('src/core/README.md')));
  const files = globSync('src/core/*.ts', { cwd: TOP }).map((file) => basename(file, '.ts'));
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !names.has(file))).toEqual([]);
});

test('every method that a page about the code names exists', () => {
  const sources = globSync('src/**/*.{ts,tsx}', { cwd: TOP }).map((file) => readFileSync(join(TOP, file), 'utf8'));
  const named = DOCUMENTS.filter(({ file }) => file.startsWith('src/')).flatMap((page) => {
    const pictures = page.blocks.filter(({ language }) => language === '').flatMap(({ text }) => text.split(/\s+/));
    return [...inlineCode(page), ...pictures].flatMap((code) => {
      const [, type, method] = /^([A-Z]\w+)\.(#?[a-z]\w+)$/.exec(code) ?? [];
      return type === undefined ? [] : [{ code: `${page.file}: ${code}`, type, method }];
    });
  });
  expect(named.length).toBeGreaterThan(5);
  const gone = named.filter(({ type, method }) => {
    const own = sources.filter((text) => new RegExp(`^export (?:class|interface) ${type}\\b`, 'm').test(text));
    return !own.some((text) => new RegExp(`^ {2}(?:readonly |async |static )?${method}\\b`, 'm').test(text));
  });
  expect(gone.map(({ code }) => code)).toEqual([]);
});

/** Tables of renamed things begin with the old name. */
function withoutOldNames(document: Document): Document {
  return { ...document, prose: document.prose.map((line) => line.replace(/^\| (?:`[^`]+`(?:, )?)+ \|/, '|')) };
}

/** The program itself writes these pages (telemetry/reference.test.ts, incidents/reference.test.ts). */
const GENERATED = ['deploy/metrics.md', 'deploy/log-events.md', 'deploy/incidents.md'];

test('every link and anchor within the repository has a target', () => {
  const broken = DOCUMENTS.flatMap((document) =>
    internalLinks(document).flatMap(({ written, file, anchor }) => {
      const target = DOCUMENTS.find((candidate) => candidate.file === file);
      if (!existsSync(join(TOP, file))) return [`${document.file}: ${written}: no such file`];
      const isAnchored = anchor === '' || target === undefined || anchors(target).has(anchor);
      return isAnchored ? [] : [`${document.file}: ${written}: no such heading`];
    }),
  );
  expect(broken).toEqual([]);
});

const topKeys = (text: string): readonly string[] => text.match(/^[\w.]+(?=:)/gm) ?? [];

describe('configurations', () => {
  /** Files in a snippet, and their replacements here. */
  const FILES: Readonly<Record<string, string>> = {
    '/etc/pointsman/tls.crt': 'server.pem',
    '/etc/pointsman/tls.key': 'server.key',
    '/etc/pointsman/ca.crt': 'ca.pem',
    '/etc/pointsman/client.crt': 'server.pem',
    '/etc/pointsman/client.key': 'server.key',
    '/etc/pointsman/password': 'server.key',
  };
  const sections = new Set(alternatives(fileShape).flatMap(({ properties }) => [...properties.keys()]));
  const blocks = DOCUMENTS.flatMap((document) => document.blocks.filter(({ language }) => language === 'yaml'));
  const ours = blocks.filter(({ text }) => topKeys(text).every((key) => sections.has(key)));

  test('a block without a Pointsman configuration has values of its chart', () => {
    const schema: { properties: object } = JSON.parse(readFileSync(join(TOP, CHART), 'utf8'));
    const others = blocks.filter((block) => !ours.includes(block));
    const unknown = others.flatMap(({ file, line, text }) =>
      topKeys(text)
        .filter((key) => !Object.hasOwn(schema.properties, key))
        .map((key) => `${file}:${line}: ${key}`),
    );
    expect(unknown).toEqual([]);
  });

  test.each(ours.map((block) => [`${block.file}:${block.line}`, block.text] as const))('%s loads', (name, text) => {
    const known = text.replaceAll(/\/etc\/pointsman\/[\w.]+/g, (path) => {
      const fixture = FILES[path];
      return fixture === undefined ? path : join(TOP, 'test/fixtures/tls', fixture);
    });
    const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
    const loaded = loadConfig({ file: name, env, readFile: () => known });
    expect(loaded.kind === 'ok' ? loaded.warnings : formatProblems(loaded.problems)).toEqual([]);
  });
});

describe('names', () => {
  const leaves = settings(fileShape, []);
  const SECTIONS = new Set(leaves.map((path) => path.split('.')[0]));
  test('every setting in the text exists', () => {
    // The fields of an incident look like settings.
    const unknown = PAGES.filter(({ file }) => file !== 'deploy/incidents.md').flatMap((document) =>
      inlineCode(document).flatMap((code) => {
        const [path = ''] = code.split(':');
        const isSetting =
          /^[a-z]+(?:\.\w+)+$/.test(path) && SECTIONS.has(path.split('.')[0]) && !path.endsWith('.yaml');
        const isKnown = leaves.some(
          (leaf) => leaf === path || leaf.startsWith(`${path}.`) || leaf.endsWith(`.${path}`),
        );
        return !isSetting || isKnown ? [] : [`${document.file}: ${path}`];
      }),
    );
    expect(unknown).toEqual([]);
  });

  test('every variable in the text belongs to a setting', () => {
    const variables = new Set([...leaves.map(variableOf), 'POINTSMAN_CONFIG', 'POINTSMAN_IMAGE']);
    const unknown = PAGES.flatMap(({ file, text }) =>
      [...text.matchAll(/\bPOINTSMAN_[A-Z0-9_]*[A-Z0-9]\b/g)]
        .map(([name]) => name.replace(/_\d+_/, '_*_'))
        .filter((name) => !variables.has(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test('every other name with an underscore is known to the program, or to another one', () => {
    const sources = globSync(['src/**/*.ts', 'deploy/**/*.{yaml,sh,sql,ini,cfg}', 'deploy/compose/**'], { cwd: TOP })
      .filter((file) => /\.\w+$|Dockerfile$/.test(file))
      .map((file) => readFileSync(join(TOP, file), 'utf8'));
    const words = new Set(sources.flatMap((text) => text.match(/\w+/g) ?? []));
    for (const leaf of leaves) for (const part of leaf.split('.')) words.add(part);
    for (const reason of Object.keys(CLOSE_REASONS)) words.add(reason);
    const unknown = PAGES.filter(({ file }) => !GENERATED.includes(file)).flatMap((document) =>
      inlineCode(withoutOldNames(document)).flatMap((code) =>
        (code.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [])
          .filter((word) => !words.has(word) && !FOREIGN.has(word))
          .map((word) => `${document.file}: ${word}`),
      ),
    );
    expect(unknown).toEqual([]);
  });
});

test('troubleshooting.md quotes `pointsman explain` word for word', () => {
  const page = named('deploy/troubleshooting.md');
  const sources = ['describe', 'standing', 'why'].map((name) => readFileSync(join(TOP, `src/core/${name}.ts`), 'utf8'));
  const rows = page.prose.filter((line) => line.startsWith('| `')).map((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? '');
  const quoted = rows.filter((text) => !text.startsWith('pointsman '));
  expect(quoted.length).toBeGreaterThan(8);
  expect(quoted.filter((text) => !sources.some((source) => source.includes(text)))).toEqual([]);
});

/** Names of PostgreSQL, its drivers, PgBouncer, keepalived and the kernel, metrics of prom-client, API fields. */
const FOREIGN: ReadonlySet<string> = new Set([
  'advert_int',
  'auth_query',
  'channel_binding',
  'cl_waiting',
  'connect_timeout',
  'default_pool_size',
  'inet_server_addr',
  'listen_addresses',
  'load_balance_hosts',
  'on_role_change',
  'on_start',
  'pg_advisory_xact_lock',
  'pg_backend_pid',
  'pg_basebackup',
  'pg_dump',
  'pg_hba',
  'pg_is_in_recovery',
  'pg_isready',
  'pg_receivewal',
  'pg_recvlogical',
  'pg_rewind',
  'pg_stat_activity',
  'pg_stat_replication',
  'pg_stat_ssl',
  'pg_stat_statements',
  'pg_upgrade',
  'pool_mode',
  'process_max_fds',
  'process_open_fds',
  'query_wait_timeout',
  'receive_lag',
  'receive_lsn',
  'remote_apply',
  'reserve_pool_size',
  'server_check_delay',
  'server_check_query',
  'server_connect_timeout',
  'server_fast_close',
  'server_login_retry',
  'server_settings',
  'server_tls_sslmode',
  'synchronous_commit',
  'target_session_attrs',
  'tcp_keepalive',
  'tcp_keepidle',
  'tcp_migrate_req',
  'unix_socket_dir',
  'verify_client',
]);

const isEviction = (reason: string): boolean => reason.startsWith('evicted_');

describe('errors.md', () => {
  const page = named('deploy/errors.md');
  const [, ...parts] = page.text.split(/^## /m);
  const sections = parts.flatMap((part) => {
    const [title = '', ...reasons] = part.split(/^### /m);
    return reasons.map((text) => ({ title: title.split('\n', 1)[0], reason: text.split('\n', 1)[0] ?? '', text }));
  });
  const rows = page.prose.flatMap((line) => {
    const [, code, reasons = ''] = /^\| `(\w{5})` \|[^|]*\|([^|]*)\|/.exec(line) ?? [];
    return code === undefined
      ? []
      : [{ code, reasons: [...reasons.matchAll(/\]\(#(\w+)\)/g)].map(([, name]) => name) }];
  });

  test('has a heading for every close reason, and no other heading', () => {
    expect(sections.map(({ reason }) => reason).toSorted()).toEqual(Object.keys(CLOSE_REASONS).toSorted());
  });

  test.each(Object.entries(CLOSE_REASONS))('%s: when it ends a session, and what its client reads', (reason, facts) => {
    const { sqlState, phase, told } = facts;
    const section = sections.find((one) => one.reason === reason);
    const refused = phase === 'startup' ? 'Refused before the session began' : 'Ended after the session began';
    expect(section?.title).toBe(told === 'never' ? 'No error is sent' : refused);
    // The others depend on the state of the session: its end, or its refusal.
    const others = told === 'by_server' ? ['57P03', '57P01', '08006'] : reason === 'shutdown' ? ['57P03'] : [];
    const codes = rows.flatMap(({ code, reasons }) => (reasons.includes(reason) ? [code] : []));
    if (sqlState === undefined && told !== 'by_server') expect(codes).toEqual([]);
    else if (isEviction(reason)) expect(rows.find(({ code }) => code === sqlState)?.reasons).toContain('evicted_dead');
    else if (sqlState !== undefined) expect(codes).toContain(sqlState);
    expect(codes.filter((code) => code !== sqlState && !others.includes(code))).toEqual([]);
    if (sqlState !== undefined && !isEviction(reason) && reason !== 'too_old') {
      expect(section?.text).toContain(`\`${sqlState}\``);
    }
  });
});

test('the changelog has the version of the package', () => {
  const { version }: { version: string } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
  expect(named('.github/CHANGELOG.md').text).toContain(`## ${version}`);
  expect(named('README.md').text).toContain(`Version ${version}`);
});

/** The path of every setting; `*` stands for the name of a pool or the number of an item. */
function settings(shape: Shape, path: readonly string[]): readonly string[] {
  return alternatives(shape).flatMap((one) => {
    const inner = one.values ?? one.items;
    const hasPlainValues = one.values !== undefined && one.values.kind !== 'map';
    const own = one.kind === 'map' && !hasPlainValues ? [] : [path.join('.')];
    const of = inner === undefined || inner.kind !== 'map' ? [] : settings(inner, [...path, '*']);
    return [...own, ...of, ...[...one.properties].flatMap(([key, child]) => settings(child, [...path, key]))];
  });
}

function variableOf(path: string): string {
  return `POINTSMAN_${path.toUpperCase().replaceAll('.', '_')}`;
}
