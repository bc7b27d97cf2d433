// Fields that OpenAI's two formats share. But for `user`, they were ignored before they were read, so
// no value of theirs is refused.

import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../core/error.ts';
import { described, readString } from '../check.ts';
import { exceedsCharacters, USER_MAX } from '../limits.ts';

const VERBOSITIES = ['low', 'medium', 'high'] as const;

/** Only a hash of it is ever sent, so a long key loses nothing but its end. */
const CACHE_KEY_MAX = 256;

export const readParallelToolCalls = described(Type.Unknown(), (value) =>
  typeof value === 'boolean' ? value : undefined,
);

export const readVerbosity = described(Type.Unknown(), (value) =>
  VERBOSITIES.find((verbosity) => verbosity === value),
);

export const readCacheKey = described(Type.Unknown(), (value) =>
  typeof value === 'string' && value !== '' ? value.slice(0, CACHE_KEY_MAX) : undefined,
);

/** NUL is refused because the id is stored, and some databases do not accept it in text. */
export const readUser = described(
  Type.String({ maxLength: USER_MAX, pattern: '^[^\\u0000]*$' }),
  (value, path): string => {
    const user = readString(value, path);
    if (exceedsCharacters([user], USER_MAX)) {
      throw invalidRequest(path, `must have at most ${USER_MAX} characters`);
    }
    if (user.includes('\0')) throw invalidRequest(path, 'must not contain the NUL character');
    return user;
  },
);
