// TLS to a real PostgreSQL with its own certificate: what each sslmode accepts and rejects, and
// that a password with any characters works and is never shown.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { Database } from '../../../src/store/contract.ts';
import { openPostgres } from '../../../src/store/postgres/database.ts';
import { listen } from '../../support/listen.ts';
import {
  describeWithServices,
  type PostgresServer,
  startPostgres,
} from '../../support/services.ts';
import { type Certificate, makeCertificate } from '../../upstream/sockets/certificates.ts';

const USER = `o'ne@:/?#[] %&"`;
const PASSWORD = `s3cret@:/?#[] %&'"ü,`;

let certificate: Certificate;
let stranger: Certificate;
let server: PostgresServer;
const opened: Database[] = [];

/** As the user with the password; `settings` are those of the URL. */
function open(settings: string, host = 'localhost', password = PASSWORD): Database {
  const who = `${encodeURIComponent(USER)}:${encodeURIComponent(password)}`;
  const url = `postgres://${who}@${host}:${server.port}/postgres${settings}`;
  const database = openPostgres({ url });
  opened.push(database);
  return database;
}

const failureOf = (database: Database): Promise<string> =>
  database.ping().then(
    () => 'none',
    ({ name, message }: Error) => `${name}: ${message}`,
  );

const verified = ({ path }: Certificate): string =>
  `?sslmode=verify-full&sslrootcert=${encodeURIComponent(path)}`;

describeWithServices('an encrypted way to PostgreSQL', ['PostgreSQL'], () => {
  beforeAll(async () => {
    certificate = makeCertificate('DNS:localhost');
    stranger = makeCertificate('DNS:localhost');
    server = await startPostgres({ certificate });
    const administrator = openPostgres({ url: server.url });
    const [user, password] = [USER.replaceAll('"', '""'), PASSWORD.replaceAll("'", "''")];
    await administrator.db.run(
      sql.raw(`create role "${user}" login superuser password '${password}'`),
    );
    writeFileSync(
      join(server.directory, 'data/pg_hba.conf'),
      'hostssl all all all scram-sha-256\n',
    );
    await administrator.rows(sql`select pg_reload_conf()`);
    await administrator.close();
  });
  afterAll(async () => {
    await server.stop();
    certificate[Symbol.dispose]();
    stranger[Symbol.dispose]();
  });
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });

  test.each([
    ['require', () => open('?sslmode=require')],
    ['require, by its address', () => open('?sslmode=require', '127.0.0.1')],
    ['verify-full with its authority', () => open(verified(certificate))],
  ])('%s: everything goes encrypted', async (_, connect) => {
    const database = connect();
    const inUse = sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    expect(await database.rows(inUse)).toEqual([{ ssl: 1n }]);
    expect(await database.transaction(() => database.rows(inUse))).toEqual([{ ssl: 1n }]);
    // More than one piece of what is encrypted.
    const [row] = await database.rows<{ text: string }>(sql`select repeat('ü', 100000) as text`);
    expect(row?.text).toBe('ü'.repeat(100_000));
  });

  test('a connection that breaks is a failure, and the next one is encrypted again', async () => {
    const database = open(verified(certificate));
    const broken = database.transaction(() =>
      database.rows(sql`select pg_terminate_backend(pg_backend_pid())`),
    );
    expect(await broken.catch(({ name }: Error) => name)).toBe('PostgresFailure');
    await database.ping();
  });

  test.each([
    ['no encryption', () => open(''), 'no encryption'],
    ['a wrong password', () => open('?sslmode=require', 'localhost', 'wr0ng'), '28P01'],
    ['an authority that is not public', () => open('?sslmode=verify-full'), 'self signed'],
    ['another authority', () => open(verified(stranger)), 'certificate'],
    [
      'a certificate of another name',
      () => open(verified(certificate), '127.0.0.1'),
      "does not match certificate's altnames",
    ],
  ])('%s is refused, and no password is shown', async (_, connect, words) => {
    const failure = await failureOf(connect());
    expect(failure).toStartWith('PostgresFailure: ');
    expect(failure).toContain(words);
    expect(failure).not.toMatch(/s3cret|wr0ng/);
  });

  test('a file of authorities that is not there is reported at once', () => {
    expect(() => open(verified({ ...certificate, path: '/nowhere.pem' }))).toThrow(
      'The file that sslrootcert of DATABASE_URL names cannot be read.',
    );
  });
});

test.each([
  ['has none', 'N', 'sslmode asks for encryption, and the server has none'],
  ['says more than it may', 'SE', 'the server sent data before it was encrypted'],
  ['hangs up', undefined, 'the server closed it'],
])('a server that %s is sent nothing in plain', async (_, answer, words) => {
  const heard: number[] = [];
  const listening = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      heard.push(data.length);
      if (answer === undefined) socket.destroy();
      else socket.write(answer);
    });
  });
  const port = await listen(listening);
  const database = openPostgres({ url: `postgres://u:p@127.0.0.1:${port}/d?sslmode=require` });
  expect(await failureOf(database)).toContain(words);
  expect(heard).toEqual([8]);
  await database.close();
  listening.close();
});
