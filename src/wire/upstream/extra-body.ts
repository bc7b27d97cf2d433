// Adds the constants of a profile to a request. They are the operator's defaults and never replace
// members of the request.

import type { JsonObject } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { RESERVED_MEMBERS } from '../../core/profile.ts';

/** A body to write; undefined members are omitted. */
export type Members = { [name: string]: unknown };

/**
 * Adds constants that the body does not have. If both have an object, its members are merged
 * recursively, so that a constant can extend a switch of ours.
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
