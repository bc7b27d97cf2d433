// A violation of HTTP in a response.

/** Our own description, phrased to follow "the answer: "; never the offending bytes. */
export type HttpFault = { readonly fault: string };

export function isFault(value: object): value is HttpFault {
  return 'fault' in value;
}
