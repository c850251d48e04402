// Targets to branches: id, name and slug, the branches that may be routed, and their addresses.
import { expect, test } from 'vitest';
import { indexBranches, slugOf } from '../../../src/branches/resolve.ts';
import type { Branch, BranchAccess, BranchesPolicy } from '../../../src/model/branch.ts';
import { ROOT, branch, branchesPolicy } from '../../support/values/branch-lists.ts';

function lookup(
  list: readonly Branch[],
  target: string,
  policy: BranchesPolicy = branchesPolicy(),
  access: BranchAccess = 'write',
) {
  return indexBranches(list, policy).lookup(target, access);
}

function at(host: string, rule: string, port = 5432) {
  return { kind: 'found', backend: { address: { host, port }, rule, tls: 'off' } };
}

test.each([
  ['feat/login-2', 'feat-login-2'],
  ['Feature/ABC_1', 'feature-abc-1'],
  ['--pr.1--', 'pr-1'],
  ['a//b', 'a--b'],
  ['größe', 'gr--e'],
  ['a😀b', 'a-b'],
  ['///', ''],
  ['x'.repeat(80), 'x'.repeat(63)],
  [`${'x'.repeat(62)}/y`, 'x'.repeat(62)],
])('the slug of %s is %s, as in GitLab', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

const LOGIN = branch('br-1', { name: 'feat/login-2' });

test.each(['br-1', 'feat/login-2', 'feat-login-2'])('a branch is found by %s', (target) => {
  expect(lookup([ROOT, LOGIN], target)).toMatchObject({ ...at('br-1.test', 'template'), branch: LOGIN });
});

test.each(['br-2', 'feat', 'Feat-login-2', 'FEAT/LOGIN-2', '', '*', 'feat-login-', '__proto__', 'constructor'])(
  'no branch is guessed for "%s"',
  (target) => {
    expect(lookup([ROOT, LOGIN], target)).toEqual({ kind: 'unknown' });
  },
);

test('an id comes before a name, and a name before a slug', () => {
  const [one, two, three] = [branch('a/b'), branch('br-2', { name: 'a/b' }), branch('br-3', { name: 'a-b' })];
  const index = indexBranches([three, two, one], branchesPolicy());
  expect(index.match('a/b')).toEqual({ by: 'id', branches: [one] });
  expect(index.match('a-b')).toEqual({ by: 'name', branches: [three] });
  expect(index.match('br-2')).toEqual({ by: 'id', branches: [two] });
});

test('two branches with one name, or with one slug, are refused with their ids', () => {
  const named = [branch('br-1', { name: 'x' }), branch('br-2', { name: 'x' })];
  expect(lookup(named, 'x')).toEqual({ kind: 'ambiguous', ids: ['br-1', 'br-2'] });
  expect(lookup(named, 'br-2')).toMatchObject({ kind: 'found' });
  const slugs = [branch('br-1', { name: 'x/y' }), branch('br-2', { name: 'x.y' })];
  expect(lookup(slugs, 'x-y')).toEqual({ kind: 'ambiguous', ids: ['br-1', 'br-2'] });
  expect(lookup(slugs, 'x.y')).toMatchObject({ kind: 'found' });
});

test('an id that the list repeats is one branch', () => {
  expect(lookup([LOGIN, { ...LOGIN }], 'feat/login-2')).toMatchObject({ kind: 'found' });
});

test.each([
  [undefined, 'main', 'root'],
  [undefined, 'pr-1', undefined],
  [['*'], 'main', 'root'],
  [['*'], 'pr-1', undefined],
  [['main'], 'main', undefined],
  [['pr-*'], 'main', 'root'],
  [['pr-*'], 'pr-1', undefined],
  [['pr-*'], 'tables', 'root'],
  [['tab*'], 'tables', undefined],
  [['pr-*'], 'dev', 'allow'],
  [['d*v', 'x'], 'dev', undefined],
  [['d.v'], 'dev', 'allow'],
  [['pr'], 'pr-1', 'allow'],
  [['PR-*'], 'pr-1', 'allow'],
  [['*-*'], 'pr-1', undefined],
])('allow %j and branch %s: %s', (allow, name, why) => {
  const tables = branch('br-tables', { parentId: undefined });
  const list = [ROOT, branch('br-pr-1'), branch('br-dev'), tables];
  const found = lookup(list, name, branchesPolicy({ allow }));
  expect(found).toMatchObject(why === undefined ? { kind: 'found' } : { kind: 'not_allowed', why, branch: { name } });
});

test('the id of a branch does not get around the rule for its name', () => {
  expect(lookup([branch('br-dev')], 'br-dev', branchesPolicy({ allow: ['br-*'] }))).toMatchObject({ why: 'allow' });
});

const READ = { template: { host: '{name}.rw', port: 1 }, readTemplate: { host: '{slug}.ro', port: 2 } };

test.each([
  ['write', true, at('pr-1.rw', 'template', 1)],
  ['read', true, at('pr-1.ro', 'read_template', 2)],
  ['read', false, at('pr-1.rw', 'template', 1)],
  ['read', undefined, at('pr-1.rw', 'template', 1)],
] as const)('%s with a read endpoint %s', (access, hasReadEndpoint, expected) => {
  const policy = branchesPolicy({ backends: READ });
  expect(lookup([branch('br-pr-1', { hasReadEndpoint })], 'pr-1', policy, access)).toMatchObject(expected);
});

const address = (port: number) => ({ host: '10.0.0.9', port });

test('an override by id comes before one by name, and both before the templates', () => {
  const overrides = new Map([
    ['br-1', address(1)],
    ['one', address(2)],
    ['two', address(3)],
  ]);
  const policy = branchesPolicy({ backends: { ...READ, overrides, tls: 'require' } });
  const list = [branch('br-1', { name: 'one' }), branch('br-2', { name: 'two', hasReadEndpoint: true })];
  expect(lookup(list, 'one', policy)).toMatchObject({
    backend: { address: address(1), rule: 'override', tls: 'require' },
  });
  expect(lookup(list, 'two', policy, 'read')).toMatchObject({ backend: { address: address(3), rule: 'override' } });
});

test('a read override comes before everything else on a listener for reads, and nowhere else', () => {
  const [overrides, readOverrides] = [new Map([['br-1', address(1)]]), new Map([['one', address(2)]])];
  const list = [branch('br-1', { name: 'one' }), branch('br-2', { name: 'two', hasReadEndpoint: true })];
  const both = branchesPolicy({ backends: { ...READ, overrides, readOverrides } });
  const rules = (target: string, access: BranchAccess) => lookup(list, target, both, access);
  expect(rules('one', 'read')).toMatchObject({ backend: { address: address(2), rule: 'read_override' } });
  expect(rules('one', 'write')).toMatchObject({ backend: { address: address(1), rule: 'override' } });
  expect(rules('two', 'read')).toMatchObject({ backend: { rule: 'read_template' } });
  const alone = branchesPolicy({ backends: { template: undefined, readOverrides } });
  expect(lookup(list, 'one', alone, 'write')).toMatchObject({ kind: 'no_backend' });
});

test.each([
  ['{name}.test', { name: 'feat/login' }, 'its name "feat/login" cannot be part of a host name; use {slug} or {id}'],
  ['{name}.test', { name: '.a' }, 'cannot be part of a host name'],
  ['{name}.test', { name: 'a.' }, 'cannot be part of a host name'],
  ['{name}.test', { name: 'a\nb' }, 'its name "a b" cannot be part'],
  ['{slug}.test', { name: '///' }, 'its slug "" cannot be part of a host name; use {id}'],
  ['{id}.test', { id: 'a/b' }, 'its id "a/b" cannot be part of a host name; use branches.backends.overrides'],
  ['{name}', { name: 'db.example.org' }, 'cannot be part of a host name'],
  ['{name}.svc.cluster.local', { name: 'secrets.vault' }, 'cannot be part of a host name; use {slug} or {id}'],
  ['{name}.test', { name: '-a' }, '"-a.test" is not a host name'],
  ['{name}.test', { name: 'x'.repeat(64) }, 'is not a host name'],
  ['{name}', { name: '2130706433' }, '"2130706433" is not a host name'],
  ['{name}', { name: '0x7f000001' }, '"0x7f000001" is not a host name'],
])('%s gives no address to %j', (host, fields, why) => {
  const one = branch('br-1', fields);
  const found = lookup([one], one.id, branchesPolicy({ backends: { template: { host, port: 5432 } } }));
  expect(found).toMatchObject({ kind: 'no_backend', why: expect.stringContaining(why) });
});

test('the slug of a name with dots has none', () => {
  const one = branch('br-1', { name: 'v1.2' });
  const policy = branchesPolicy({ backends: { template: { host: '{slug}.test', port: 5432 } } });
  expect(lookup([one], 'v1.2', policy)).toMatchObject(at('v1-2.test', 'template'));
});

test('without a template a branch needs an override', () => {
  const policy = branchesPolicy({ backends: { template: undefined } });
  expect(lookup([LOGIN], 'br-1', policy)).toMatchObject({
    kind: 'no_backend',
    why: 'it has no entry in branches.backends.overrides, and there is no branches.backends.template',
  });
});

test('an address that two branches would share is the address of neither', () => {
  const list = [branch('br-1', { name: 'a/b' }), branch('br-2', { name: 'A.B' }), branch('br-3', { name: 'c' })];
  const policy = branchesPolicy({ backends: { template: { host: '{slug}.test', port: 5432 } } });
  for (const id of ['br-1', 'br-2']) {
    expect(lookup(list, id, policy)).toMatchObject({
      kind: 'no_backend',
      why: expect.stringContaining('branches.backends.template gives it the address of branch'),
    });
  }
  expect(lookup(list, 'br-3', policy)).toMatchObject(at('c.test', 'template'));
});

test('DNS ignores case: names that differ in case alone share an address', () => {
  const list = [branch('br-1', { name: 'PR-1' }), branch('br-2', { name: 'pr-1' })];
  const policy = branchesPolicy({ backends: { template: { host: '{name}.test', port: 5432 } } });
  expect(lookup(list, 'PR-1', policy)).toMatchObject({ kind: 'no_backend' });
});

test('the read address of one branch is not the address of another one', () => {
  const list = [branch('br-1', { name: 'a', hasReadEndpoint: true }), branch('br-2', { name: 'a-ro' })];
  const backends = { template: { host: '{name}.test', port: 1 }, readTemplate: { host: '{name}-ro.test', port: 1 } };
  expect(lookup(list, 'a', branchesPolicy({ backends }), 'read')).toMatchObject({ kind: 'no_backend' });
  expect(lookup(list, 'a', branchesPolicy({ backends }), 'write')).toMatchObject({ kind: 'found' });
});

test('an override by id takes an address for its branch alone', () => {
  const overrides = new Map([['br-1', { host: 'b.test', port: 5432 }]]);
  const policy = branchesPolicy({ backends: { template: { host: '{name}.test', port: 5432 }, overrides } });
  const list = [branch('br-1', { name: 'a' }), branch('br-2', { name: 'b' })];
  expect(lookup(list, 'a', policy)).toMatchObject({ kind: 'found', backend: { rule: 'override' } });
  expect(lookup(list, 'b', policy)).toMatchObject({ kind: 'no_backend' });
});

test('the source static knows no roots and has the addresses itself', () => {
  const addresses = new Map([['pr-1', { host: '10.0.0.9', port: 55_432 }]]);
  const source = { kind: 'static', branches: addresses } as const;
  const list = [branch('pr-1', { parentId: undefined })];
  expect(lookup(list, 'pr-1', branchesPolicy({ source }))).toMatchObject(at('10.0.0.9', 'static', 55_432));
  expect(lookup(list, 'pr-1', branchesPolicy({ source, allow: ['dev-*'] }))).toMatchObject({ why: 'allow' });
});
