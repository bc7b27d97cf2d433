// Upstreams cache prompt prefixes by bytes: a prefix is always written the same.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BUILT_IN_PROFILES } from '../../../../src/core/built-in-profiles.ts';
import type { Turn } from '../../../../src/core/generation.ts';
import { type ChatProfile, DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import { assembleTurns } from '../../../../src/wire/turns.ts';
import { assistant, called, messagesFor, result, user } from './request-support.ts';

const conversation: fc.Arbitrary<Turn[]> = fc.array(
  fc.oneof(
    fc.constant<Turn>({ role: 'system', text: 'S' }),
    fc.constantFrom('Q', 'R', '').map((text) => user(text)),
    fc.constantFrom('A', '').map((text) => assistant(text)),
    fc.constant<Turn>(called),
    fc.constantFrom('1', '').map((text) => result(text)),
  ),
  { maxLength: 8 },
);

/** Every rule about turns at once. */
const MANY_RULES: ChatProfile = {
  ...DEFAULT_PROFILE.chat,
  systemInMiddle: 'keep',
  lostReasoning: 'empty',
  contentParts: 'always',
  turnOrder: 'alternate',
  userAfterTool: 'bridge',
  prefill: 'prefix',
};

test('for every profile the messages only grow at their end, turn by turn', () => {
  const builtIn = [...BUILT_IN_PROFILES.values()].filter((profile) => profile.dialect === 'chat');
  const profiles = [...builtIn, MANY_RULES];
  fc.assert(
    fc.property(
      fc.constantFrom(...profiles),
      conversation,
      conversation,
      (profile, before, after) => {
        const asked = assembleTurns([...before, user('last')]).turns;
        const later = assembleTurns([...before, user('last'), assistant('A'), ...after]).turns;
        const first = messagesFor(profile, asked);
        const second = messagesFor(profile, later);
        expect(JSON.stringify(second)).toStartWith(JSON.stringify(first).slice(0, -1));
      },
    ),
  );
});
