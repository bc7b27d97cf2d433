// The side of `askThread` in the thread: does one piece of work and posts what it returns.

import { messageOf } from '../core/message-of.ts';

/** Lines for the log, then one of the others. */
export type ThreadReply<Answer> =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly cause: string };

declare const self: Worker;

export function serveThread<Asked, Answer>(
  work: (request: Asked, log: (text: string) => void) => Promise<Answer>,
): void {
  const post = (reply: ThreadReply<Answer>): void => self.postMessage(reply);
  self.onmessage = async ({ data }: MessageEvent<Asked>) => {
    try {
      post({ kind: 'answer', answer: await work(data, (text) => post({ kind: 'line', text })) });
    } catch (error) {
      post({ kind: 'failed', cause: messageOf(error) });
    }
  };
}
