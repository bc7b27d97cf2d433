// Posts to a service of the operator, and says how it ended in our own words: the URL and the headers
// may contain a secret.

export type PostTarget = {
  readonly url: string;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
};

type Posted<Answer> =
  | { readonly kind: 'accepted'; readonly answer: Answer }
  /** `failed` is retried. */
  | {
      readonly kind: 'failed' | 'refused';
      readonly reason: string;
      readonly retryAfterMs?: number;
    };

/** `read` reads, or discards, the body of a 2xx response. Never rejects. */
export async function post<Answer>(
  { url, fetch }: PostTarget,
  init: RequestInit,
  isRetried: (status: number) => boolean,
  read: (response: Response) => Answer | Promise<Answer>,
): Promise<Posted<Answer>> {
  try {
    const response = await fetch(url, { method: 'POST', redirect: 'manual', ...init });
    const { status, ok, headers } = response;
    if (ok) return { kind: 'accepted', answer: await read(response) };
    discard(response);
    if (status >= 300 && status < 400) {
      return { kind: 'refused', reason: `it redirects (status ${status}), which is not followed` };
    }
    const retryAfterMs = Number(headers.get('retry-after')) * 1_000 || 0;
    const kind = isRetried(status) ? 'failed' : 'refused';
    return { kind, reason: `status ${status}`, retryAfterMs };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return { kind: 'failed', reason: isLate ? 'no answer in time' : 'no connection' };
  }
}

/** An unread body would keep its connection. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => {});
}
