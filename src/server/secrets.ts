// The secrets with which a node seals what it keeps for customers: their thinking and their answers.

import { type Sentence, say } from '../core/sentence.ts';
import { signInSecret } from '../identity/sign-in/secret.ts';
import type { Base } from './base.ts';

export type Secrets = {
  readonly reasoning: string;
  /** Undefined where answers are not kept: disabled, or nothing is secret here. */
  readonly answers: string | undefined;
  /** What does not work because a secret could not be read. */
  readonly warnings: readonly Sentence[];
};

const IGNORED = say(
  'Idempotency-Key is ignored, because the secret could not be read at the start: repair it and restart; see the log',
);

/**
 * The secret of answers must survive a restart, because a repeat that is not recognized is charged
 * again.
 */
export function readSecrets({ config, deployment, randomBytes, observation }: Base): Secrets {
  const { idempotency, sessionSecret, databaseUrl } = config;
  const reasoning = sessionSecret ?? Buffer.from(randomBytes(32)).toString('hex');
  if (idempotency === 'off' || !deployment.hasSecret(config)) {
    return { reasoning, answers: undefined, warnings: [] };
  }
  try {
    const answers = signInSecret({ sessionSecret, databaseUrl, randomBytes });
    return { reasoning, answers, warnings: [] };
  } catch (error) {
    observation.log.error('Idempotency-Key is ignored: no secret seals the kept answers', error);
    return { reasoning, answers: undefined, warnings: [IGNORED] };
  }
}
