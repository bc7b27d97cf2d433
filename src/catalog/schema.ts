// The schema of a catalog file: every key with type, range and error text. Rules across several
// values are in rules.ts.

import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value, ValueErrorType } from '@sinclair/typebox/value';
import { nearest } from '../core/nearest.ts';
import { type Sentence, say } from '../core/sentence.ts';
import { CostSchema, PeriodSchema, PriceSchema } from './price-schema.ts';
import { ProfileTablesSchema } from './profile-schema.ts';
import { ServiceSchema } from './service-schema.ts';
import {
  A_TABLE,
  closed,
  flag,
  integer,
  label,
  line,
  listOf,
  number,
  oneOf,
  prose,
  seconds as secondsWithin,
  text,
  visible,
  word,
} from './shapes.ts';

/** One problem: its path, such as `model[2].price.output`, and a description. */
export type Problem = { readonly path: string; readonly text: Sentence };

/** Slugs and ids are used in headers and URLs, so their length and alphabet are small. */
const SLUG_EXPECTS = say('1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit');
const SLUG_SHAPE = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const slug = () => text(SLUG_EXPECTS, { maxLength: 64, pattern: SLUG_SHAPE.source });
const slugs = () =>
  listOf(text(say('a slug')), say('a list of different slugs'), { uniqueItems: true });
const seconds = () => Type.Optional(secondsWithin(0.01, 86_400));

const LimitFields = {
  requests_per_minute: Type.Optional(integer(1, 1_000_000_000)),
  tokens_per_minute: Type.Optional(integer(1, 1_000_000_000_000)),
  concurrent_requests: Type.Optional(integer(1, 1_000_000)),
};

/** Settings of an upstream that each of its models may override. */
const TimeoutFields = {
  first_byte_seconds: seconds(),
  first_content_seconds: seconds(),
  idle_seconds: seconds(),
  min_tokens_per_second: Type.Optional(number(0, 1_000)),
  total_seconds: seconds(),
};

const apiKey = () => visible(say('visible ASCII characters'), 4_096);

const AwsSchema = closed(
  {
    region: text(say('a region such as {example}', { example: '"us-east-1"' }), {
      maxLength: 64,
      pattern: '^[a-z0-9-]+$',
    }),
    access_key_id: word(4_096),
    secret_access_key: word(4_096),
    session_token: Type.Optional(apiKey()),
  },
  say('a table with region, access_key_id and secret_access_key'),
);

const GoogleSchema = closed(
  { credentials_file: Type.Optional(label(4_096)) },
  say('a table such as {example}, or {empty} for the default credentials', {
    example: '{ credentials_file = "account.json" }',
    empty: '{}',
  }),
);

export const UpstreamSchema = closed({
  id: slug(),
  dialect: Type.Optional(oneOf('chat', 'messages', 'responses', 'demo')),
  base_url: Type.Optional(line(say('an http or https address'), 2_048)),
  profile: Type.Optional(text(say('the name of a profile'))),
  cancel_stops_billing: Type.Optional(flag()),
  api_key: Type.Optional(apiKey()),
  api_keys: Type.Optional(
    listOf(apiKey(), say('a list of 1 to 64 different keys'), {
      minItems: 1,
      maxItems: 64,
      uniqueItems: true,
    }),
  ),
  aws: Type.Optional(AwsSchema),
  google: Type.Optional(GoogleSchema),
  connect_seconds: seconds(),
  ...TimeoutFields,
  max_in_flight: Type.Optional(integer(1, 1_000_000)),
  queue_length: Type.Optional(integer(0, 100_000)),
  queue_seconds: seconds(),
  cool_down_seconds: Type.Optional(secondsWithin(0, 60, say('; 0: never'))),
  transport: Type.Optional(oneOf('sockets', 'fetch')),
  proxy: Type.Optional(line(say('an http address'), 2_048)),
  allow_link_local: Type.Optional(flag()),
});

export const PROFILE_EXPECTS = say('the name of a profile, or a table of its fields');

const PlacementSchema = closed({
  upstream: text(say('the id of an upstream')),
  model: label(256),
  weight: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      expects: say('a number above 0, at most 1,000,000'),
    }),
  ),
  /** A name, or a table of changes: rules.ts checks it. */
  profile: Type.Optional(
    Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
      expects: PROFILE_EXPECTS,
    }),
  ),
  ...TimeoutFields,
  cost: Type.Optional(CostSchema),
});

const FeatureSchema = oneOf('tools', 'json', 'vision', 'reasoning');

