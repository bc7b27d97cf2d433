// Faults of confidence: what upstreams, customers and logs get to know that is not theirs to know.

import type { Fault } from '../fault.ts';

const CANARY = ['test/blackbox/canary.test.ts'];

export const CONFIDENCES: readonly Fault[] = [
  {
    id: 'T-100a',
    plants: 'a redirect of an upstream is followed, with our credential',
    edits: [
      {
        file: 'src/upstream/fetch-client.ts',
        find: "redirect: 'manual',",
        put: "redirect: 'follow',",
      },
    ],
    tests: ['test/blackbox/failover/matrix.test.ts'],
    only: 'redirect-307',
  },
  {
    id: 'T-100b',
    plants: 'an upstream is told who the end user is',
    edits: [
      {
        file: 'src/wire/upstream/chat/request.ts',
        find: '[profile.maxTokensField]: call.maxOutputTokens,',
        put: '[profile.maxTokensField]: call.maxOutputTokens,\n    user: request.endUser,',
      },
    ],
    tests: ['test/blackbox/failover/hygiene.test.ts'],
  },
  {
    id: 'T-101a',
    plants: 'anybody may read the names of the upstreams',
    edits: [
      {
        file: 'src/http/probes.ts',
        find: 'upstreams: isOperator ? upstreamRecords(states) : upstreams,',
        put: 'upstreams: isOperator || upstreams > 0 ? upstreamRecords(states) : upstreams,',
      },
    ],
    tests: CANARY,
  },
  {
    id: 'T-101b',
    plants: 'thinking is kept as it is',
    edits: [
      {
        file: 'src/store/seal.ts',
        find: 'return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);',
        put: 'return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag(), Buffer.from(text)]);',
      },
    ],
    tests: CANARY,
  },
  {
    id: 'T-101c',
    plants: 'the log says where alerts are sent',
    edits: [
      {
        file: 'src/observe/webhook.ts',
        find: 'could not be sent to the webhook: ',
        put: `could not be sent to the webhook $${'{options.url}'}: `,
      },
    ],
    tests: CANARY,
  },
];
