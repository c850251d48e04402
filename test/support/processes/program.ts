// The built program, as it is shipped. From its sources each process would cost three times the processor time.
import { fileURLToPath } from 'node:url';

const DIST = new URL('../../../dist/', import.meta.url);

/** `pointsman`. The run builds it before its first test (build-for-tests.ts). */
export const MAIN = fileURLToPath(new URL('main.js', DIST));

export const HEALTHCHECK_MAIN = fileURLToPath(new URL('healthcheck-main.js', DIST));
