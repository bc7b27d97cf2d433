// Mutants of the rules of single models: which profile one gets, and what is sent back to it.

import type { Mutant } from '../mutant.ts';

export const PROFILE_MUTANTS: readonly Mutant[] = [
  {
    id: 'T-130a',
    does: 'the generation of a model wins over the profile that the operator names for it',
    edits: [
      {
        in: 'chooseProfile',
        find: 'named === undefined ? (generationOf',
        put: 'name !== undefined ? (generationOf',
      },
    ],
    tests: ['test/catalog/profile-choice.test.ts'],
  },
  {
    id: 'T-130b',
    does: "an upstream's changes to a profile are lost in the generations of its models",
    edits: [
      {
        in: 'generationOf',
        find: 'profile: { ...profile, ...changes } as UpstreamProfile',
        put: 'profile',
      },
    ],
    tests: ['test/catalog/profile-choice.test.ts'],
  },
  {
    id: 'T-131a',
    does: 'thinking goes back to a model that has not made it',
    edits: [
      {
        in: 'ownThinking',
        find: 'signed.model === undefined || signed.model === call.model ? signed.blocks : []',
        put: 'signed.blocks',
      },
    ],
    tests: ['test/wire/upstream/turn-pieces.test.ts'],
  },
  {
    id: 'T-131b',
    does: 'a turn loses the text behind its last mark',
    edits: [
      {
        in: 'piecesOf',
        find: "if (at < text.length) pieces.push({ kind: 'text', text: text.slice(at) });",
        put: '',
      },
    ],
    tests: ['test/wire/upstream/turn-pieces.test.ts'],
  },
  {
    id: 'T-132a',
    does: 'refused thinking is dropped again and again',
    edits: [{ in: '#dropThinking', find: 'this.#signed = undefined;', put: '' }],
    tests: ['test/upstream/refused-thinking.test.ts'],
  },
  {
    id: 'T-132b',
    does: 'thinking that was refused once is sent again on every later turn',
    edits: [{ in: 'restoreFrom', find: 'isRefused ||= signed?.restarts === true;', put: '' }],
    tests: ['test/generate/thinking.test.ts'],
  },
];
