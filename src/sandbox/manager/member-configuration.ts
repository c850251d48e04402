// The configuration of one member: its own file, and what its PostgreSQL gets of that file and of the cluster's
// configuration.
import type { PostgresServer } from '../postgres/postgres-server.ts';
import type { Parameters } from '../postgres/server-types.ts';
import { messageOf } from '../http-server.ts';
import { readMemberFile, type MemberFile } from './member-file.ts';
import { readCatalog, usable, type Catalog } from './parameter-catalog.ts';
import { composeParameters } from './parameters.ts';
import type { ClusterSettings, Tags } from './view.ts';

export class MemberConfiguration {
  /** The value of that parameter while the member leads. */
  synchronousStandbyNames = '';
  readonly #filePath: string;
  readonly #warn: (text: string) => void;
  #file: MemberFile = { tags: {}, parameters: {}, warnings: [] };
  #catalog: Catalog | undefined;

  /** The file may be missing. */
  constructor(filePath: string, warn: (text: string) => void) {
    this.#filePath = filePath;
    this.#warn = warn;
  }

  /** Returns the problem, with nothing changed; undefined when the file was read. */
  async readFile(): Promise<string | undefined> {
    try {
      this.#file = await readMemberFile(this.#filePath);
    } catch (error) {
      const why = messageOf(error);
      this.#warn(why);
      return why;
    }
    for (const warning of this.#file.warnings) this.#warn(warning);
    return undefined;
  }

  tags(): Tags {
    return this.#file.tags;
  }

  /** From now on parameters that the server does not know are left out. */
  async learnFrom(server: PostgresServer): Promise<void> {
    this.#catalog ??= await readCatalog(server);
  }

  /** `dynamic`: the parameters of the cluster's configuration. */
  parameters(dynamic: ClusterSettings['parameters']): Parameters {
    return composeParameters({
      dynamic: usable(dynamic, this.#catalog),
      local: usable(this.#file.parameters, this.#catalog),
      synchronousStandbyNames: this.synchronousStandbyNames,
    });
  }
}
