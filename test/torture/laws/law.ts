// What a law is: a question to the books of a round, answered with what breaks it.

import type { Books, Story } from '../books.ts';

export type Violation = {
  /** Which law, in a few words; the same ones every time. */
  readonly law: string;
  /** A mark, an account or a command. */
  readonly subject: string;
  readonly detail: string;
};

export type Law = (books: Books, stories: readonly Story[]) => readonly Violation[];

/** A law about each request by itself: `check` answers what is wrong with it, if anything is. */
export function eachRequest(
  law: string,
  check: (story: Story, books: Books) => string | undefined,
): Law {
  return (books, stories) =>
    stories.flatMap((story) => {
      const detail = check(story, books);
      return detail === undefined ? [] : [{ law, subject: story.mark, detail }];
    });
}

/** A law about each account by itself. */
export function eachAccount(
  law: string,
  check: (account: Books['accounts'][number], books: Books) => string | undefined,
): Law {
  return (books) =>
    books.accounts.flatMap((account) => {
      const detail = check(account, books);
      return detail === undefined ? [] : [{ law, subject: account.name, detail }];
    });
}
