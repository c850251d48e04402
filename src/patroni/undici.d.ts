// The file of undici that is loaded alone, with the type of its entrance.
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export = Client;
}
