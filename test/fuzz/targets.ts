// All targets, by name.
import type { FuzzTarget } from './target.ts';
import { answers } from './targets/answers.ts';
import { configuration } from './targets/configuration.ts';
import { consoleTarget } from './targets/console.ts';
import { conversation } from './targets/conversation.ts';
import { documentsTarget } from './targets/documents.ts';
import { files } from './targets/files.ts';
import { logins } from './targets/logins.ts';
import { opening } from './targets/opening.ts';
import { requests } from './targets/requests.ts';
import { statements } from './targets/statements.ts';

export const TARGETS: readonly FuzzTarget[] = [
  opening,
  conversation,
  statements,
  answers,
  logins,
  documentsTarget,
  configuration,
  files,
  requests,
  consoleTarget,
];
