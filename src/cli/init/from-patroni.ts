// A member's patroni.yml as a draft: its own API as the seed, the scope, the files for TLS. No password is read.
// https://patroni.readthedocs.io/en/latest/yaml_configuration.html
import { formatPath, type Path } from '../../config/fault.ts';
import { childOf, isTree, valueAt } from '../../config/source/tree.ts';
import { readYaml, type YamlText } from '../../config/source/yaml-text.ts';
import { DraftBuilder, unusable, type ReadSource } from './draft.ts';

export interface PatroniSource {
  readonly text: string;
  /** For places: `patroni.yml`. */
  readonly name: string;
  readonly apiPort: number;
}

type Yaml = Extract<YamlText, { kind: 'tree' }>;

export function fromPatroni({ text, name, apiPort }: PatroniSource): ReadSource {
  const yaml = readYaml(text);
  if (yaml.kind === 'invalid') {
    return unusable(
      ...yaml.faults.map(({ at, message }) => {
        const place = [name, at?.line, at?.column].filter((part) => part !== undefined).join(':');
        return `${place}: ${at === undefined ? 'it is no configuration of Patroni in YAML' : message}`;
      }),
    );
  }
  const { tree } = yaml;
  const restapi = childOf(tree, 'restapi');
  if (!isTree(restapi)) {
    return unusable(
      `${name}: there is no section restapi, so the address of its API is unknown: use --from http://HOST:${apiPort}`,
    );
  }
  const draft = new DraftBuilder();
  const at = (...path: Path): string => placeOf(yaml, name, path);
  const scope = textAt(tree, ['scope']);
  if (scope !== undefined) draft.set(['cluster', 'scope'], scope, at('scope'));
  const isTls = textAt(restapi, ['certfile']) !== undefined;
  const found = endpointOf(restapi, apiPort);
  if (found.kind === 'bad') return unusable(`${at('restapi', found.key)}: restapi.${found.key}: ${found.why}`);
  const from = `${at('restapi', found.key)} ${textAt(tree, ['name']) ?? ''}`.trimEnd();
  draft.seed(`${isTls ? 'https' : 'http'}://${found.host}:${found.port}`, from);
  if (found.isAssumed) {
    draft.note(
      'restapi.listen names no host: this host is assumed (restapi.connect_address is missing)',
      at('restapi', found.key),
    );
  }
  if (isTls) addTls(tree, draft, at);
  const authentication = childOf(restapi, 'authentication');
  if (isTree(authentication)) noteAuthentication(authentication, draft, at('restapi', 'authentication'));
  if (childOf(restapi, 'allowlist') !== undefined) {
    draft.note(
      'restapi.allowlist limits who may change the cluster: pointsman cluster needs an entry for its host',
      at('restapi', 'allowlist'),
    );
  }
  return { kind: 'draft', draft };
}

type PatroniEndpoint =
  | {
      readonly kind: 'found';
      readonly key: string;
      readonly host: string;
      readonly port: number;
      readonly isAssumed: boolean;
    }
  | { readonly kind: 'bad'; readonly key: string; readonly why: string };

/** `connect_address` is for others; `listen` is used without one. */
function endpointOf(restapi: unknown, apiPort: number): PatroniEndpoint {
  const [key, written] = ['connect_address', 'listen']
    .map((name) => [name, textAt(restapi, [name])] as const)
    .find(([, text]) => text !== undefined) ?? ['connect_address', undefined];
  if (written === undefined) return { kind: 'bad', key, why: 'it is missing: use --from with the URL of the API' };
  const match = /^(?:\[([^\]]*)\]|([^:]*)|(.*:.*)):(\d+)$/.exec(written);
  const host = match?.[1] ?? match?.[2] ?? match?.[3] ?? written;
  const port = Number(match?.[4] ?? apiPort);
  const isAny = ['', '*', '0.0.0.0', '::'].includes(host);
  // Patroni takes several addresses here, the first is as good as any.
  const [first = ''] = host.split(',');
  if (!isAny && !/^[\w.:-]+$/.test(first)) return { kind: 'bad', key, why: `${written} is not host:port` };
  const shown = isAny ? '127.0.0.1' : first.includes(':') ? `[${first}]` : first;
  return { kind: 'found', key, host: shown, port, isAssumed: isAny };
}

/** `ctl` has the files of a client (patronictl); without it the authority of `restapi` is the best guess. */
function addTls(tree: unknown, draft: DraftBuilder, at: (...path: Path) => string): void {
  const take = (key: string, ...paths: readonly Path[]): boolean => {
    const path = paths.find((one) => textAt(tree, one) !== undefined);
    if (path !== undefined) draft.set(['cluster', 'api', 'tls', key], textAt(tree, path), at(...path));
    return path !== undefined;
  };
  const hasCa = take('ca', ['ctl', 'cacert'], ['restapi', 'cafile']);
  if (!hasCa) {
    draft.note(
      'the API has TLS and no authority is named: set cluster.api.tls.ca unless Node.js knows it',
      at('restapi', 'certfile'),
    );
  }
  const verify = textAt(tree, ['restapi', 'verify_client']);
  const hasCert = take('cert', ['ctl', 'certfile']) && take('key', ['ctl', 'keyfile'], ['ctl', 'certfile']);
  if ((verify === 'required' || verify === 'optional') && !hasCert) {
    const what = verify === 'required' ? '' : ' for pointsman switchover and other operations';
    draft.note(
      `verify_client: ${verify}: set cluster.api.tls.cert and .key to a client certificate${what}`,
      at('restapi', 'verify_client'),
    );
  }
}

function noteAuthentication(authentication: unknown, draft: DraftBuilder, place: string): void {
  const user = textAt(authentication, ['username']);
  const named = user === undefined ? '' : ` as ${user}`;
  const how = 'cluster.api.auth.username and password_file, or POINTSMAN_CLUSTER_API_AUTH_PASSWORD';
  draft.note(
    `commands that change the cluster need the login of the API${named}: ${how}. The password was not read`,
    place,
  );
}

function textAt(tree: unknown, path: Path): string | undefined {
  const value = valueAt(tree, path);
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
}

/** `patroni.yml:3` of a key; of the nearest section where it has no place. */
function placeOf({ positionOf }: Yaml, name: string, path: Path): string {
  const position = positionOf(path, 'value') ?? positionOf(path.slice(0, -1), 'key');
  return position === undefined ? `${name} ${formatPath(path)}` : `${name}:${position.line}`;
}
