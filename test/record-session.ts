// `npm run record-session`: runs the session of deploy/try.md for real and writes what the two terminals showed into
// that page. Needs psql, and the default ports free.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { waitUntil } from './support/waiting/wait.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = new URL('../deploy/try.md', import.meta.url);
const [BEGIN, END] = ['<!-- recorded by npm run record-session -->', '<!-- end of the recording -->'];

const WRITE = 'psql postgresql://app:app@127.0.0.1:6432/app -c "insert into visits default values returning *"';
const COUNT = "select count(*), current_setting('cluster_name') as read_from from visits";
const READ = `psql postgresql://app:app@127.0.0.1:6433/app -c "${COUNT}"`;
const COMMANDS = [
  WRITE,
  'npm run -s sandbox -- kill primary',
  `time ${WRITE}`,
  READ,
  'npm run -s pointsman -- explain --admin 127.0.0.1:8432',
  'npm run -s sandbox -- heal',
  'npm run -s pointsman -- status --admin 127.0.0.1:8432',
  'POINTSMAN_ADMIN_TOKEN=sandbox-operator npm run -s pointsman -- switchover --to pg-1 --yes --admin 127.0.0.1:8432',
  WRITE,
];

/** Has its own process group, as in a terminal: Ctrl-C reaches every process of the group. */
const first = spawn('npm', ['start'], { cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
let shown = '';
first.stdout.on('data', (chunk: Buffer) => {
  shown += chunk.toString();
});
const ended = new Promise<void>((resolve) => {
  first.once('close', () => resolve());
});

async function shell(command: string): Promise<string> {
  const child = spawn('bash', ['-c', `{ ${command}; } 2>&1`], { cwd: ROOT });
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

const shows = (text: string): Promise<boolean> =>
  waitUntil(text, async () => shown.includes(text), { timeoutMs: 60_000, explain: async () => shown });

const second: string[] = [];
try {
  await shows('Break');
  for (const command of COMMANDS) second.push(await shell(command));
} finally {
  if (first.pid !== undefined) process.kill(-first.pid, 'SIGINT');
  await ended;
}

const page = await readFile(PAGE, 'utf8');
const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
if (from < 0 || to < from) throw new Error(`deploy/try.md has no place for the recording: ${BEGIN} … ${END}`);
const block = (text: string): string => `\`\`\`console\n${text.trim()}\n\`\`\``;
const recording = [block(second.join('\n\n')), 'Meanwhile, in the first terminal:', block(`$ npm start\n${shown}^C`)];
await writeFile(PAGE, `${page.slice(0, from)}${BEGIN}\n\n${recording.join('\n\n')}\n\n${page.slice(to)}`);
