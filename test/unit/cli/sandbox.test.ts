// `pointsman sandbox` and its second command: the calls to the sandbox, the output and the exit code.
import { describe, expect, test } from 'vitest';
import type { SandboxAnswer, SandboxParts } from '../../../src/cli/io.ts';
import { runCli } from '../../../src/cli/program.ts';
import { TRAFFIC, VERBS } from '../../../src/sandbox/console/verb-list.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';

const ANSWER: SandboxAnswer = { ok: true, text: 'pg-1 is dead' };

async function cli(argv: readonly string[], answer = ANSWER) {
  const asked: unknown[] = [];
  let [out, err] = ['', ''];
  const sandbox: SandboxParts = {
    verbs: [...VERBS, TRAFFIC],
    run: (request) => Promise.resolve(asked.push(request)).then(() => 0),
    ask: (...order) => Promise.resolve(asked.push(order)).then(() => answer),
    sql: (...statement) => Promise.resolve(asked.push(statement)).then(() => answer),
    config: (control) => Promise.resolve(asked.push(['config', control])).then(() => answer),
  };
  const code = await runCli(
    argv,
    { env: {}, stdout: (text) => void (out += text), stderr: (text) => void (err += text) },
    cliParts({ sandbox }),
  );
  return { code, out, err, asked };
}

describe('sandbox', () => {
  test('alone: the defaults', async () => {
    expect(await cli(['sandbox'])).toMatchObject({
      code: 0,
      asked: [
        {
          members: 3,
          postgres: 'embedded',
          dialect: 'manager',
          write: '127.0.0.1:6432',
          read: '127.0.0.1:6433',
          admin: '127.0.0.1:8432',
          control: '127.0.0.1:8433',
          isUsualControl: true,
        },
      ],
    });
  });

  test('with branches: of the storage node, or of the console', async () => {
    const asked = async (...flags: readonly string[]) => (await cli(['sandbox', ...flags])).asked;
    expect(await asked()).not.toMatchObject([{ branches: expect.anything() }]);
    expect(await asked('--branches')).toMatchObject([{ branches: 'storage' }]);
    expect(await asked('--branches=console')).toMatchObject([{ branches: 'console' }]);
    expect((await cli(['sandbox', '--branches=static'])).err).toContain('storage, console');
  });

  test('with a platform: how commands name versions of skills', async () => {
    const asked = async (...flags: readonly string[]) => (await cli(['sandbox', ...flags])).asked;
    expect(await asked()).not.toMatchObject([{ platform: expect.anything() }]);
    expect(await asked('--platform')).toMatchObject([{ platform: 'general' }]);
    expect(await asked('--platform=beta')).toMatchObject([{ platform: 'beta' }]);
    expect((await cli(['sandbox', '--platform=latest'])).err).toContain('general, beta');
  });

  test('with moves', async () => {
    expect((await cli(['sandbox'])).asked).not.toMatchObject([{ moves: expect.anything() }]);
    expect((await cli(['sandbox', '--moves'])).asked).toMatchObject([{ moves: true }]);
  });

  test('every flag', async () => {
    const flags =
      '--members 5 --postgres system --dialect patroni --write [::1]:1 --read 127.0.0.2:2 --control localhost:0';
    expect((await cli(['sandbox', ...flags.split(' ')])).asked).toMatchObject([
      {
        members: 5,
        postgres: 'system',
        dialect: 'patroni',
        write: '[::1]:1',
        read: '127.0.0.2:2',
        control: 'localhost:0',
        isUsualControl: false,
      },
    ]);
  });

  test.each([
    [['--members', '0'], 'from 1 to 9, not 0'],
    [['--members', 'three'], 'from 1 to 9, not three'],
    [['--write', '0.0.0.0:6432'], 'public passwords'],
    [['--admin', '8432'], 'must be a loopback address with a port'],
    [['--dialect', 'etcd'], 'Allowed choices are manager, patroni'],
    [['--nonsense'], "unknown option '--nonsense'"],
  ])('%j is a usage error with its reason', async (flags, why) => {
    const { code, err, asked } = await cli(['sandbox', ...flags]);
    expect({ code, asked }).toEqual({ code: 2, asked: [] });
    expect(err).toContain(why);
  });
});

describe('the second command', () => {
  test.each(VERBS.map(({ name }) => name))('%s', async (verb) => {
    const { code, out, asked } = await cli(['sandbox', verb, 'pg-2']);
    expect({ code, out, asked }).toEqual({
      code: 0,
      out: 'pg-1 is dead\n',
      asked: [['127.0.0.1:8433', verb, 'pg-2']],
    });
  });

  test('without a member, and with the control address before or after the verb', async () => {
    expect((await cli(['sandbox', 'kill'])).asked).toEqual([['127.0.0.1:8433', 'kill', undefined]]);
    expect((await cli(['sandbox', '--control', '127.0.0.1:9', 'kill'])).asked).toEqual([
      ['127.0.0.1:9', 'kill', undefined],
    ]);
    expect((await cli(['sandbox', 'kill', 'pg-2', '--control', '127.0.0.1:9'])).asked).toEqual([
      ['127.0.0.1:9', 'kill', 'pg-2'],
    ]);
  });

  test('sql, through either pool', async () => {
    expect((await cli(['sandbox', 'sql', 'select 1'])).asked).toEqual([['127.0.0.1:8433', 'write', 'select 1']]);
    expect((await cli(['sandbox', 'sql', '--pool', 'read', 'select 1'])).asked).toEqual([
      ['127.0.0.1:8433', 'read', 'select 1'],
    ]);
  });

  test('traffic takes no member; config asks for the configuration', async () => {
    expect((await cli(['sandbox', 'traffic'])).asked).toEqual([['127.0.0.1:8433', 'traffic', undefined]]);
    expect((await cli(['sandbox', 'traffic', 'pg-1'])).code).toBe(2);
    expect((await cli(['sandbox', 'config'])).asked).toEqual([['config', '127.0.0.1:8433']]);
  });

  test('a refusal goes to stderr with exit code 1', async () => {
    const answer = { ok: false, text: 'no replica is left that is well' };
    expect(await cli(['sandbox', 'kill', 'replica'], answer)).toMatchObject({
      code: 1,
      out: '',
      err: 'pointsman: no replica is left that is well\n',
    });
  });

  test('an unknown member is a usage error', async () => {
    const answer = { ok: false, isUnknown: true, text: 'there is no member pg-9' };
    expect(await cli(['sandbox', 'kill', 'pg-9'], answer)).toMatchObject({
      code: 2,
      err: 'pointsman: there is no member pg-9\n',
    });
  });

  test('an unknown verb is a usage error', async () => {
    const { code, err, asked } = await cli(['sandbox', 'kil']);
    expect({ code, asked }).toEqual({ code: 2, asked: [] });
    expect(err).toContain("unknown verb 'kil'\n(Did you mean kill?)\nVerbs: kill, crash,");
  });

  test('the help names every verb', async () => {
    const { out } = await cli(['sandbox', '--help']);
    for (const { name } of VERBS) expect(out).toContain(`  ${name} [member]`);
  });
});
