// The terminal of a command: its width, and an operator who gives the same answer to each question.
import type { CliIo } from '../../../src/cli/io.ts';

export function terminal(columns: number): Pick<CliIo, 'screen'> {
  return { screen: { size: () => ({ columns, rows: 24 }) } };
}

/** `questions` gets each question. */
export function answering(answer: string, questions: string[] = []): Pick<CliIo, 'readLine'> {
  return {
    readLine(question) {
      questions.push(question);
      return Promise.resolve(answer);
    },
  };
}
