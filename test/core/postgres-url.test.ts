import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readPostgresUrl } from '../../src/core/postgres-url.ts';

const PLAIN = {
  ...{ host: 'h', port: 5432, username: undefined, password: undefined, database: 'd' },
  ...{ sslmode: 'disable', rootCertificates: undefined },
};

describe('a URL of PostgreSQL', () => {
  test.each([
    ['postgres://h/d', {}],
    ['postgresql://h:6000/d', { port: 6000 }],
    ['postgres://u@db.example.com/d', { username: 'u', host: 'db.example.com' }],
    ['postgres://u:p@10.0.0.1/d', { username: 'u', password: 'p', host: '10.0.0.1' }],
    ['postgres://[::1]:6000/d', { host: '::1', port: 6000 }],
    ['postgres://u:a@b,c@h/d', { username: 'u', password: 'a@b,c' }],
    ['postgres://h/d?sslmode=require', { sslmode: 'require' }],
    ['postgres://h/d?sslmode=verify-full', { sslmode: 'verify-full' }],
    [
      'postgres://h/d?sslmode=verify-full&sslrootcert=%2Fetc%2Fours.pem',
      { sslmode: 'verify-full', rootCertificates: '/etc/ours.pem' },
    ],
  ])('%s', (url, differs) => {
    expect(readPostgresUrl(url)).toEqual({ value: { ...PLAIN, ...differs } as never });
  });

  test('law: every name and password that is encoded comes out as it was', () => {
    const word = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(word, word, word, (username, password, database) => {
        const [user, secret, name] = [username, password, database].map(encodeURIComponent);
        // What is a way within the URL may not be a name.
        fc.pre(!/^\.{1,2}$/.test(database));
        expect(readPostgresUrl(`postgres://${user}:${secret}@h/${name}`)).toEqual({
          value: { ...PLAIN, username, password, database } as never,
        });
      }),
    );
  });

  test.each([
    ['postgres://u:secret@h', 'must name a host and a database'],
    ['postgres://u:secret@/d', 'must name a host and a database'],
    ['postgres://u:secret@h/d/e', 'must name a host and a database'],
    ['postgres://u:sec#ret@h/d', 'must name a host and a database'],
    ['postgres://u:sec/ret@h/d', 'must name a host and a database'],
    ['postgres://u:secret@%2Frun%2Fpostgresql/d', 'must name a host and a database'],
    ['postgres://u:secret@h1:5432,h2:5432/d', 'must name a host and a database'],
    ['mysql://u:secret@h/d', 'must name a host and a database'],
    ['postgres://u:secret@h1,h2/d', 'names several servers; name one that always is the primary.'],
    ['postgres://u:100%secret@h/d', 'has a percent sign that is no encoding; write it as %25.'],
    [
      'postgres://u:secret@h/d?sslmode=prefer',
      'may have an sslmode of disable, require, verify-full.',
    ],
    ['postgres://u:secret@h/d?sslmode=require&sslrootcert=a.pem', 'has an sslrootcert, which says'],
    ['postgres://u:secret@h/d?statement_timeout=0', 'takes no settings but sslmode and'],
  ])('%s is refused, and not repeated', (url, problem) => {
    const read = readPostgresUrl(url);
    expect(read).toEqual({ problem: expect.stringContaining(problem) });
    expect(JSON.stringify(read)).not.toMatch(/secret|h1/);
  });
});
