// Sign-in of a server: made when somebody first opens a page, or when there is something to sweep.

import type { Config } from '../config/settings.ts';
import { publicUrl } from '../config/urls.ts';
import type { RandomBytes } from '../core/id.ts';
import type { SignIn } from '../identity/sign-in/contract.ts';
import type { SendMail } from '../identity/sign-in/mails.ts';
import { signInSecret } from '../identity/sign-in/secret.ts';
import { createSignIn } from '../identity/sign-in/sign-in.ts';
import type { Log } from '../observe/log.ts';
import type { Store } from '../operations/store.ts';
import { forgetThinking } from '../reasoning/reasoning.ts';

export type ServingSignInOptions = {
  readonly config: Config;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  readonly log: Pick<Log, 'error'>;
  readonly mail: SendMail;
  /** The port that the public listener really has. */
  readonly port: () => number;
  /** Where the console is; absent where there is none. */
  readonly consoleUrl: () => string | undefined;
};

/** Throws `StoreError` where the secret of sign-in cannot be read or kept. */
export function createServingSignIn(
  options: ServingSignInOptions,
  { database, accounts, keys }: Store,
): SignIn {
  const { config, clock, randomBytes, log, mail } = options;
  return createSignIn({
    ...{ database, accounts, keys, clock, randomBytes, mail },
    secret: signInSecret({
      sessionSecret: config.sessionSecret,
      databaseUrl: config.databaseUrl,
      randomBytes,
    }),
    mode: config.signUp,
    pages: {
      customer: () => `${publicUrl(config, options.port())}/dashboard`,
      operator: () => options.consoleUrl() ?? '',
    },
    onDeletion: (accountId) => forgetThinking(database, accountId),
    onTrouble: (message, error) => log.error(message, error),
  });
}
