// The result of a reader: keys of the configuration with the places they come from, and sentences for the operator.
// write-draft.ts makes the file of it.
import type { Path } from '../../config/fault.ts';

export interface DraftSetting {
  /** `cluster.seeds[0]` as a list of steps. */
  readonly path: Path;
  readonly value: unknown;
  /** For the comment behind the value: `haproxy.cfg:17`. */
  readonly from?: string;
}

export interface Note {
  /** `haproxy.cfg:17`; undefined: about the source as a whole. */
  readonly place: string | undefined;
  readonly text: string;
}

/** A file with the authority that signs certificates of members, by the source. */
export interface DraftAuthority {
  readonly file: string;
  readonly from: string;
}

export interface Draft {
  readonly authorities: readonly DraftAuthority[];
  readonly settings: readonly DraftSetting[];
  /** Sentences about the source: what was left out and why, what differs. */
  readonly notes: readonly Note[];
  /** The last lines of the report: what an application has to change. */
  readonly next: readonly string[];
}

/** `text`: for the operator, with the place in the source and the remedy. */
export type ReadSource = { readonly kind: 'draft'; readonly draft: Draft } | Unusable;

export interface Unusable {
  readonly kind: 'unusable';
  readonly problems: readonly string[];
}

export function unusable(...problems: readonly string[]): Unusable {
  return { kind: 'unusable', problems };
}

/** Collects while a reader goes through its source. A number for a place is a line of it. */
export class DraftBuilder implements Draft {
  readonly settings: DraftSetting[] = [];
  readonly notes: Note[] = [];
  readonly next: string[] = [];
  readonly authorities: DraftAuthority[] = [];
  readonly #name: string;
  readonly #seeds = new Set<string>();

  /** `name`: of the source, for places. */
  constructor(name = '') {
    this.#name = name;
  }

  at(line: number): string {
    return `${this.#name}:${line}`;
  }

  set(path: Path, value: unknown, from?: string | number): void {
    this.settings.push({ path, value, ...(from === undefined ? {} : { from: this.#placeOf(from) }) });
  }

  /** Each URL once. */
  seed(url: string, from?: string): void {
    if (this.#seeds.has(url)) return;
    this.set(['cluster', 'seeds', this.#seeds.size], url, from);
    this.#seeds.add(url);
  }

  /** The same sentence counts once, at its first place. */
  note(text: string, place?: string | number): void {
    if (this.notes.some((note) => note.text === text)) return;
    this.notes.push({ place: place === undefined ? undefined : this.#placeOf(place), text });
  }

  get hasSeeds(): boolean {
    return this.#seeds.size > 0;
  }

  #placeOf(place: string | number): string {
    return typeof place === 'number' ? this.at(place) : place;
  }
}
