// Creates the codec for an upstream, once per attempt. It is the only module that knows all
// dialects.

import type { UpstreamProfile } from '../../core/profile.ts';
import type { UpstreamDialect } from '../format.ts';
import { chatDialect } from './chat/dialect.ts';
import { messagesDialect } from './messages/dialect.ts';
import { responsesDialect } from './responses/dialect.ts';
import { CHAT_NAMES, MESSAGES_NAMES, withToolNames } from './tool-names.ts';

export function dialectOf(profile: UpstreamProfile): UpstreamDialect {
  switch (profile.dialect) {
    case 'chat':
      return withToolNames(chatDialect(profile), CHAT_NAMES);
    case 'messages':
      return withToolNames(messagesDialect(profile), MESSAGES_NAMES);
    case 'responses':
      return withToolNames(responsesDialect(profile), CHAT_NAMES);
  }
}
