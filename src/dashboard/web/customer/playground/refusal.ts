// Rewrites API errors for people: the API's own text names headers and retry rules for programs.

import { t } from '../../text/t.ts';
import { formatSpan } from '../../ui/format.ts';

/** Replaces the retry advice in `message` by one for people. All other text stays unchanged. */
export function refusalInWords(message: string, retryAfterSeconds: number | undefined): string {
  const when =
    retryAfterSeconds === undefined ? t('a moment') : formatSpan(retryAfterSeconds * 1_000);
  return message.replace(
    /Retry (?:after the time in retry-after|with back-off)(?=[.,])/,
    t('Try again in {when}', { when }),
  );
}
