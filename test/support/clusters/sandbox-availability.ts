// Whether the sandbox can run here: npm leaves its PostgreSQL out where there is none for the platform, or where optional
// dependencies are not wanted.
import { findBinaries } from '../../../src/sandbox/postgres/binaries.ts';

const found = await findBinaries('embedded');

/** What is missing, for people; undefined when the sandbox can run. */
export const missingForSandbox = found.kind === 'found' ? undefined : `the sandbox: ${found.why}`;
