// Completes every response of the dashboard with security headers against foreign scripts, framing,
// sniffing and caching of secrets.

import type { ErrorReply } from './error.ts';

/** The policy of a page that runs only its own files: no inline script or style, no eval. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; " +
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy':
    'camera=(), geolocation=(), microphone=(), payment=(), usb=(), clipboard-read=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const HSTS = 'max-age=31536000';

/** The headers of every response below /dashboard and /operator. */
export function securityHeaders(isHttps: boolean): Record<string, string> {
  return {
    ...SECURITY_HEADERS,
    ...(isHttps ? { 'strict-transport-security': HSTS } : {}),
  };
}

/** The completed response of a handler: JSON, empty, or its own response with our headers. */
export function finish(result: unknown, requestId: string, isHttps: boolean): Response {
  const headers = new Headers(securityHeaders(isHttps));
  headers.set('x-request-id', requestId);
  headers.set('cache-control', 'no-store');
  if (result === undefined) return new Response(null, { status: 204, headers });
  if (result instanceof Response) {
    for (const [name, value] of result.headers) {
      if (name === 'set-cookie') headers.append(name, value);
      else headers.set(name, value);
    }
    return new Response(result.body, { status: result.status, headers });
  }
  headers.set('content-type', 'application/json');
  return new Response(JSON.stringify(result), { headers });
}

/** `{ "error": { code, message, param?, sentences?, request_id } }` */
export function finishRefusal(refusal: ErrorReply, requestId: string, isHttps: boolean): Response {
  const { status, code, message, param, sentences, retryAfterSeconds } = refusal;
  const error = {
    code,
    message,
    ...(param !== undefined && { param }),
    ...(sentences !== undefined && { sentences }),
    request_id: requestId,
  };
  const response = finish({ error }, requestId, isHttps);
  const headers = new Headers(response.headers);
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds));
  return new Response(response.body, { status, headers });
}
