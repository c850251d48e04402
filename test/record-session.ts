// `npm run record-session`: runs the README's session for real and writes what the two terminals showed into the README. Needs psql, and
// the default ports free.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { waitUntil } from './support/patroni/wait.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const README = new URL('../README.md', import.meta.url);
const [BEGIN, END] = ['<!-- recorded by npm run record-session -->', '<!-- end of the recording -->'];

const WRITE = 'psql postgresql://app:app@127.0.0.1:6432/app -c "insert into visits default values returning *"';
const READ = `psql postgresql://app:app@127.0.0.1:6433/app -c "select count(*), current_setting('cluster_name') as read_from from visits"`;
const COMMANDS = [
  WRITE,
  'npm run -s sandbox -- kill primary',
  `time ${WRITE}`,
  READ,
  'npm run -s sandbox -- heal',
  'npm run -s sandbox -- switchover pg-1',
  WRITE,
];

/** In a process group of its own, as a terminal gives it: Ctrl-C reaches everybody in it. */
const first = spawn('npm', ['start'], { cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
let shown = '';
first.stdout.on('data', (chunk: Buffer) => {
  shown += chunk.toString();
});
const ended = new Promise<void>((resolve) => {
  first.once('close', () => resolve());
});

async function shell(command: string): Promise<string> {
  const child = spawn('bash', ['-c', `TIMEFORMAT='%1R s'; { ${command}; } 2>&1`], { cwd: ROOT });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const code = await new Promise((resolve) => {
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${command}: exit code ${String(code)}\n${output}`);
  return `$ ${command}\n${output.trimEnd()}`;
}

const told = (text: string): Promise<boolean> =>
  waitUntil(text, async () => shown.includes(text), { timeoutMs: 60_000, explain: async () => shown });

const second: string[] = [];
try {
  await told('Break');
  for (const command of COMMANDS) second.push(await shell(command));
} finally {
  if (first.pid !== undefined) process.kill(-first.pid, 'SIGINT');
  await ended;
}

const readme = await readFile(README, 'utf8');
const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
if (from < 0 || to < from) throw new Error(`the README has no place for it: ${BEGIN} … ${END}`);
const block = (text: string): string => `\`\`\`console\n${text.trim()}\n\`\`\``;
const recording = [block(second.join('\n\n')), 'Meanwhile, in the first terminal:', block(`$ npm start\n${shown}^C`)];
await writeFile(README, `${readme.slice(0, from)}${BEGIN}\n\n${recording.join('\n\n')}\n\n${readme.slice(to)}`);
