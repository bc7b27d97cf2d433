// Upstreams for tests that need one by type and send it nothing.

import type { Placement, Upstream, UpstreamTimeouts } from '../../src/core/model.ts';
import { DEFAULT_PROFILE, DEMO_PROFILE } from '../../src/core/profile.ts';
import { say } from '../../src/core/sentence.ts';

/** A second for everything, and no least speed. */
export const TIMEOUTS: UpstreamTimeouts = {
  connectMs: 1_000,
  firstByteMs: 1_000,
  firstContentMs: 1_000,
  idleMs: 1_000,
  minTokensPerSecond: 0,
  totalMs: 1_000,
};

const BASE = {
  timeouts: TIMEOUTS,
  credentials: [{ id: '1', apiKey: '' }],
  concurrency: { maxInFlight: 1_000, queueLength: 0, queueMs: 0 },
  coolDownMs: 1_000,
} as const;

/** What a placement at a chat upstream has where the catalog says nothing else. */
export const CHAT_PLACEMENT = {
  profile: DEFAULT_PROFILE.chat,
  profileChoice: { name: 'chat', reason: say('the default of the dialect') },
} as const satisfies Partial<Placement>;

export const DEMO_PLACEMENT = {
  profile: DEMO_PROFILE,
  profileChoice: { name: 'demo', reason: say('the built-in demo models') },
} as const satisfies Partial<Placement>;

export function demoUpstream(id: string): Extract<Upstream, { readonly dialect: 'demo' }> {
  return { ...BASE, id, dialect: 'demo' };
}

/** A chat upstream at a port without a listener. */
export function chatUpstream(id: string): Extract<Upstream, { readonly dialect: 'chat' }> {
  return {
    ...BASE,
    id,
    dialect: 'chat',
    baseUrl: 'http://127.0.0.1:9/v1',
    profileName: 'chat',
    profile: DEFAULT_PROFILE.chat,
    cancelStopsBilling: undefined,
    transport: 'sockets',
    auth: { kind: 'key' },
    allowLinkLocal: false,
  };
}
