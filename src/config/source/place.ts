// From a fault to its place: the environment variable, or the line and column, at which the operator finds it.
import { formatPath, type Fault, type Origin, type Path, type Problem } from '../fault.ts';
import { STANDARD_INPUT } from './read-file.ts';
import type { TextPosition, YamlText } from './yaml-text.ts';

export interface Sources {
  readonly file: string | undefined;
  readonly positionOf: (YamlText & { readonly kind: 'tree' })['positionOf'];
  /** The variable that gave the value at a path. */
  readonly variables: ReadonlyMap<string, string>;
}

export function fileOrigin(file: string | undefined, at: TextPosition | undefined): Origin {
  if (file === undefined) return { kind: 'nowhere' };
  return { kind: 'file', file: shownFile(file), ...at };
}

export function shownFile(file: string): string {
  return file === STANDARD_INPUT ? 'standard input' : file;
}

export function place({ paths, part, message }: Fault, sources: Sources): Problem {
  for (const path of paths) {
    const origin = writtenAt(path, part, sources);
    if (origin !== undefined) return { origin, path: formatPath(path), message };
  }
  const [path] = paths;
  return { origin: nearest(path, sources), path: formatPath(path), message };
}

function writtenAt(path: Path, part: Fault['part'], sources: Sources): Origin | undefined {
  for (let length = path.length; length > 0; length--) {
    const variable = sources.variables.get(formatPath(path.slice(0, length)));
    if (variable !== undefined) return { kind: 'environment', variable };
  }
  const at = sources.positionOf(path, part);
  return at === undefined ? undefined : fileOrigin(sources.file, at);
}

/** Where something that is missing would have to be written: its nearest section. */
function nearest(path: Path, { file, positionOf }: Sources): Origin {
  for (let length = path.length - 1; length > 0; length--) {
    const at = positionOf(path.slice(0, length), 'key');
    if (at !== undefined) return fileOrigin(file, at);
  }
  return fileOrigin(file, undefined);
}
