// `pointsman computer` before it opens a browser: the page's address, and a machine without Chromium. And the request
// that declares the tool.
import { describe, expect, test } from 'vitest';
import { runCli } from '../../../../src/cli/program.ts';
import { cliParts } from '../../../support/fakes/cli-parts.ts';

const CONFIG = `cluster: { scope: batman, seeds: [http://pg1:8008] }
platform: { url: "https://platform.internal", api_key_file: /run/secrets/platform, beta_header: vendor-beta }`;

async function cli(...argv: readonly string[]) {
  let [out, err] = ['', ''];
  const io = {
    env: { PATH: '/nowhere' },
    readFile: () => CONFIG,
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
  };
  return { code: await runCli(['computer', ...argv], io, cliParts()), out, err };
}

test.each([
  [[], 'name the page: --url http://127.0.0.1:8432/'],
  [['--url', 'pg-1'], '--url is no http or https URL: write http://127.0.0.1:8432/'],
  [['--url', 'file:///etc/passwd'], '--url is no http or https URL: write http://127.0.0.1:8432/'],
  [['--url', 'http://10.0.0.7:8432/'], '10.0.0.7 is another machine: --allow-remote allows it'],
  [['--url', 'http://127.0.0.1.example.com/'], '127.0.0.1.example.com is another machine: --allow-remote allows it'],
  [['--url', 'http://user:secret@127.0.0.1/'], '--url has a name or a password'],
])('%j is wrong usage', async (argv, why) => {
  const { code, out, err } = await cli(...argv);
  expect(code).toBe(2);
  expect(err).toContain(`pointsman: ${why}`);
  expect(err).not.toContain('secret');
  expect(out).toBe('');
});

test.each([
  ['http://127.0.0.1:8432/'],
  ['http://127.8.0.1:8432/'],
  ['http://localhost:8432/'],
  ['https://[::1]:8432/'],
  ['http://10.0.0.7:8432/', '--allow-remote'],
])('%s is a page, and without Chromium the command says what to install', async (...argv) => {
  const { code, err } = await cli('--url', ...argv);
  expect(code).toBe(1);
  expect(err).toMatch(
    /^pointsman: no Chromium: none of chromium, .* is in PATH\. Install one, or name it with --browser/,
  );
});

test('a browser that cannot be run', async () => {
  const { code, err } = await cli('--url', 'http://127.0.0.1:8432/', '--browser', '/nowhere/chromium');
  expect(code).toBe(1);
  expect(err).toBe('pointsman: /nowhere/chromium is no program that can be run\n');
});

const request = (model: string, ...more: readonly string[]) =>
  cli('request', '--model', model, '--max-tokens', '1000', ...more);

describe('the request that declares the tool', () => {
  const text = 'Look at the status page and say what you see.';

  test('of a newer model has no beta header, needs no configuration, and no size of a screen', async () => {
    const { code, out } = await request('vendor-opus-5');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      headers: {},
      body: {
        model: 'vendor-opus-5',
        max_tokens: 1000,
        tools: [{ type: 'computer_toolset_20260801', name: 'computer' }],
        messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      },
    });
  });

  test.each([
    ['of the configuration', ['-c', 'pointsman.yaml'], 'vendor-beta'],
    ['of the command line', ['--beta-header', 'x-beta'], 'x-beta'],
  ])('of an older model has the beta header %s', async (_, options, header) => {
    const { code, out } = await request('vendor-opus-4-7', ...options, '--tool-field', 'display_number=1');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      headers: { [header]: 'computer-20251124-api' },
      body: { tools: [{ type: 'computer_20251124', name: 'computer', display_number: 1 }] },
    });
  });

  test('asks for one action a turn', async () => {
    const { out } = await request('vendor-sonnet-5', '--one-action', '--question', 'Which member is the primary?');
    expect(JSON.parse(out).body).toMatchObject({
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      messages: [{ content: [{ text: 'Which member is the primary?' }] }],
    });
  });

  test.each([
    [['vendor-opus-4-7'], 'the environment has no section `platform`: set platform.url'],
    [['vendor-opus-3'], 'the computer tool is not known for vendor-opus-3, only for models -opus-5, -sonnet-5'],
    [['vendor-opus-5', '--tool-field', 'display_width_px=1280'], 'the tool of vendor-opus-5 takes no further fields'],
    [['vendor-opus-4-7', '--tool-field', 'display'], '--tool-field is NAME=VALUE'],
  ])('%j is wrong usage', async ([model = '', ...more], why) => {
    const { code, out, err } = await request(model, ...more);
    expect(err).toContain(`pointsman: ${why}`);
    expect([code, out]).toEqual([2, '']);
  });
});
