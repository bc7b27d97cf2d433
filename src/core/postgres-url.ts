// Parses a PostgreSQL `DATABASE_URL`: server, database and encryption. Error texts never contain a
// part of the URL, because it may hold a password.

import { decodePart } from './percent-encoding.ts';

export type PostgresTarget = {
  readonly host: string;
  readonly port: number;
  /**
   * Defaults to PGUSER and PGPASSWORD or the operating-system user, as for PostgreSQL's own tools.
   */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  /**
   * `require` prevents eavesdropping. `verify-full` also prevents impersonation: the server's
   * certificate must name the host and be signed by a trusted authority.
   */
  readonly sslmode: SslMode;
  /** A file with the trusted authorities, replacing the public ones. */
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
  // Text in brackets has been parsed as an IPv6 address.
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
