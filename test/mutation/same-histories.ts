// Each mutant meets the same histories, so that two runs have the same survivors. One failure is enough.
import { configureGlobal } from 'fast-check';

configureGlobal({ seed: 28, endOnFailure: true });
