// Common mistakes of dashboards and consoles, each with the tests that would detect it here. A row
// whose test is missing or renamed fails.

import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { newDatabase, temporaryDirectory } from '../../support/database.ts';

const root = resolve(import.meta.dir, '../..');

type Row = readonly [what: string, tests: readonly (readonly [file: string, title: string])[]];

const security = (file: string, title: string) =>
  [`dashboard/security/${file}.test.ts`, title] as const;
const browser = (file: string, title: string) => [`browser/${file}.test.ts`, title] as const;
const identity = (file: string, title: string) => [`identity/${file}.test.ts`, title] as const;
const signIn = (file: string, title: string) =>
  [`identity/sign-in/${file}.test.ts`, title] as const;

const DASHBOARD: readonly Row[] = [
  [
    'no default account; the first operator chooses a password by a link that works once',
    [
      security('listeners', 'has no password of its own (B-168)'),
      signIn(
        'operators',
        'has no account until one is created, and is signed in by the password of a link',
      ),
      signIn('operators', 'whose link is half an hour old is none'),
    ],
  ],
  [
    'session ids are random, kept as digests, in a cookie for this host alone',
    [
      security('sessions', 'is for this server alone'),
      signIn('sessions', 'is a cookie of 256 random bits'),
      security('secrets', 'no byte of the database holds a secret'),
    ],
  ],
  [
    'sessions end when idle, in the end, and where they should',
    [
      signIn('sessions', 'ends after twelve hours without a request'),
      signIn('sessions', 'ends after seven days, however much it is used'),
      security('sessions', 'a session is over within a second (B-183)'),
      security('sessions', 'is another one after the password was proven again'),
    ],
  ],
  [
    'passwords: argon2id, 12 to 256 characters, few hashed at once',
    [
      signIn('passwords', 'a password is kept as argon2id with 64 MiB and three passes'),
      signIn('passwords', '12 and 256 characters are a password'),
      signIn('passwords', 'of more than forty that wait, the rest get a retry time'),
      security('credentials', 'what is stored of a password opens nothing (B-165)'),
    ],
  ],
  [
    'known and unknown addresses are answered alike, with the same work',
    [
      security('credentials', 'a known address and an unknown one are answered alike (B-166)'),
      signIn('recovery', 'an unknown address is as much work as a known one'),
    ],
  ],
  [
    'guessing is throttled by account and address group, without locking out the owner',
    [
      security('credentials', 'who fails often is slowed down (B-167)'),
      signIn('throttle', 'is slowed by at most a minute, however many networks fail'),
      signIn('throttle', 'is a whole /64 of IPv6'),
      browser('account', 'password guessing is throttled'),
    ],
  ],
  [
    'mailed tokens: once, half an hour, digests, bound to their address',
    [
      signIn('recovery', 'is taken once, also by two at the same time'),
      signIn('recovery', 'is worth nothing after half an hour'),
      signIn('recovery', 'is bound to its address and realm'),
      security('sessions', 'the mailed link of a forgotten password (B-182)'),
    ],
  ],
  [
    'writes need our origin, JSON and a session; no read writes',
    [
      security('strangers', 'a write from elsewhere is refused (B-173)'),
      security('strangers', 'a write that a form could send is refused (B-173)'),
      security('strangers', 'without a session, no route returns data'),
      security('signed-in', 'a read changes nothing'),
    ],
  ],
  [
    'the policy of every response, and nothing from elsewhere',
    [
      security(
        'headers',
        'a refusal of every route has security headers and is not cacheable (B-180)',
      ),
      security('headers', 'the path "%s" is guarded'),
      security('headers', 'files that the page loads are guarded, and come from here alone'),
      security('headers', 'behind TLS, responses send HSTS'),
    ],
  ],
  [
    'a key is shown once',
    [
      security('secrets', 'no secret is returned to a page again'),
      security('secrets', 'a key is shown by its first seven characters and its last four'),
      browser('keys', 'the key is shown once'),
    ],
  ],
  [
    'an immutable audit trail: who, what, when, from where',
    [
      security('checklist', 'nothing of the audit trail is altered or removed'),
      ['dashboard/operator/access.test.ts', 'the trail has everything that was done here'],
      ['dashboard/customer/audit.test.ts', 'lists who did what'],
    ],
  ],
];

