// The question before a change, and the answers to it.
import { describe, expect, test } from 'vitest';
import { CommandEnd, unlessEnded } from '../../../../src/cli/command-end.ts';
import type { CliIo } from '../../../../src/cli/io.ts';
import { confirm } from '../../../../src/cli/terminal/confirm.ts';
import type { Confirmation } from '../../../../src/cli/terminal/confirm.ts';

async function ask(confirmation: Confirmation, answer?: { readonly typed: string | undefined }) {
  let [err, asked] = ['', ''];
  const io: CliIo = {
    env: {},
    stdout: () => {},
    stderr: (text) => void (err += text),
    ...(answer && {
      readLine: (question) => {
        asked = question;
        return Promise.resolve(answer.typed);
      },
    }),
  };
  const ended = await unlessEnded(() => confirm(confirmation, io));
  return { result: ended instanceof CommandEnd ? ended.code : 'confirmed', err, asked };
}

const QUESTION = { question: 'Switch over to pg-2?' };
const NAMED = { question: 'Delete the data of pg-2?', name: 'pg-2' };

describe('yes or no', () => {
  test.each(['y', 'Y', 'yes', ' YES '])('%j confirms', async (typed) => {
    expect(await ask(QUESTION, { typed })).toEqual({
      result: 'confirmed',
      err: '',
      asked: 'Switch over to pg-2? [y/N] ',
    });
  });

  test.each(['', 'n', 'yess', 'pg-2', undefined])('%j declines', async (typed) => {
    expect(await ask(QUESTION, { typed })).toMatchObject({
      result: 1,
      err: 'pointsman: not confirmed, so nothing was changed\n',
    });
  });
});

test('with a name, only the name confirms', async () => {
  expect(await ask(NAMED, { typed: 'pg-2' })).toMatchObject({
    result: 'confirmed',
    asked: 'Delete the data of pg-2? Type pg-2 to confirm: ',
  });
  for (const typed of ['y', 'pg-1', undefined]) expect(await ask(NAMED, { typed })).toMatchObject({ result: 1 });
});

test('without a terminal: only with --yes', async () => {
  const { result, err } = await ask(QUESTION);
  expect([result, err]).toEqual([
    2,
    expect.stringContaining('? Cannot ask (not a terminal); nothing was changed. Add --yes.\n'),
  ]);
  expect(await ask({ ...NAMED, yes: true })).toMatchObject({ result: 'confirmed', err: '', asked: '' });
});
