// The file of undici that is loaded alone, with the types of its entrance.
declare module 'undici/lib/dispatcher/client.js' {
  import type { Client as Whole } from 'undici';
  /** Without what only the entrance adds to it, as `request`. */
  class Client {
    constructor(url: string, options: Whole.Options);
    dispatch: Whole['dispatch'];
    destroy(): Promise<void>;
  }
  export = Client;
}
