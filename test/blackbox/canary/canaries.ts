// The canaries: one random string for each confidential value of a client or the operator, and the
// few places where it may appear. Any other appearance is a leak.

/**
 * upstream     what upstreams were asked, heads and bodies
 * own answer   what the customer who sent the request has got, in `own Responses answer` in that format
 * stranger     what another customer, or an anonymous caller, got from any endpoint
 * operator     /metrics and /readyz, with the operator's token
 * output       all that the server has printed, at LOG_LEVEL=debug
 * command      all that commands beside it have printed
 * webhook      what was sent to the operator's webhook
 * database     the rows of every table
 * files        the bytes of the database with its log, and of a backup
 */
export type Place =
  | 'upstream'
  | 'own answer'
  | 'own Responses answer'
  | 'stranger'
  | 'operator'
  | 'output'
  | 'command'
  | 'webhook'
  | 'database'
  | 'files';

type Row = {
  /** Where it must be found, so that the search is known to find something, and nowhere else. */
  readonly found?: readonly Place[];
  /** Where it may be, besides. */
  readonly allowed?: readonly Place[];
};

const STORED = ['database', 'files'] as const;
const NOWHERE: Row = {};
/** What the model is to read. */
const SENT_ON: Row = { found: ['upstream'] };
/** The same, where a Responses answer repeats it. */
const REPEATED: Row = { found: ['upstream', 'own Responses answer'] };
const OWN = ['own answer', 'own Responses answer'] as const;

export const CANARIES = {
  // What a customer sends.
  prompt: SENT_ON,
  system: REPEATED,
  image: SENT_ON,
  imageUrl: SENT_ON,
  toolName: REPEATED,
  toolText: REPEATED,
  toolSchema: REPEATED,
  toolArguments: SENT_ON,
  toolResult: SENT_ON,
  earlierReasoning: SENT_ON,
  stopSequence: SENT_ON,
  unknownField: NOWHERE,
  unknownName: NOWHERE,
  header: NOWHERE,
  userAgent: NOWHERE,
  cookie: NOWHERE,
  query: NOWHERE,
  wrongValue: NOWHERE,
  brokenBody: NOWHERE,
  unknownModel: NOWHERE,
  /** The error for an unknown path names it. */
  path: { found: ['own answer'] },
  /** Recorded on usage records only. */
  endUser: { found: ['database', 'files', 'command'] },

  // What an upstream says.
  upstreamWords: { found: ['output', ...STORED], allowed: ['command', 'webhook'] },
  modelText: { found: OWN },
  modelReasoning: { found: OWN },
  modelToolId: { allowed: OWN },
  modelToolName: { found: OWN },
  modelToolArguments: { found: OWN },

  // What an operator sets.
  upstreamKeyOne: SENT_ON,
  upstreamKeyTwo: SENT_ON,
  awsKeyId: SENT_ON,
  awsSecret: NOWHERE,
  awsToken: SENT_ON,
  upstreamId: { found: ['operator', 'output', 'command', 'webhook', ...STORED] },
  upstreamModel: { found: ['upstream', 'command', ...STORED] },
  upstreamPath: { found: ['upstream'], allowed: ['command'] },
  sessionSecret: NOWHERE,
  metricsToken: NOWHERE,
  webhookPath: NOWHERE,
  webhookSecret: NOWHERE,
  email: { found: ['command', ...STORED] },
} as const satisfies Readonly<Record<string, Row>>;

export type CanaryName = keyof typeof CANARIES;
export type Canaries = Readonly<Record<CanaryName, string>>;

/** Fixed words of the scripted upstream that are as telling as a canary, and keys of accounts. */
export type Words = Readonly<Record<string, string>>;

/** New ones at each run: letters and digits in small type, so that nothing writes them otherwise. */
export function drawCanaries(): Canaries {
  const draw = (): string => `cnry${crypto.randomUUID().replaceAll('-', '')}`;
  return Object.fromEntries(Object.keys(CANARIES).map((name) => [name, draw()])) as Canaries;
}

export type Seen = { readonly place: Place; readonly where: string; readonly text: string };

/** Every leak, with what stands around it; `others` may be nowhere at all. */
export function findLeaks(canaries: Canaries, others: Words, seen: readonly Seen[]): string[] {
  const rows: Readonly<Record<string, Row>> = CANARIES;
  return Object.entries({ ...others, ...canaries }).flatMap(([name, value]) => {
    const { found = [], allowed = [] } = rows[name] ?? NOWHERE;
    const open: readonly Place[] = [...found, ...allowed];
    return seen.flatMap(({ place, where, text }) => {
      if (open.includes(place)) return [];
      const form = formsOf(value).find(([, written]) => text.includes(written));
      if (form === undefined) return [];
      const at = text.indexOf(form[1]);
      const around = text.slice(Math.max(0, at - 60), at + 60);
      return [`${name}, ${form[0]}, in ${place} (${where}): …${around}…`];
    });
  });
}

/** The canaries that are not where they must be: a search that finds nothing proves nothing. */
export function findMissing(canaries: Canaries, seen: readonly Seen[]): string[] {
  const rows: Readonly<Record<string, Row>> = CANARIES;
  return Object.entries(canaries).flatMap(([name, value]) =>
    (rows[name]?.found ?? [])
      .filter((place) => !seen.some((each) => each.place === place && each.text.includes(value)))
      .map((place) => `${name} in ${place}`),
  );
}

/** A value as it is, and as something may have encoded it, with any text in front of it. */
function formsOf(value: string): [how: string, written: string][] {
  const base64 = [0, 1, 2].map((shift): [string, string] => {
    const encoded = Buffer.from('x'.repeat(shift) + value).toString('base64');
    return ['as base64', encoded.slice(shift === 0 ? 0 : 4, -4)];
  });
  return [['as it is', value], ['as hex', Buffer.from(value).toString('hex')], ...base64];
}
