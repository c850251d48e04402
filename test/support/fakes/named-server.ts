// A server of a test, as a configuration names it.
import type { Address } from '../../../src/model/member.ts';

export interface NamedServer {
  readonly api: { readonly name: string; readonly url: string };
  readonly postgres: { readonly address: Address };
}
