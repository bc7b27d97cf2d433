// The type of a law: a function over the records of a round that returns the violations.

import type { Books, RoundAccount, Story } from '../books.ts';

export type Breach = {
  /** A mark, an account, a transfer or a command. */
  readonly subject: string;
  readonly detail: string;
};

export type Law = {
  readonly name: string;
  readonly breaches: (books: Books, stories: readonly Story[]) => readonly Breach[];
};

export type Violation = Breach & { readonly law: string };

/** A law about each request by itself: `check` answers what is wrong with it, if anything is. */
export function eachRequest(
  name: string,
  check: (story: Story, books: Books) => string | undefined,
): Law {
  return {
    name,
    breaches: (books, stories) =>
      stories.flatMap((story) => {
        const detail = check(story, books);
        return detail === undefined ? [] : [{ subject: story.mark, detail }];
      }),
  };
}

/** A law about each account by itself. */
export function eachAccount(
  name: string,
  check: (account: RoundAccount, books: Books) => string | undefined,
): Law {
  return {
    name,
    breaches: (books) =>
      books.accounts.flatMap((account) => {
        const detail = check(account, books);
        return detail === undefined ? [] : [{ subject: account.name, detail }];
      }),
  };
}
