// Creates the codec for an upstream, once per attempt. It is the only module that knows all
// dialects.

import type { Upstream } from '../../core/model.ts';
import { DEFAULT_PROFILE } from '../../core/profile.ts';
import type { UpstreamDialect } from '../format.ts';
import { chatDialect } from './chat/dialect.ts';
import { messagesDialect } from './messages/dialect.ts';

export function dialectOf(upstream: Upstream): UpstreamDialect {
  switch (upstream.dialect) {
    case 'chat':
      return chatDialect(upstream.profile);
    case 'messages':
      return messagesDialect(upstream.profile);
    case 'demo':
      return chatDialect(DEFAULT_PROFILE.chat);
  }
}
