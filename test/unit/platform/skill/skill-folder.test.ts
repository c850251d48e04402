// The rules for the folder of a skill.
import { describe, expect, test } from 'vitest';
import { checkFolder } from '../../../../src/platform/skill/skill-folder.ts';
import type { FolderEntry, LocalSkill } from '../../../../src/platform/skill/skill-folder.ts';

const GOOD = '---\nname: a-runbook\ndescription: Reads incidents.\n---\n\n# Read\n';

const file = (path: string, text: string): FolderEntry => ({ path, kind: 'file', content: Buffer.from(text) });
const skillFile = (text = GOOD): FolderEntry => file('SKILL.md', text);

function problemsOf(folder: string, ...entries: readonly FolderEntry[]): readonly string[] {
  const checked = checkFolder(folder, entries);
  return checked.kind === 'invalid' ? checked.problems : [];
}

function skillOf(folder: string, ...entries: readonly FolderEntry[]): LocalSkill {
  const checked = checkFolder(folder, entries);
  if (checked.kind === 'invalid') throw new Error(checked.problems.join('\n'));
  return checked.skill;
}

describe('the name', () => {
  test('comes from the front matter', () => {
    expect(skillOf('other', skillFile())).toMatchObject({ slug: 'a-runbook', slugFrom: 'front matter' });
  });

  test('comes from the folder where the front matter has none', () => {
    const text = '---\ndescription: x\n---\ntext\n';
    expect(skillOf('my-folder', skillFile(text))).toMatchObject({ slug: 'my-folder', slugFrom: 'folder' });
    expect(problemsOf('My_Folder', skillFile(text))).toEqual([
      'SKILL.md: there is no name, and the name of the folder is "My_Folder": ' +
        'it must be 1 to 64 of a-z, 0-9 and single hyphens between them',
    ]);
  });

  test.each(['A-b', 'a_b', '-a', 'a-', 'a--b', 'a b', 'é', 'a'.repeat(65), '1.5', '[a]', 'true'])('%s', (name) => {
    const [problem] = problemsOf('ok', skillFile(`---\nname: ${name}\ndescription: x\n---\ntext\n`));
    if (name === 'true') expect(problem).toMatch(/^SKILL\.md: name is no text: it must be/);
    else expect(problem).toMatch(/^SKILL\.md: name is .*: it must be 1 to 64 of/);
  });

  test('may have 64 characters', () => {
    expect(skillOf('x', skillFile(`---\nname: ${'a'.repeat(64)}\ndescription: x\n---\ntext\n`)).slug.length).toBe(64);
  });
});

describe('SKILL.md', () => {
  test('has to be there, with these letters', () => {
    expect(problemsOf('a')).toEqual(['SKILL.md: a skill needs this file at the top of its folder']);
    expect(problemsOf('a', file('skill.md', GOOD))).toEqual([
      'SKILL.md: a skill needs this file at the top of its folder, with these letters, not skill.md',
    ]);
    expect(problemsOf('a', file('inner/SKILL.md', GOOD))[0]).toContain('at the top of its folder');
  });

  test.each([
    ['# no front matter\n', 'it must begin with front matter between two lines of ---'],
    ['\n---\nname: a\n---\ntext', 'it must begin with front matter between two lines of ---'],
    ['---\nname: a\ndescription: x\n', 'it must begin with front matter between two lines of ---'],
    ['---\n- a\n---\ntext\n', 'its front matter is no YAML map'],
    ['---\na: [\n---\ntext\n', 'its front matter is no YAML map'],
    ['---\nname: a\ndescription: x\n---\n \n', 'there are no instructions after the front matter'],
    ['---\nname: a\n---\ntext\n', 'description is missing'],
    ['---\nname: a\ndescription: " "\n---\ntext\n', 'description is missing'],
    [`---\nname: a\ndescription: ${'é'.repeat(1025)}\n---\ntext\n`, 'description has 1025 characters: at most 1024'],
  ])('%j', (text, problem) => {
    expect(problemsOf('a', skillFile(text)).join('\n')).toContain(`SKILL.md: ${problem}`);
  });

  test('may have a description of 1024 characters, lines that end with CR LF, and a byte order mark', () => {
    const text = `\uFEFF---\r\nname: a\r\ndescription: ${'é'.repeat(1024)}\r\n---\r\ntext\r\n`;
    expect(Array.from(skillOf('x', skillFile(text)).description).length).toBe(1024);
  });
});

