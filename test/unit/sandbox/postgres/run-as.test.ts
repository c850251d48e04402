import { expect, test } from 'vitest';
import { findServerUser, parsePasswd, run, spawnOptions } from '../../../../src/sandbox/postgres/run-as.ts';

const PASSWD = 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin\n';

test('the unprivileged user is looked up', () => {
  expect(parsePasswd(PASSWD, 'nobody')).toEqual({ name: 'nobody', uid: 65_534, gid: 65_533 });
  expect(parsePasswd(PASSWD, 'postgres')).toBeUndefined();
  // Another name for root, and macOS with its ids below zero.
  expect(parsePasswd('nobody:x:0:0::/:/bin/sh', 'nobody')).toBeUndefined();
  expect(parsePasswd('nobody:*:-2:-2:Unprivileged User:/var/empty:/usr/bin/false', 'nobody')).toBeUndefined();
});

test('a user other than root runs the servers himself', async () => {
  expect(await findServerUser(1000)).toBeUndefined();
  expect(spawnOptions({ user: undefined, directory: '/tmp' })).not.toHaveProperty('uid');
});

test('a program ends with its code, its output, or the reason why it could not run', async () => {
  const here = { user: undefined, directory: '/' };
  expect(await run(here, '/bin/sh', ['-c', 'echo out; echo err >&2; exit 3'])).toEqual({ code: 3, output: 'out\nerr' });
  expect(await run(here, '/bin/sh', ['-c', 'pwd; echo $HOME'])).toEqual({ code: 0, output: '/\n/' });
  expect(await run(here, '/no/such/program', [])).toMatchObject({ code: 'ENOENT' });
  expect(await run(here, '/bin/sh', ['-c', 'kill -TERM $$'])).toMatchObject({ code: 'SIGTERM' });
});
