// The upstream client with the parts of a real gateway, for tests that use it alone.

import { type ClosingUpstreamClient, createUpstreamClient } from '../../src/upstream/client.ts';
import { answerDemo } from '../../src/upstream/demo.ts';
import { systemLookup } from '../../src/upstream/resolver.ts';
import type { UpstreamClientDependencies } from '../../src/upstream/transport.ts';

export function createTestClient(
  changes: Partial<UpstreamClientDependencies> = {},
): ClosingUpstreamClient {
  return createUpstreamClient({
    fetch,
    answerDemo: (body) => answerDemo(body),
    lookup: systemLookup,
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'tollgate-test',
    proxiedSchemes: new Set(),
    descriptors: { lend: () => true, returned: () => undefined },
    ...changes,
  });
}
