// The rules of causal reads: each error names what is missing, and the line to write.
import { expect, test } from 'vitest';
import { configOf, load, problemsOf, warningsOf } from '../../../support/values/loading.ts';
import { SERVER } from '../../../support/values/tls-files.ts';

const QUESTIONS = 'questions: { user: pointsman_monitor, password_file: /etc/hostname }';
const TERMINATE = `client: { tls: { mode: terminate, cert: ${SERVER.cert}, key: ${SERVER.key} } }`;
const ENOUGH = `${QUESTIONS}\n${TERMINATE}`;

function scopeOf(text: string): string | undefined {
  return configOf(load(`${ENOUGH}\n${text}`)).pools.find(({ name }) => name === 'read')?.causalReads?.scope;
}

function read(causalReads: string): string {
  return `pools: { read: { causal_reads: ${causalReads} } }`;
}

test.each([
  [
    `${TERMINATE}\n${read('{ late: error }')}`,
    'pools.read.causal_reads: needs the section questions: write questions: { user: pointsman_monitor, password_file:',
  ],
  [
    `${QUESTIONS}\n${read('{ late: stale }')}`,
    'pools.read.causal_reads: needs a stream that can be read: use client.tls.mode terminate or require',
  ],
  [
    `${ENOUGH}\n${read('true')}`,
    'pools.read.causal_reads: late: primary needs the section moves: add it, or use late: error or late: stale',
  ],
  [`${ENOUGH}\n${read('{ late: primary }')}`, 'pools.read.causal_reads: late: primary needs the section moves'],
  [
    `${ENOUGH}\npools: { write: { causal_reads: { late: error } } }`,
    'pools.write.causal_reads: a pool of one member has nothing to wait for: leave it out',
  ],
  [
    `${ENOUGH}\npools: { write: { check: /leader, exclusive: true }, read: { causal_reads: { late: error } } }`,
    'pools.read.causal_reads: needs another pool with the check /primary, whose member is asked',
  ],
  [`${ENOUGH}\n${read('{ late: never }')}`, 'pools.read.causal_reads'],
  [`${ENOUGH}\n${read('{ wait: 0 }')}`, 'pools.read.causal_reads'],
  [`${ENOUGH}\n${read('{ scope: everybody, late: error }')}`, 'pools.read.causal_reads'],
  [
    `${ENOUGH}\nworkers: 2\n${read('{ scope: proxy, late: error }')}`,
    'pools.read.causal_reads.scope: scope: proxy needs workers: 1, because a worker learns of a write in another one ' +
      'too late: set workers: 1, or use scope: cluster',
  ],
  [`${ENOUGH}\nworkers: auto\n${read('{ scope: proxy, late: error }')}`, 'needs workers: 1'],
])('%#: %s', (text, problem) => {
  expect(problemsOf(load(text)).join('\n')).toContain(problem);
});

test('off, and with all that it needs, there is no problem', () => {
  expect(configOf(load(read('false'))).pools.find(({ name }) => name === 'read')?.causalReads).toBeUndefined();
  const pool = configOf(load(`${ENOUGH}\n${read('{ late: error }')}`)).pools.find(({ name }) => name === 'read');
  expect(pool?.causalReads).toEqual({ scope: 'cluster', waitMs: 500, late: 'error' });
});

test('the scope is that of the file, and with the scope cluster there may be workers', () => {
  expect(scopeOf(read('{ scope: proxy, late: error }'))).toBe('proxy');
  expect(scopeOf(`workers: 4\n${read('{ scope: cluster, late: error }')}`)).toBe('cluster');
});

test('Pointsmen behind the same address are a warning with the scope proxy', () => {
  const peers = 'peers: [10.0.0.2:6432]';
  const text = (scope: string) => `${ENOUGH}\n${peers}\n${read(`{ scope: ${scope}, late: error }`)}`;
  expect(warningsOf(load(text('proxy')))).toContain(
    'pools.read.causal_reads.scope: scope: proxy covers no write through the Pointsmen that peers names',
  );
  expect(warningsOf(load(text('cluster')))).not.toContain('peers names');
});

test('a password file that cannot be read is a warning, with what follows', () => {
  const questions = 'questions: { user: pointsman_monitor, password_file: /nowhere/password }';
  expect(warningsOf(load(`${questions}\n${TERMINATE}\n${read('{ late: error }')}`))).toContain(
    'questions.password_file: /nowhere/password cannot be read: there is no such file: causal reads are late',
  );
});
