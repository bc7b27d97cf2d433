// What an upstream said of a failure, for operators only. The attempt removes what the caller wrote
// and what authenticates us before any other code sees it (`wire/upstream/hide-words.ts`).

/** Absent members: the upstream sent none. The status is in the failure. */
export type UpstreamSaid = {
  /** The error's code, or its type if it has no code. */
  readonly code?: string;
  /** The parameter of the request that the error names. */
  readonly param?: string;
  readonly message?: string;
};

/** The length of a stored message; that of a code and a parameter is shorter. */
export const SAID_LENGTH_MAX = 300;

/** One line: status, code, parameter and message. Empty if there is none of them. */
export function saidWords({ code, param, message }: UpstreamSaid = {}, status?: number): string {
  const head = [
    status === undefined ? '' : String(status),
    code ?? '',
    param === undefined ? '' : `(${param})`,
  ].filter((word) => word !== '');
  const words = head.join(' ');
  if (message === undefined) return words;
  return words === '' ? message : `${words}: ${message}`;
}
