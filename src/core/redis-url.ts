// Parses `REDIS_URL`: the servers and how to reach them. Error texts never contain a part of the
// URL, because it may hold a password.

import { decodePart } from './percent-encoding.ts';

type RedisAddress = { readonly host: string; readonly port: number };

export type RedisTarget = {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  /** One server, the sentinels, or some nodes of a cluster. */
  readonly addresses: readonly RedisAddress[];
  /** The sentinels' name for the primary that they monitor. */
  readonly primary: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly tls: boolean;
};

const EXPECTS =
  'must be redis://host:port, rediss:// for TLS, redis+sentinel://host:port,host:port/name, or redis+cluster://host:port,host:port.';

const URL_PARTS =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^?#]*))?$/;

const DEFAULT_PORT = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;

/** `redis://`, `rediss://`, `redis+sentinel://host,host/name`, `redis+cluster://host,host`. */
export function readRedisUrl(
  text: string,
): { readonly value: RedisTarget } | { readonly problem: string } {
  const parts = URL_PARTS.exec(text)?.groups;
  if (parts === undefined) return { problem: EXPECTS };
  const { kind: form = 'single', hosts = '', path = '' } = parts;
  const kind = form === 'sentinel' || form === 'cluster' ? form : 'single';
  const addresses = hosts.split(',').map((each) => readAddress(each, DEFAULT_PORT[kind]));
  const known = addresses.filter((each) => each !== undefined);
  if (known.length < addresses.length) return { problem: EXPECTS };
  if (kind === 'single' && known.length > 1) {
    return { problem: 'names several servers; say redis+sentinel:// or redis+cluster://.' };
  }
  const words = path === '' ? [] : path.split('/');
  const primary = kind === 'sentinel' ? words.shift() : undefined;
  if (kind === 'sentinel' && (primary === undefined || primary === '')) {
    return { problem: 'must end in the name that the sentinels watch, such as /main.' };
  }
  const [database = '0', ...more] = words;
  const noDatabase = !/^\d{1,4}$/.test(database) || (kind === 'cluster' && database !== '0');
  if (noDatabase || more.length > 0) {
    return { problem: 'may end in the number of a database, and a cluster has none but 0.' };
  }
  const username = decodePart(parts['user']);
  const password = decodePart(parts['password']);
  if (username === null || password === null) {
    return { problem: 'has a name or a password whose percent signs are no encoding.' };
  }
  return {
    value: {
      kind,
      addresses: known,
      primary,
      username,
      password,
      database: Number(database),
      tls: parts['tls'] === 's',
    },
  };
}

function readAddress(text: string, defaultPort: number): RedisAddress | undefined {
  const parts =
    /^(?:\[(?<six>[0-9A-Fa-f:.]+)\]|(?<host>[A-Za-z0-9._-]+))(?::(?<port>\d{1,5}))?$/.exec(
      text,
    )?.groups;
  const name = parts?.['six'] ?? parts?.['host'];
  const port = Number(parts?.['port'] ?? defaultPort);
  if (name === undefined || port < 1 || port > 65_535) return undefined;
  return { host: name, port };
}