export const ModelSchema = closed({
  slug: slug(),
  aliases: Type.Optional(listOf(word(128), say('a list of aliases'))),
  display_name: Type.Optional(label(128)),
  description: Type.Optional(prose(4_096)),
  created: Type.Optional(
    text(say('a date such as {example}', { example: '"2026-01-31"' }), {
      maxLength: 10,
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    }),
  ),
  context_window: integer(1, 100_000_000),
  max_output: integer(1, 100_000_000),
  features: Type.Optional(
    listOf(FeatureSchema, say('a list of different features'), { uniqueItems: true }),
  ),
  image_factor: Type.Optional(number(0.01, 1_000)),
  tokens_per_second: Type.Optional(integer(1, 100_000)),
  price: PriceSchema,
  prices: Type.Optional(
    listOf(PeriodSchema, say('a list of later prices, each written as [[model.prices]]')),
  ),
  served_by: listOf(
    PlacementSchema,
    say('a list of at least one {example}', { example: '{ upstream = "…", model = "…" }' }),
    { minItems: 1 },
  ),
  fallbacks: Type.Optional(slugs()),
  incident_limits: Type.Optional(closed(LimitFields)),
});

export const PlanSchema = closed({
  ...LimitFields,
  name: Type.Optional(label(128)),
  max_context: Type.Optional(integer(1, 100_000_000)),
  max_api_keys: Type.Optional(integer(1, 1_000_000)),
  daily_tokens: Type.Optional(integer(1, 1_000_000_000_000_000)),
  monthly_tokens: Type.Optional(integer(1, 1_000_000_000_000_000)),
  models: Type.Optional(slugs()),
});

const entries = <T extends TSchema>(kind: string, entry: T) =>
  listOf(entry, say('a list of at least one {kind}, each written as [[{kind}]]', { kind }), {
    minItems: 1,
  });

export const DocumentSchema = closed({
  service: Type.Optional(ServiceSchema),
  upstream: entries('upstream', UpstreamSchema),
  model: entries('model', ModelSchema),
  plan: Type.Optional(Type.Record(Type.String(), PlanSchema, { expects: A_TABLE })),
  profile: Type.Optional(ProfileTablesSchema),
});

export type CatalogDocument = Static<typeof DocumentSchema>;
export type ModelEntry = Static<typeof ModelSchema>;
export type UpstreamEntry = Static<typeof UpstreamSchema>;
export type PlacementEntry = Static<typeof PlacementSchema>;
export type PlanEntry = Static<typeof PlanSchema>;

/** All places where a value at `path` does not match its schema; one problem per place. */
export function shapeProblems(value: unknown, schema: TSchema, path: string): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of Value.Errors(schema, value)) {
    const key = error.path.slice(error.path.lastIndexOf('/') + 1);
    const place = error.path === '' ? path : placeOf(error.path, path);
    if (problems.has(place)) continue;
    problems.set(place, { path: place, text: words(error.type, error.schema, key) });
  }
  return [...problems.values()];
}

function words(type: ValueErrorType, schema: TSchema, key: string): Sentence {
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    const hint = didYouMean(key, Object.keys(schema['properties']));
    return say('is not a known key{hint}', { hint });
  }
  const expects: Sentence = schema['expects'];
  return type === ValueErrorType.ObjectRequiredProperty ? missing(expects) : mustBe(expects);
}

export function mustBe(expects: Sentence): Sentence {
  return say('must be {expects}', { expects });
}

export function missing(expects: Sentence): Sentence {
  return say('is missing; must be {expects}', { expects });
}

/** Tables whose keys are operator-chosen names, so a numeric key is not an index. */
const NAMING_TABLES: ReadonlySet<string> = new Set(['plan', 'profile']);

/**
 * Formats `/model/2/price/output` below `start` as `model[2].price.output`. Quotes keys if needed.
 */
function placeOf(pointer: string, start: string): string {
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts.reduce((path, part) => {
    if (path === '') return tomlKey(part);
    if (/^\d+$/.test(part) && !NAMING_TABLES.has(path)) return `${path}[${part}]`;
    return `${path}.${tomlKey(part)}`;
  }, start);
}

/** The suffix for "is not known" if a known name is similar. */
export function didYouMean(name: string, known: readonly string[]): Sentence | '' {
  const meant = nearest(name, known);
  return meant === undefined ? '' : say('; did you mean {name}?', { name: meant });
}

/** The problems of an operator-chosen table name. */
export function nameProblems(name: string, path: string): Problem[] {
  if (SLUG_SHAPE.test(name)) return [];
  return [{ path, text: say('must have a name that is {expects}', { expects: SLUG_EXPECTS }) }];
}

export function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