describe('files', () => {
  test('a symbolic link and a device are refused, an empty file is not', () => {
    const entries: readonly FolderEntry[] = [
      { path: 'notes.md', kind: 'link', content: new Uint8Array() },
      { path: 'pipe', kind: 'other', content: new Uint8Array() },
      file('empty.md', ''),
    ];
    expect(problemsOf('a', skillFile(), ...entries)).toEqual([
      'notes.md: symbolic links are not published: put the file itself there',
      'pipe: only files and folders are published',
    ]);
  });

  test.each(['a"b.md', 'a\\b.md', 'a\nb.md'])('a name with %j would break the form', (name) => {
    expect(problemsOf('a', skillFile(), file(name, 'x'))).toEqual([
      `${name.replace('\n', ' ')}: the name has a quote, a backslash or a control character`,
    ]);
  });

  test('two names that differ in case alone are refused', () => {
    expect(problemsOf('a', skillFile(), file('A.md', 'x'), file('a.md', 'y'))).toEqual([
      'a.md: A.md differs in upper and lower case alone',
    ]);
  });
});

describe('secrets', () => {
  test.each([
    '.env',
    'inner/.env.production',
    'prod.env',
    'tls/server.pem',
    'server.key',
    'keys.p12',
    'id_ed25519',
    '.pgpass',
    'credentials.json',
  ])('%s is refused by its name', (path) => {
    const problems = problemsOf('a', skillFile(), file(path, 'x'));
    expect(problems.length).toBe(1);
    expect(problems[0]).toMatch(/ is not published$/);
  });

  test('a hidden file or folder is refused', () => {
    expect(problemsOf('a', skillFile(), file('.git/config', 'x'), file('.DS_Store', 'x'))).toEqual([
      '.DS_Store: hidden files are not published',
      '.git/config: hidden files are not published',
    ]);
  });

  test.each([
    ['-----BEGIN EC PRIVATE KEY-----', 'a private key'],
    ['psql postgresql://app:s3cret@db/app', 'a password in a connection string'],
    ['PGPASSWORD=s3cret psql', 'a password'],
    [`authorization: Bearer ${'a1'.repeat(12)}`, 'a token'],
    [`key sk-${'a1'.repeat(12)}`, 'an API key'],
  ])('%s is refused by its content, without a word of it', (text, what) => {
    expect(problemsOf('a', skillFile(), file('run.md', `first\n${text}\n`))).toEqual([
      `run.md:2: looks like ${what}: put a placeholder there`,
    ]);
  });

  test.each([
    'psql postgresql://app:$PASSWORD@db/app',
    'psql postgresql://app:<password>@db/app',
    'psql postgresql://app@db/app',
    'PGPASSWORD=$PASSWORD psql',
    'authorization: Bearer TOKEN',
    'the event mws8avuzvl5y-284',
  ])('%s is a placeholder or no secret', (text) => {
    expect(problemsOf('a', skillFile(), file('run.md', text))).toEqual([]);
  });
});

describe('links', () => {
  test('lead to a file or a folder of the skill', () => {
    const others = '[c](https://example.com) [d](#read) `[e](gone.md)`';
    const text = `${GOOD}[a](references/a.md#part) [b](references) ${others}\n`;
    expect(problemsOf('a', skillFile(text), file('references/a.md', '[up](../SKILL.md)'))).toEqual([]);
  });

  test('that lead nowhere, or out of the folder, are refused', () => {
    const text = `${GOOD}[a](gone.md) [b](../README.md) [c](/etc/passwd)\n\`\`\`\n[d](gone.md)\n\`\`\`\n`;
    expect(problemsOf('a', skillFile(text))).toEqual([
      'SKILL.md: the link gone.md leads to no file of the skill',
      'SKILL.md: the link ../README.md leaves the folder of the skill',
      'SKILL.md: the link /etc/passwd leaves the folder of the skill',
    ]);
  });
});

describe('the hash', () => {
  test('depends on names and contents, and not on the order', () => {
    const [a, b] = [file('a.md', 'x'), file('b.md', 'y')];
    const hash = skillOf('s', skillFile(), a, b).hash;
    expect(skillOf('s', b, a, skillFile()).hash).toBe(hash);
    expect(skillOf('other', skillFile(), a, b).hash).toBe(hash);
    expect(skillOf('s', skillFile(), a, file('b.md', 'z')).hash).not.toBe(hash);
    expect(skillOf('s', skillFile(), a, file('c.md', 'y')).hash).not.toBe(hash);
    expect(skillOf('s', skillFile(), file('a.md', 'xb'), file('b.md', 'y')).hash).not.toBe(hash);
  });
});
