// Reads a `DATABASE_URL` of PostgreSQL: which server and database, and how the way there is encrypted.
// Called by the settings and by the store. No problem text ever holds a part of the
// URL, because it may hold a password.

import { decodePart } from './percent-encoding.ts';

export type PostgresTarget = {
  readonly host: string;
  readonly port: number;
  /** Absent: as for PostgreSQL's own programs, PGUSER and PGPASSWORD, or who runs this process. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  /**
   * `require` keeps out who listens; `verify-full` also who says to be the server: its certificate has
   * to name the host, and to be signed by an authority that is known.
   */
  readonly sslmode: SslMode;
  /** The file of the authorities that are known instead of the public ones. */
  readonly rootCertificates: string | undefined;
};

const SSL_MODES = ['disable', 'require', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

const EXPECTS =
  'must name a host and a database of PostgreSQL, such as postgres://user:password@host/tollgate.';

/** `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=authorities.pem`. */
export function readPostgresUrl(
  text: string,
): { readonly value: PostgresTarget } | { readonly problem: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) return { problem: EXPECTS };
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host.includes(',')) {
    return { problem: 'names several servers; name one that always is the primary.' };
  }
  // What stands in brackets has been parsed as an IPv6 address.
  const isHost = host !== url.hostname || /^[A-Za-z0-9._-]+$/.test(host);
  if (!isHost || !/^\/[^/]+$/.test(url.pathname) || url.hash !== '') return { problem: EXPECTS };
  const [username, password, database] = [url.username, url.password, url.pathname.slice(1)].map(
    decodePart,
  );
  if (username === null || password === null || database === null || database === undefined) {
    return { problem: 'has a percent sign that is no encoding; write it as %25.' };
  }
  const { sslmode = 'disable', sslrootcert, ...others } = Object.fromEntries(url.searchParams);
  const mode = SSL_MODES.find((known) => known === sslmode);
  if (mode === undefined) return { problem: `may have an sslmode of ${SSL_MODES.join(', ')}.` };
  if (sslrootcert !== undefined && mode !== 'verify-full') {
    return { problem: 'has an sslrootcert, which says something with sslmode=verify-full only.' };
  }
  if (Object.keys(others).length > 0) {
    return { problem: 'takes no settings but sslmode and sslrootcert.' };
  }
  const port = Number(url.port === '' ? 5432 : url.port);
  const rootCertificates = sslrootcert;
  return {
    value: { host, port, username, password, database, sslmode: mode, rootCertificates },
  };
}
