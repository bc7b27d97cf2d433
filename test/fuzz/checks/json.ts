// Parsed JSON as the checks read it: they know what has to be there.

import assert from 'node:assert/strict';

export type Json =
  | { readonly [key: string]: Json | undefined }
  | readonly Json[]
  | string
  | number
  | boolean
  | null;

export type JsonMembers = { readonly [key: string]: Json | undefined };

export function members(value: Json | undefined): JsonMembers {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), 'an object');
  return value as JsonMembers;
}
