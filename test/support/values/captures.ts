// The captured answers of real members (test/fixtures/README.md), as tests want them.
import { readdirSync, readFileSync } from 'node:fs';

export interface CapturedAnswer {
  readonly node: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

export interface Capture {
  readonly patroni: '3.0.2' | '4.1.4';
  /** The file's name: `replica-lagging`. */
  readonly state: string;
  readonly note: string;
  readonly answers: readonly CapturedAnswer[];
}

const ROOT = new URL('../../fixtures/patroni/', import.meta.url);

export const VERSIONS = ['3.0.2', '4.1.4'] as const;

export function readCapture(patroni: Capture['patroni'], state: string): Capture {
  const text = readFileSync(new URL(`${patroni}/${state}.json`, ROOT), 'utf8');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own fixture
  const { note, answers } = JSON.parse(text) as Pick<Capture, 'note' | 'answers'>;
  return { patroni, state, note, answers };
}

export function readAllCaptures(): readonly Capture[] {
  return VERSIONS.flatMap((version) =>
    readdirSync(new URL(version, ROOT)).map((file) => readCapture(version, file.replace('.json', ''))),
  );
}

/** The body of one answer as the member sent it. */
export function bodyText(capture: Capture, node: string, path: string): string {
  const answer = capture.answers.find((one) => one.node === node && one.path === path);
  if (answer === undefined) throw new Error(`${capture.patroni}/${capture.state} has no ${path} of ${node}`);
  return textOf(answer);
}

export function textOf(answer: CapturedAnswer): string {
  return typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
}
