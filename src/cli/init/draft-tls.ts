// TLS with the members in a draft: settings of `backend.tls` that every member accepts, tried live with each authority
// that the sources name. Where none fits, the file recommends what is missing, as a comment.
import type { TlsAdvice } from '../member-tls-report.ts';
import { adviceText, tlsAdvice, tlsFaults } from '../member-tls-report.ts';
import type { CheckSeeds } from '../live-check.ts';
import type { CompleteDraft } from './complete-draft.ts';
import type { DraftAuthority, DraftSetting } from './draft.ts';
import { writeDraft } from './write-draft.ts';
import { wrapped } from '../../config/reference/text.ts';

export interface DraftTlsOptions {
  /** Files that may have the authority of the members' certificates, with their places in the sources. */
  readonly authorities: readonly DraftAuthority[];
  readonly heading: string;
  readonly checkSeeds: CheckSeeds;
}

/** The draft, with the settings or with the recommendation; unchanged where no member offers TLS. */
export async function draftTls(completed: CompleteDraft, options: DraftTlsOptions): Promise<CompleteDraft> {
  const { report, written } = completed;
  const advice = report?.tls && tlsAdvice(report.tls);
  if (advice === undefined || written.kind === 'invalid') return completed;
  const modes =
    advice.mode === 'verify-ca' ? [advice] : [advice, { mode: 'verify-ca', serverName: undefined } as const];
  const faults: string[] = [];
  for (const { file, from } of options.authorities) {
    for (const one of modes) {
      const tried = await withTls(completed, settingsOf(one, file, from), options);
      if (typeof tried !== 'string') return tried;
      faults.push(`${file} does not do (${tried}).`);
    }
  }
  return { ...completed, written: { ...written, text: `${written.text}${recommendation(advice, faults.at(-1))}` } };
}

/** Text: why a member does not accept it, or why the file cannot be used. */
async function withTls(
  completed: CompleteDraft,
  tls: readonly DraftSetting[],
  { heading, checkSeeds }: DraftTlsOptions,
): Promise<CompleteDraft | string> {
  const settings = [...completed.settings, ...tls];
  const written = writeDraft(settings, heading);
  if (written.kind === 'invalid' || written.config === undefined) return written.problems.join('; ');
  const report = await checkSeeds(written.config);
  const [fault] = report.tls === undefined ? ['the members do not answer'] : tlsFaults(report.tls).values();
  if (fault !== undefined) return fault;
  return { ...completed, settings, report, written: { ...written, text: `${written.text}${CLIENTS}` } };
}

const BACKEND_TLS = ['backend', 'tls'];

function settingsOf({ mode, serverName }: TlsAdvice, file: string, from: string): readonly DraftSetting[] {
  return [
    { path: [...BACKEND_TLS, 'mode'], value: mode, from: 'every member has shown such a certificate' },
    { path: [...BACKEND_TLS, 'ca_file'], value: file, from },
    ...(serverName === undefined ? [] : [{ path: [...BACKEND_TLS, 'server_name'], value: serverName }]),
  ];
}

const CLIENTS = comment(
  'Clients that use TLS have it with the member, and Pointsman only passes it on. For moves, pools in the database ' +
    'name and errors with a reason let it end here: client.tls: { mode: require, cert: FILE, key: FILE }. With ' +
    'terminate, sslmode=prefer falls back to plain text without a word. See config/tls.md.',
);

/** `fault`: of the last authority that was tried. */
function recommendation(advice: TlsAdvice, fault = 'No authority of their certificates is named (--ca FILE).'): string {
  const text = `Every member offers TLS. ${fault} To encrypt the way to the members: ${adviceText(advice)}.`;
  return `${comment(text)}${CLIENTS}`;
}

function comment(text: string): string {
  return wrapped(text, '# ')
    .map((line) => `${line}\n`)
    .join('');
}
