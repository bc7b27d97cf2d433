// Conditional requests: whether the client has the current version already.

/** Whether `if-none-match` names this tag, weak or not (RFC 9110, section 13.1.2). */
export function isUnchanged(headers: Headers, etag: string): boolean {
  return (headers.get('if-none-match') ?? '')
    .split(',')
    .some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
