// MiniMax's chat completions, M3 and M3.1 Flash.
//
// Every failure is HTTP 200 with `base_resp`. Refuses `disabled` at M3.1, code 2013. With
// `reasoning_split` thinking comes as reasoning_details and reasoning_content, without it as think tags in
// the text, and it must return in the form in which it came. max_completion_tokens and max_tokens are
// taken; tool_choice is undocumented, so a forced tool is only a wish here.
// From: platform.minimax.io; aihubmix, 19 October 2026.

import { chatVendor, usual } from './chat.ts';
import { type ChatBody, type ChatTurn, textIn } from './chat-body.ts';
import { pieces } from './script.ts';
import { Refusal } from './server.ts';
import { inTags, type ThinkingForm } from './thinking-forms.ts';

function refuse(code: number, message: string): Refusal {
  return new Refusal(200, { base_resp: { status_code: code, status_msg: message } });
}

const FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => refuse(1004, 'login fail: please carry the API secret key'),
  402: () => refuse(1008, 'insufficient balance'),
  429: () => refuse(1002, 'rate limit exceeded'),
  500: () => refuse(1000, 'unknown error'),
  long: () => refuse(1039, 'token limit exceeded'),
  filter: () => refuse(1026, 'input new_sensitive'),
};

const detail = (text: string) => ({
  type: 'reasoning.text',
  id: 'reasoning-text-1',
  format: 'MiniMax-response-v1',
  index: 0,
  text,
});

const SPLIT: ThinkingForm = {
  whole: (thought) => ({ reasoning_content: thought, reasoning_details: [detail(thought)] }),
  deltas: (thought) =>
    pieces(thought).map((text) => ({ reasoning_content: text, reasoning_details: [detail(text)] })),
  returned: ({ reasoning_content: text, reasoning_details: details = [] }: ChatTurn) => {
    const joined = details.map((each) => each.text ?? '').join('');
    return [joined === '' ? (text ?? '') : joined].filter((each) => each !== '');
  },
};

const TAGS: ThinkingForm = {
  ...inTags('reasoning_content'),
  returned: (turn) => {
    const thought = /^<think>\n(.*?)\n<\/think>/s.exec(textIn(turn.content))?.[1];
    return thought === undefined ? [] : [thought];
  },
};

const isNewest = ({ model }: ChatBody): boolean => model.includes('M3.1');

/** The vendor. */
export const minimax = chatVendor({
  unknownPath: () => new Refusal(404, '404 page not found'),
  faults: FAULTS,
  check: (body) => {
    if (isNewest(body) && body.thinking?.type === 'disabled') {
      throw refuse(2013, 'invalid params, this model requires adaptive thinking');
    }
  },
  thinks: (body) => isNewest(body) || body.thinking?.type !== 'disabled',
  forced: () => undefined,
  ignoresChoice: true,
  thinking: (body) => (body['reasoning_split'] === true ? SPLIT : TAGS),
  usage: usual,
  usageUnasked: true,
});
