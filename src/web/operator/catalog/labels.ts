// Names and explanations of the catalog's keys.

import type { CatalogEntryKind } from '../../../dashboard/records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { labelOf } from '../../ui/labels.ts';
import { RATE_NAMES } from '../../ui/rate-names.ts';

type FieldText = { readonly label: string; readonly hint?: string };

const SECONDS = t('In seconds.');
const VARIABLE = t('The name of a variable, such as {example}.', { example: `\${AWS_KEY}` });
const KEY = t(
  'Keys are set in the environment or the .env file of the server, and the catalog names the variable, such as {example}. A key that is written in the file itself stays there and is never shown.',
  { example: `\${EAST_KEY}` },
);

const FIELDS: Readonly<Record<string, FieldText>> = {
  slug: {
    label: t('Slug'),
    hint: t('What requests and other entries name it by: a-z, 0-9, ".", "_" and "-".'),
  },
  id: { label: t('ID'), hint: t('What models name it by: a-z, 0-9, ".", "_" and "-".') },
  name: { label: t('Name'), hint: t('Shown to customers.') },
  aliases: { label: t('Aliases'), hint: t('Other names for requests, separated by commas.') },
  display_name: { label: t('Display name') },
  description: { label: t('Description'), hint: t('Shown to customers in the list of models.') },
  created: { label: t('Created'), hint: t('A date such as 2026-01-31.') },
  context_window: { label: t('Context window'), hint: t('Tokens of prompt and output together.') },
  max_output: { label: t('Maximum output'), hint: t('Tokens of one answer.') },
  features: { label: t('Features') },
  image_factor: {
    label: t('Image factor'),
    hint: t('Multiplies the estimated tokens of images.'),
  },
  tokens_per_second: {
    label: t('Output rate'),
    hint: t('Tokens per second, for estimates of what an interrupted answer made unseen.'),
  },
  price: {
    label: t('Price'),
    hint: t(
      'Applies at once. Requests in progress keep their price. For a price from a later time, use the Prices page.',
    ),
  },
  prices: { label: t('Later prices') },
  valid_from: { label: t('Valid from (UTC)') },
  windows: { label: t('Rates by time of day') },
  from: { label: t('From (UTC)') },
  to: { label: t('To (UTC)') },
  days: { label: t('Days') },
  cost: {
    label: t('Your cost'),
    hint: t('Your cost. Without it, margins leave this upstream out.'),
  },
  ...Object.fromEntries(RATE_NAMES.map((name) => [name, { label: labelOf(name) }])),
  tiers: { label: t('Tiers by prompt length') },
  above_tokens: { label: t('Prompts above (tokens)') },
  service_tiers: { label: t('Service tiers') },
  served_by: { label: t('Upstreams') },
  upstream: { label: t('Upstream') },
  model: { label: t('Model at the upstream') },
  weight: { label: t('Weight'), hint: t('Share of the requests, relative to the others.') },
  fallbacks: {
    label: t('Fallbacks'),
    hint: t(
      'Models tried in this order when every upstream of this one has failed, separated by commas.',
    ),
  },
  incident_limits: {
    label: t('Lower limits'),
    hint: t('Each account gets the lower of these and the limits of its plan.'),
  },
  requests_per_minute: { label: t('Requests per minute') },
  tokens_per_minute: { label: t('Tokens per minute') },
  concurrent_requests: { label: t('Concurrent requests') },
  dialect: { label: t('Dialect'), hint: t('The wire format of the upstream.') },
  base_url: {
    label: t('Base URL'),
    hint: t('With /v1 for chat, without it for messages.'),
  },
  profile: { label: t('Profile'), hint: t('The differences of this server from its dialect.') },
  api_key: { label: t('Key'), hint: KEY },
  api_keys: { label: t('Keys'), hint: t('Several keys, separated by commas, in place of one.') },
  aws: { label: t('AWS keys') },
  region: { label: t('AWS region') },
  access_key_id: { label: t('AWS access key ID'), hint: VARIABLE },
  secret_access_key: { label: t('AWS secret access key'), hint: VARIABLE },
  session_token: { label: t('AWS session token'), hint: VARIABLE },
  cancel_stops_billing: {
    label: t('Cancelling stops billing'),
    hint: t('If not, answers are read to their end after a client disconnects.'),
  },
  connect_seconds: { label: t('Connect'), hint: SECONDS },
  first_byte_seconds: { label: t('First byte'), hint: SECONDS },
  first_content_seconds: { label: t('First content'), hint: SECONDS },
  idle_seconds: { label: t('Idle timeout'), hint: SECONDS },
  min_tokens_per_second: { label: t('Minimum rate'), hint: t('In tokens per second.') },
  total_seconds: { label: t('Total timeout'), hint: SECONDS },
  max_in_flight: { label: t('Active requests') },
  queue_length: { label: t('Queued requests') },
  queue_seconds: { label: t('Longest wait in the queue'), hint: SECONDS },
  cool_down_seconds: { label: t('Cooldown after failures'), hint: t('In seconds; 0 for none.') },
  transport: { label: t('HTTP client') },
  proxy: { label: t('Proxy'), hint: t('An address such as http://proxy.example:3128.') },
  allow_link_local: {
    label: t('Allow link-local addresses'),
    hint: t('Cloud metadata services use these addresses and can expose credentials.'),
  },
  max_context: { label: t('Max prompt tokens'), hint: t('In tokens.') },
  max_api_keys: { label: t('API keys') },
  daily_tokens: { label: t('Tokens per day'), hint: t('Empty for no cap. Days are UTC days.') },
  monthly_tokens: { label: t('Tokens per month'), hint: t('Leave empty for no limit.') },
  models: { label: t('Models'), hint: t('Separated by commas; * for all models.') },
  google: { label: t('Google account') },
  credentials_file: { label: t('Credentials file') },
};

/** A key without a text shows its own name. */
export function fieldText(name: string): FieldText {
  return FIELDS[name] ?? { label: name };
}

/** The words of choices that are not self-explanatory. */
const CHOICES: Readonly<Record<string, string>> = {
  chat: t('chat: OpenAI chat completions'),
  messages: t('messages: Anthropic messages'),
  demo: t('demo: built in, without a model'),
  sockets: t("sockets: Tollgate's own"),
  fetch: t("fetch: the runtime's"),
  text: t('Text'),
  tools: t('Tools'),
  json: t('JSON mode'),
  vision: t('Images'),
  reasoning: t('Reasoning'),
};

export const choiceText = (value: string): string => CHOICES[value] ?? value;

type KindText = {
  readonly one: string;
  readonly created: string;
  readonly changed: (id: string) => string;
  readonly copied: (id: string) => string;
  readonly list: { readonly href: string; readonly label: string };
};

export const KINDS: Readonly<Record<CatalogEntryKind, KindText>> = {
  model: {
    one: t('Model'),
    created: t('New model'),
    changed: (id) => t('Edit model {id}', { id }),
    copied: (id) => t('New model like {id}', { id }),
    list: { href: '/models', label: t('Models') },
  },
  upstream: {
    one: t('Upstream'),
    created: t('New upstream'),
    changed: (id) => t('Edit upstream {id}', { id }),
    copied: (id) => t('New upstream like {id}', { id }),
    list: { href: '/upstreams', label: t('Upstreams') },
  },
  plan: {
    one: t('Plan'),
    created: t('New plan'),
    changed: (id) => t('Edit plan {id}', { id }),
    copied: (id) => t('New plan like {id}', { id }),
    list: { href: '/plans', label: t('Plans') },
  },
};
