// `pointsman resume` reports whether a drain was in force.
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';
import { close, listen } from '../../support/sockets/listen.ts';

test.each([
  [{ was_drained: true }, 'pg-2 resumed\n'],
  [{ was_drained: false }, 'pg-2 was not drained\n'],
  // An older Pointsman does not report it.
  [{}, 'pg-2 resumed\n'],
])('%j', async (more, said) => {
  const answer = JSON.stringify({ member: 'pg-2', drained: false, pools: {}, ...more });
  const server = createServer((_, response) => response.end(answer));
  const admin = `127.0.0.1:${await listen(server)}`;
  let out = '';
  const io = {
    env: { POINTSMAN_ADMIN_TOKEN: '0123456789abcdef-operator' },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (out += text),
  };
  const code = await runCli(['resume', 'pg-2', '--admin', admin], io, cliParts());
  await close(server);
  expect([code, out]).toEqual([0, said]);
});
