// Rewrites API errors for people: the API's own text names headers and retry rules for programs.

import { t } from '../../text/t.ts';
import { formatSpan } from '../../ui/format.ts';

/** `message` with retry advice for people, or a sentence without the units of the API. */
export function refusalInWords(
  { code, message }: { readonly code: string; readonly message: string },
  retryAfterSeconds: number | undefined,
): string {
  if (code === NO_BALANCE) return t('Your balance does not cover this request.');
  const when =
    retryAfterSeconds === undefined ? t('a moment') : formatSpan(retryAfterSeconds * 1_000);
  return message.replace(
    /Retry (?:after the time in retry-after|with back-off)(?=[.,])/,
    t('Try again in {when}', { when }),
  );
}

/** The code of a refusal that more balance ends. */
export const NO_BALANCE = 'insufficient_balance';
