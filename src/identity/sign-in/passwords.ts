// Checks new passwords and hashes passwords with argon2id in the runtime's threads. At most two are
// hashed at once, each with 64 MiB and a core, so that sign-ins never starve streams. Each realm,
// and in it owners and strangers, are a lane of their own in the line: a flood of one delays the
// others by about one hash each.

import { createLine } from '../../async/line.ts';
import { IdentityError } from '../error.ts';
import type { Realm } from '../signed-in.ts';
import { isGuessable } from './guessable.ts';

const LENGTH_MIN = 12;
const LENGTH_MAX = 256;

/** Memory in KiB, and the number of passes. */
type Strength = { readonly memoryCost: number; readonly timeCost: number };

const STRENGTH: Strength = { memoryCost: 65_536, timeCost: 3 };
const AT_ONCE_MAX = 2;
/** Of each lane. */
const WAITING_MAX = 40;
const RETRY_AFTER_SECONDS = 10;

/**
 * An owner is signed in, or was before on this network: strangers with many networks could keep the
 * line full for ever.
 */
export type Waiter = 'owner' | 'stranger';

export type Passwords = {
  /** Throws `invalid_password` for one that is too short or too long, before it is hashed. */
  readonly hash: (password: string, waiter?: Waiter) => Promise<string>;
  readonly verify: (password: string, hash: string, waiter?: Waiter) => Promise<boolean>;
};

/** Only tests use a weaker `strength`. */
export function createPasswords(strength: Strength = STRENGTH): Readonly<Record<Realm, Passwords>> {
  const inTurn = createLine({ atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX, full: tooMany });

  const of = (realm: Realm): Passwords => ({
    async hash(password, waiter = 'stranger') {
      const text = requireLength(password);
      return inTurn(`${realm} ${waiter}`, () =>
        Bun.password.hash(text, { algorithm: 'argon2id', ...strength }),
      );
    },
    async verify(password, hash, waiter = 'stranger') {
      if (!mayBePassword(password)) return false;
      return inTurn(`${realm} ${waiter}`, () =>
        Bun.password.verify(password.normalize('NFC'), hash),
      );
    },
  });
  return { customer: of('customer'), operator: of('operator') };
}

/** Whether a user can have it; other texts are not hashed. */
export function mayBePassword(text: string): boolean {
  const { length } = text.normalize('NFC');
  return length >= LENGTH_MIN && length <= LENGTH_MAX;
}

/** Normalizes a new password. Throws `invalid_password`. */
export function requirePassword(password: string): string {
  const text = requireLength(password);
  if (!isGuessable(text)) return text;
  throw new IdentityError(
    'invalid_password',
    'This password is easy to guess: it repeats a short text, or consists of common words and sequences. Choose another one.',
  );
}

/** Also for attempts to sign in, which may be with any text. */
function requireLength(password: string): string {
  const text = password.normalize('NFC');
  if (text.length >= LENGTH_MIN && text.length <= LENGTH_MAX) return text;
  throw new IdentityError(
    'invalid_password',
    `A password has ${LENGTH_MIN} to ${LENGTH_MAX} characters; this one has ${text.length}.`,
  );
}

function tooMany(): IdentityError {
  return new IdentityError(
    'too_many_attempts',
    'Too many people are signing in at this moment. Try again in some seconds.',
    RETRY_AFTER_SECONDS,
  );
}
