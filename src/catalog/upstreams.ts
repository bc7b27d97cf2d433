// Builds upstreams, with every default, and the overrides of model placements, from entries that
// satisfy all rules.

import { readUpstreamUrl } from '../core/base-url.ts';
import type {
  Placement,
  Upstream,
  UpstreamAuth,
  UpstreamCredential,
  UpstreamTimeouts,
} from '../core/model.ts';
import { DEMO_PROFILE } from '../core/profile.ts';
import { plainly } from '../core/sentence.ts';
import { toPrice } from './prices.ts';
import { chooseProfile, DEMO_CHOICE, type Profiles, profileNameOf } from './profile-choice.ts';
import type { PlacementEntry, UpstreamEntry } from './schema.ts';
import { CatalogError } from './source.ts';

/**
 * Values of the settings that an upstream's entry leaves out. Some servers queue a request for
 * minutes before its first token, and keep the connection alive.
 */
export const UPSTREAM_DEFAULTS = {
  connect_seconds: 10,
  first_byte_seconds: 60,
  first_content_seconds: 300,
  idle_seconds: 120,
  min_tokens_per_second: 0.2,
  total_seconds: 1_800,
  max_in_flight: 1_024,
  queue_length: 256,
  queue_seconds: 2,
  cool_down_seconds: 5,
  transport: 'sockets',
  allow_link_local: false,
} as const;

const DEMO = { profile: DEMO_PROFILE, choice: DEMO_CHOICE };

export function toUpstream(entry: UpstreamEntry, { all }: Profiles): Upstream {
  const { id, dialect } = entry;
  const set = { ...UPSTREAM_DEFAULTS, ...entry };
  const base = {
    id,
    timeouts: toTimeouts(entry),
    credentials: toCredentials(entry),
    concurrency: {
      maxInFlight: set.max_in_flight,
      queueLength: set.queue_length,
      queueMs: set.queue_seconds * 1_000,
    },
    coolDownMs: set.cool_down_seconds * 1_000,
  };
  if (dialect === 'demo') return { ...base, dialect };
  const profileName = profileNameOf(entry, (name) => all.get(name)?.dialect);
  const profile = all.get(profileName ?? '');
  if (profileName === undefined || profile === undefined) throw unknownProfile();
  const remote = {
    ...base,
    baseUrl: readUpstreamUrl(entry.base_url ?? '') ?? '',
    profileName,
    profile,
    cancelStopsBilling: set.cancel_stops_billing,
    transport: set.transport,
    auth: toAuth(entry),
    allowLinkLocal: set.allow_link_local,
    ...(entry.proxy === undefined ? {} : { proxyUrl: entry.proxy }),
  };
  return { ...remote, dialect: profile.dialect };
}

/** The rules guarantee that every name is known. */
function unknownProfile(): CatalogError {
  return new CatalogError([plainly('an upstream has an unknown profile')]);
}

/** The rules guarantee that `upstreams` has the placement's upstream. */
export function toPlacement(
  entry: PlacementEntry,
  upstreams: ReadonlyMap<string, UpstreamEntry>,
  profiles: Profiles,
): Placement {
  const { upstream, model, weight = 1, cost } = entry;
  const of = upstreams.get(upstream);
  const chosen =
    of === undefined || of.dialect === 'demo' ? DEMO : chooseProfile(of, entry, profiles);
  if (chosen === undefined) throw unknownProfile();
  return {
    upstream,
    model,
    weight,
    profile: chosen.profile,
    profileChoice: chosen.choice,
    timeouts: toTimeouts({ ...of, ...entry }),
    ...(cost === undefined ? {} : { cost: toPrice(`${upstream}/${model}`, cost) }),
  };
}

function toCredentials(entry: UpstreamEntry): Upstream['credentials'] {
  const [first = entry.api_key ?? '', ...others] = entry.api_keys ?? [];
  const credential = (apiKey: string, index: number): UpstreamCredential => ({
    id: String(index + 1),
    apiKey,
  });
  return [credential(first, 0), ...others.map((apiKey, index) => credential(apiKey, index + 1))];
}

function toAuth({ aws, google }: UpstreamEntry): UpstreamAuth {
  if (aws !== undefined) {
    const { region, access_key_id, secret_access_key, session_token = '' } = aws;
    return {
      kind: 'aws',
      region,
      accessKeyId: access_key_id,
      secretAccessKey: secret_access_key,
      ...(session_token !== '' && { sessionToken: session_token }),
    };
  }
  if (google === undefined) return { kind: 'key' };
  const { credentials_file: credentialsFile } = google;
  return { kind: 'google', ...(credentialsFile !== undefined && { credentialsFile }) };
}

function toTimeouts(entry: Partial<Omit<UpstreamEntry, 'profile'>>): UpstreamTimeouts {
  const set = { ...UPSTREAM_DEFAULTS, ...entry };
  return {
    connectMs: set.connect_seconds * 1_000,
    firstByteMs: set.first_byte_seconds * 1_000,
    firstContentMs: set.first_content_seconds * 1_000,
    idleMs: set.idle_seconds * 1_000,
    minTokensPerSecond: set.min_tokens_per_second,
    totalMs: set.total_seconds * 1_000,
  };
}
