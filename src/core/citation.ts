// A web page that an answer cites.

/** The text that it backs stands from `start` to `end` in the answer's text, in UTF-16 units. */
export type Citation = {
  readonly start: number;
  readonly end: number;
  readonly url: string;
  readonly title: string;
};
