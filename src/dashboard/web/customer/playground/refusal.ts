// A refusal of the gateway in words for somebody who looks at a page: the API's own tell a program which
// header to read and how to come back.

import { formatSpan } from '../../ui/format.ts';

/** `message` with what to do next as a person does it. Everything else stays as the gateway says it. */
export function refusalInWords(message: string, retryAfterSeconds: number | undefined): string {
  const when = retryAfterSeconds === undefined ? 'a moment' : formatSpan(retryAfterSeconds * 1_000);
  return message.replace(
    /Retry (?:after the time in retry-after|with back-off)(?=[.,])/,
    `Try again in ${when}`,
  );
}
