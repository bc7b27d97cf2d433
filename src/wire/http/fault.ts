// What is wrong with the HTTP of an answer. Used by every part of this codec.

/** In our own words, to follow "the answer: "; never the bytes that are wrong. */
export type HttpFault = { readonly fault: string };

export function isFault(value: object): value is HttpFault {
  return 'fault' in value;
}
