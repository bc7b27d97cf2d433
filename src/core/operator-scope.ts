// What a token of the operators' API may do. Each route names the scope that it needs.

export const SCOPES = [
  'accounts:read',
  'accounts:write',
  'keys:read',
  'keys:write',
  'credits:write',
  'usage:read',
  'prices:read',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
