// The constants of a profile, merged into a request. Called by the request writers. A constant is a
// default of the operator's: it never replaces what the request itself says.

import type { JsonObject } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { RESERVED_MEMBERS } from '../../core/profile.ts';

/** A body to be written: members that are undefined are not. */
type Members = { readonly [name: string]: unknown };

/**
 * The body with the constants that it does not have itself. Where both have an object, its members
 * are merged in the same way, so that a constant can stand beside a switch of ours.
 */
export function withConstants(body: Members, constants: JsonObject): Members {
  const merged: Record<string, unknown> = { ...body };
  for (const [name, constant] of Object.entries(constants)) {
    if (RESERVED_MEMBERS.has(name)) continue;
    const own = body[name];
    if (own === undefined) merged[name] = constant;
    else if (isObject(own) && isObject(constant)) merged[name] = { ...constant, ...own };
  }
  return merged;
}