const CONSOLE: readonly Row[] = [
  [
    'a listener of its own, on the loopback',
    [
      security('listeners', 'the public listener has no console (B-185)'),
      security('listeners', 'the console listens only on loopback by default'),
    ],
  ],
  [
    'nothing before there is an operator',
    [security('listeners', 'the console is nothing until there is an operator')],
  ],
  [
    'fields are listed for each role, and none of the operator is writable by its owner',
    [
      security('signed-in', 'a field that a body does not have is refused'),
      security('signed-in', "a customer's session is invalid in the console"),
    ],
  ],
  [
    'money moves once, and with a reason',
    [
      ['dashboard/operator/money.test.ts', 'fifty posts of one dialog book once'],
      ['dashboard/operator/money.test.ts', 'what is wrong with a movement is said'],
      [
        'dashboard/operator/access.test.ts',
        'only routes that change money or access need the password again',
      ],
    ],
  ],
];

const BAD_INPUT: readonly Row[] = [
  ['B-164', [security('credentials', 'malformed credentials (B-164)')]],
  ['B-165', [security('credentials', '(B-165)')]],
  ['B-166', [security('credentials', '(B-166)')]],
  ['B-167', [security('credentials', '(B-167)')]],
  ['B-168', [security('listeners', '(B-168)')]],
  ['B-169', [security('sessions', 'planted before sign-in is not the one after it (B-169)')]],
  ['B-170', [security('strangers', 'an API key opens no route of an application (B-170)')]],
  ['B-171', [security('signed-in', '(B-171)')]],
  [
    'B-172',
    [security('keys', 'the creation of a key (B-172)'), browser('inert', '(B-172, B-175)')],
  ],
  ['B-173', [security('strangers', '(B-173)')]],
  ['B-174', [security('strangers', 'no origin may ask in advance (B-174)')]],
  ['B-175', [browser('inert', 'is inert in every page that shows it (B-172, B-175)')]],
  ['B-176', [security('tenants', 'an id of another customer is as unknown as one that never was')]],
  [
    'B-177',
    [
      identity('at-once', 'are as many as its plan allows'),
      identity('at-once', 'are twenty in an hour, rotations among them'),
      ['dashboard/customer/keys.test.ts', 'an account makes 60 changes a minute'],
    ],
  ],
  ['B-178', [security('signed-in', 'a list takes no query that it does not know')]],
  ['B-179', [identity('at-once', 'have one successor, and one revocation')]],
  ['B-180', [browser('inert', 'the pages cannot be framed (B-180)')]],
  ['B-181', [browser('inert', 'signing in goes on to no other origin')]],
  ['B-182', [security('sessions', '(B-182)')]],
  ['B-183', [security('sessions', '(B-183)')]],
  [
    'B-184',
    [
      browser('export', '(B-184)'),
      ['dashboard/customer/requests.test.ts', 'begins like a formula (B-184)'],
    ],
  ],
  ['B-185', [security('listeners', 'the public listener has no console (B-185)')]],
];

test.each([...DASHBOARD, ...CONSOLE, ...BAD_INPUT].map(([what, tests]) => [what, tests] as const))(
  '%s: it is tested',
  (_what, tests) => {
    const missing = tests.filter(([file, title]) => {
      const path = join(root, file);
      return !existsSync(path) || !readFileSync(path, 'utf8').includes(title);
    });
    expect(missing).toEqual([]);
  },
);

test('nothing of the audit trail is altered or removed', async () => {
  const { connection } = await newDatabase(temporaryDirectory());
  connection.run(
    "INSERT INTO audit_events (operation_id, at, actor, action, subject, detail) VALUES ('op_1', 1, 'a', 'b', 'c', '{}')",
  );
  expect(() => connection.run("UPDATE audit_events SET actor = 'z'")).toThrow('append-only');
  expect(() => connection.run('DELETE FROM audit_events')).toThrow('append-only');
  connection.close();
});
