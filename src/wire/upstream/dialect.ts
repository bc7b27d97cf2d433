// Creates the codec for an upstream, once per attempt. It is the only module that knows all
// dialects.

import type { Upstream } from '../../core/model.ts';
import { DEFAULT_PROFILE } from '../../core/profile.ts';
import type { UpstreamDialect } from '../format.ts';
import { chatDialect } from './chat/dialect.ts';
import { messagesDialect } from './messages/dialect.ts';
import { CHAT_NAMES, MESSAGES_NAMES, withToolNames } from './tool-names.ts';

export function dialectOf(upstream: Upstream): UpstreamDialect {
  switch (upstream.dialect) {
    case 'chat':
      return withToolNames(chatDialect(upstream.profile), CHAT_NAMES);
    case 'messages':
      return withToolNames(messagesDialect(upstream.profile), MESSAGES_NAMES);
    case 'demo':
      return chatDialect(DEFAULT_PROFILE.chat);
  }
}
