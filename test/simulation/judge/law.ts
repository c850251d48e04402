import type { Scene } from '../scene/scene.ts';

/** A rule that holds in every history. */
export interface Law {
  /** The numbers in guarantees.md: `G3`. */
  readonly guarantee: string;
  /** A sentence for each time that it was broken. */
  readonly broken: (scene: Scene) => readonly string[];
}

/** As events name a client. */
export function nameOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return `${address}:${port}`;
}
