// The constants of a profile, added to a request. Called by the request writers. A constant is a
// default of the operator's: it never replaces what the request itself says.

import type { JsonObject } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { RESERVED_MEMBERS } from '../../core/profile.ts';

/** A body to be written: members that are undefined are not. */
export type Members = { [name: string]: unknown };

/**
 * Gives the body the constants that it does not have itself. Where both have an object, its members
 * are merged in the same way, so that a constant can stand beside a switch of ours.
 */
export function addConstants(body: Members, constants: JsonObject): void {
  for (const name in constants) {
    if (RESERVED_MEMBERS.has(name)) continue;
    const own = body[name];
    const constant = constants[name];
    if (own === undefined) body[name] = constant;
    else if (isObject(own) && isObject(constant)) body[name] = { ...constant, ...own };
  }
}
