// better-auth, set up for one realm: it checks passwords at sign-in, makes sessions, and asks for
// the second factor. It is loaded by the first sign-in and not before, its HTTP handler is mounted
// nowhere, and everything else that it could do is off.

import { betterAuth } from 'better-auth/minimal';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { createId, type RandomBytes } from '../../core/id.ts';
import type { Database } from '../../store/contract.ts';
import { normaliseAddress } from '../address.ts';
import type { Realm } from '../signed-in.ts';
import { createSignInAdapter } from './adapter.ts';
import { createSecret } from './digest.ts';
import { ADDRESS_HEADER, challengeCookieName, ISSUER } from './library-call.ts';
import type { Passwords } from './passwords.ts';
import { ABSOLUTE_MS, sessionCookieName } from './sessions.ts';

const CHALLENGE_SECONDS = 600;

export type Library = ReturnType<typeof createLibrary>;

export function createLibrary(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  readonly passwords: Passwords;
  readonly secret: string;
  readonly realm: Realm;
}) {
  const { database, clock, randomBytes, passwords, secret, realm } = dependencies;
  const cookie = { secure: true, httpOnly: true, sameSite: 'lax', path: '/' } as const;
  return betterAuth({
    appName: ISSUER,
    // It makes no links: ours are made by `mails.ts`. Nothing of a request is ever read for it.
    baseURL: 'https://tollgate.invalid',
    secret,
    secrets: [{ version: 1, value: secret }],
    database: createSignInAdapter({ database, realm }),
    telemetry: { enabled: false },
    // Its words may hold what must not be in a log; what goes wrong is thrown as well.
    logger: { disabled: true },
    rateLimit: { enabled: false },
    user: { modelName: 'users' },
    account: {
      modelName: 'credentials',
      fields: { accountId: 'subject', providerId: 'provider' },
      accountLinking: { enabled: false },
    },
    verification: { modelName: 'challenges', storeIdentifier: 'hashed' },
    session: {
      modelName: 'sessions',
      fields: { token: 'digest', ipAddress: 'address' },
      expiresIn: ABSOLUTE_MS / 1_000,
      disableSessionRefresh: true,
      cookieCache: { enabled: false },
      additionalFields: {
        lastSeenAt: { type: 'number', required: false, input: false },
        provenAt: { type: 'number', required: false, input: false },
      },
    },
    databaseHooks: {
      session: {
        create: {
          before: async ({ ipAddress }) => {
            const now = clock();
            const at = new Date(now);
            return {
              data: {
                token: createSecret(randomBytes),
                createdAt: at,
                updatedAt: at,
                expiresAt: new Date(now + ABSOLUTE_MS),
                lastSeenAt: now,
                provenAt: now,
                // In the spelling of the rest of the program.
                ipAddress: normaliseAddress(ipAddress ?? '') ?? '',
              },
            };
          },
        },
      },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      requireEmailVerification: true,
      password: {
        hash: (password) => passwords.hash(password),
        verify: ({ password, hash }) => passwords.verify(password, hash),
      },
    },
    plugins: [
      twoFactor({
        issuer: ISSUER,
        twoFactorTable: 'secondFactors',
        twoFactorCookieMaxAge: CHALLENGE_SECONDS,
        // The throttle is ours: it tells the owner's network from others.
        accountLockout: { enabled: false },
        schema: {
          twoFactor: {
            fields: { backupCodes: 'recoveryCodes', failedVerificationCount: 'failures' },
          },
        },
      }),
    ],
    advanced: {
      useSecureCookies: false,
      cookies: {
        session_token: { name: sessionCookieName(realm), attributes: cookie },
        two_factor: { name: challengeCookieName(realm), attributes: cookie },
      },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 128 },
      database: { generateId: () => createId('sess_', randomBytes) },
    },
  });
}
